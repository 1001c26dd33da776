#!/usr/bin/env bash
# Installs a build into a folder of its own and uses it from outside, as another project would:
# find_package and pkg-config, the shared and the static library, C and C++.
#
#   installed_test.sh SOURCE_DIR BUILD_DIR
#
# What is built against lies in a folder whose name has a blank.
# Without a GPU the examples must say so; with one, their products must be right.
set -euo pipefail

source_dir=$1
build_dir=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

cmake --install "$build_dir" --prefix "$work/first" >/dev/null
mv "$work/first" "$prefix" # an installation can be moved
lib=$(dirname "$(find "$prefix" -name libgemmtune.so)")
copy="$work/a copy"
cp -r "$prefix" "$copy"
export LD_LIBRARY_PATH=$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# --- What is shown -------------------------------------------------------------------------------

shown=$(nm -D --defined-only "$lib/libgemmtune.so" | awk '$2 != "A" {print $3}')
others=$(grep -v '^gemmtune_' <<<"$shown") && fail "libgemmtune.so shows $others"
for name in gemmtune_gemm gemmtune_run; do
  grep -q "^$name@" <<<"$shown" || fail "libgemmtune.so lacks $name"
done
shown=$(nm --defined-only --extern-only "$lib/libgemmtune.a" | awk 'NF == 3 {print $3}')
others=$(grep -v '^gemmtune_' <<<"$shown") && fail "libgemmtune.a shows $others"
shown=$(nm -D --defined-only "$lib/libgemmtune_cublas.so" | awk '{print $3}')
others=$(grep -Ev '^((gemmtune_)?cublas|(dlsym|dlclose)$)' <<<"$shown") && fail "libgemmtune_cublas.so shows $others"
grep -qx cublasLtMatmul <<<"$shown" || fail "libgemmtune_cublas.so lacks cublasLtMatmul"
readelf -d "$lib/libgemmtune.so" | grep -q 'SONAME.*libgemmtune\.so\.[0-9]' || fail "no soname"
grep -rqF "$source_dir" "$prefix" --include='*.cmake' --include='*.pc' &&
  fail "an installed file names the source folder"

# --- find_package --------------------------------------------------------------------------------

cp -r "$source_dir/examples" "$work/examples"
warnings="-Wall -Wextra -Wpedantic -Werror"
# As the build itself was: the default generator's tool may be missing.
generator=$(sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' "$build_dir/CMakeCache.txt")
cmake -G "$generator" -S "$work/examples" -B "$work/build" -DCMAKE_PREFIX_PATH="$copy" \
  -DCMAKE_C_FLAGS="$warnings" -DCMAKE_CXX_FLAGS="$warnings" >"$work/log" ||
  { cat "$work/log" && fail "find_package"; }
cmake --build "$work/build" >"$work/log" 2>&1 || { cat "$work/log" && fail "building the examples"; }

sed 's/gemmtune 0.1 REQUIRED/gemmtune 99 REQUIRED/' "$source_dir/examples/CMakeLists.txt" \
  >"$work/examples/CMakeLists.txt"
cmake -G "$generator" -S "$work/examples" -B "$work/newer" -DCMAKE_PREFIX_PATH="$copy" >"$work/log" 2>&1 &&
  fail "find_package took version 0.1 for version 99"

# --- pkg-config ----------------------------------------------------------------------------------

# The file knows the prefix that was named to `cmake --install`, and a move since.
export PKG_CONFIG_PATH=$copy${lib#"$prefix"}/pkgconfig
flags=$(pkg-config --cflags --libs gemmtune)
eval "${CC:-cc} -std=c99 -D_GNU_SOURCE $warnings \"\$work/examples/gemm.c\" $flags -lm -ldl -o \"\$work/gemm_pkg_config\"" ||
  fail "pkg-config: $flags"
flags="$(pkg-config --cflags gemmtune) $(pkg-config --static --libs gemmtune | sed 's/-lgemmtune/-l:libgemmtune.a/')"
eval "${CXX:-c++} -std=c++20 $warnings \"\$work/examples/batched.cc\" $flags -o \"\$work/batched_pkg_config\"" ||
  fail "pkg-config --static: $flags"

# C++ that is too old is told so, and not in the words of a compiler.
echo '#include <gemmtune/gemmtune.hpp>' >"$work/old.cc"
${CXX:-c++} -std=c++17 -I "$copy/include" -fsyntax-only "$work/old.cc" >"$work/log" 2>&1 &&
  fail "gemmtune.hpp compiles as C++17"
grep -q 'error.*gemmtune.hpp needs C++20' "$work/log" || { head -3 "$work/log" && fail "gemmtune.hpp as C++17"; }

# --- Running -------------------------------------------------------------------------------------

# An installation has no NVRTC of its own, and does not look for one in the source folder.
bundled=$source_dir/.deps/cuda/lib
if [[ -z ${GEMM_TUNE_NVRTC:-} ]] && compgen -G "$bundled/libnvrtc.so*" >/dev/null; then
  export GEMM_TUNE_NVRTC=$bundled
fi
"$prefix/bin/gemm-tune" --shape 256x192x128 --arch sm_80 --candidates 2 --db "$work/tuned.db" \
  --no-cache -q >"$work/log" 2>&1 || { cat "$work/log" && fail "gemm-tune of the installation"; }
"$prefix/bin/gemm-tune" capture -o "$work/app.json" -- true >"$work/log" 2>&1 && fail "capture of nothing"
grep -q 'no product was seen' "$work/log" || { cat "$work/log" && fail "capture finds no library"; }
expect_run() {
  local status=0
  "$@" >"$work/log" 2>&1 || status=$?
  case $status in
    0) grep -q 'largest error' "$work/log" || { cat "$work/log" && fail "$1 says nothing"; } ;;
    77) grep -q '^no usable GPU: ' "$work/log" || { cat "$work/log" && fail "$1 does not say why"; } ;;
    *) cat "$work/log" && fail "$* ended with $status" ;;
  esac
}
for program in "$work/build/gemm" "$work/build/gemm_static" "$work/build/batched" \
  "$work/gemm_pkg_config" "$work/batched_pkg_config"; do
  expect_run "$program" "$work/tuned.db"
done
echo "installed_test: passed"
