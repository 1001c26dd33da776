#!/usr/bin/env bash
# Takes the source tree into another project with add_subdirectory, as FetchContent does, and looks at what that
# project would build: the two libraries under the names of the installed package, and nothing of its own that it did
# not ask for.
#
#   subproject_test.sh SOURCE_DIR BUILD_DIR
set -euo pipefail

source_dir=$1
build_dir=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

generator=$(sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' "$build_dir/CMakeCache.txt")
if [[ $generator != Ninja ]]; then
  echo "skipped: reads what Ninja says, and the generator is $generator"
  exit 77
fi
# Headers where this build found them, which need not be where a new one looks first.
includes=$(sed -n 's/^GEMMTUNE_[a-z_]*_h_DIR:PATH=//p; s/^GEMMTUNE_nv_target_DIR:PATH=//p' "$build_dir/CMakeCache.txt" | sort -u | paste -sd';')

mkdir "$work/app"
cat >"$work/app/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(app LANGUAGES C CXX)
set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
add_subdirectory("$source_dir" gemmtune EXCLUDE_FROM_ALL)
# The names of gemm-tune's tests are free, and what holds there does not hold here.
add_executable(unit_core app.c)
target_link_libraries(unit_core PRIVATE gemmtune::gemmtune)
add_executable(app_static app.c)
target_link_libraries(app_static PRIVATE gemmtune::gemmtune_static)
get_directory_property(options COMPILE_OPTIONS)
get_directory_property(tests TESTS)
get_directory_property(below DIRECTORY "$source_dir" TESTS)
if(NOT "\${options}\${tests}\${below}\${CMAKE_RUNTIME_OUTPUT_DIRECTORY}\${CMAKE_CXX_STANDARD}" STREQUAL "")
  message(FATAL_ERROR "leaked: \${options} \${tests} \${below} \${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
endif()
END
printf '#include <gemmtune/gemmtune.h>\nint main(void) { return gemmtune_abi_version() != GEMMTUNE_ABI_VERSION; }\n' >"$work/app/app.c"
cmake -G Ninja -S "$work/app" -B "$work/build" -DGEMMTUNE_CUDA_INCLUDE_DIRS="$includes" >"$work/log" 2>&1 ||
  { cat "$work/log" && fail "add_subdirectory"; }

# --- What is built -------------------------------------------------------------------------------

ninja -C "$work/build" -t commands all >"$work/commands"
for target in unit_core app_static libgemmtune.a; do
  grep -q "$target" "$work/commands" || fail "$target is not built"
done
grep -E 'tests/|benchmarks/|doctest|bin/gemm-tune|libgemmtune_cublas' "$work/commands" >"$work/log" &&
  { head -3 "$work/log" && fail "what was not asked for is built"; }
# What is linked into libgemmtune.a has to be machine code.
grep -E -- ' -c .*/src/(core|dispatch)/' "$work/commands" | grep -E -- '-flto' >"$work/log" &&
  { head -1 "$work/log" && fail "link-time optimization of the app is applied to libgemmtune.a"; }
grep -E ' -c .*/app\.c' "$work/commands" | grep -E 'Wsuggest|fno-gnu-unique|static-libstdc|fail_on_warnings' &&
  fail "the flags of gemm-tune are those of the app"
ninja -C "$work/build" -t targets all >"$work/targets"
grep -q "^gemmtune/bin/gemm-tune:" "$work/targets" || fail "gemm-tune would be written into the folders of the app"

# --- What is installed ---------------------------------------------------------------------------

grep -q 'libgemmtune' "$work/build/gemmtune/cmake_install.cmake" && fail "gemm-tune is installed with the app"
echo "subproject_test: passed"
