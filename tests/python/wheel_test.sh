#!/usr/bin/env bash
# Builds the wheel, installs it into an empty virtual environment, and runs the tests of the package there, from
# outside of the tree.
#
#   wheel_test.sh SOURCE_DIR BUILD_DIR FIXTURE
#
# BUILD_DIR is the build whose objects ccache has; FIXTURE is tests/python/fixture.cc, built. PYTHON names another
# python3. Exit code 77, with the reason, where Python's headers, venv or a package index are missing.
set -euo pipefail

source_dir=$1
build_dir=$2
fixture=$3
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

skip() {
  echo "python_wheel_test: skipped: $*"
  exit 77
}
fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# --- What is needed ------------------------------------------------------------------------------

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
  skip "there is no Python 3.11 or newer"
"$python" -c 'import os, sysconfig, sys
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' ||
  skip "Python's headers are missing (python3-dev)"
"$python" -m venv "$work/build_env" >"$work/log" 2>&1 || skip "no virtual environment can be made (python3-venv)"
mapfile -t requirements < <("$python" -c 'import sys, tomllib
print(*tomllib.load(open(sys.argv[1], "rb"))["build-system"]["requires"], sep="\n")' "$source_dir/pyproject.toml")
"$work/build_env/bin/pip" install -q "${requirements[@]}" >"$work/log" 2>&1 ||
  skip "no package index: $(tail -1 "$work/log")"
"$python" -m venv "$work/env"
"$work/env/bin/pip" install -q pytest==8.4.2 >"$work/log" 2>&1 || skip "no package index: $(tail -1 "$work/log")"

# --- The wheel -----------------------------------------------------------------------------------

# In a folder beside the build, by the same name of the compiler: so ccache has the objects.
setting() { sed -n "s/^$1:[A-Z]*=//p" "$build_dir/CMakeCache.txt"; }
export CC CXX
CC=$(setting CMAKE_C_COMPILER)
CXX=$(setting CMAKE_CXX_COMPILER)
started=$SECONDS
"$work/build_env/bin/pip" wheel "$source_dir" --no-deps --no-build-isolation -w "$work/wheel" \
  --config-settings="build-dir=$(dirname "$build_dir")/wheel" \
  --config-settings="cmake.define.GEMMTUNE_NO_SYSTEM_CUDA=$(setting GEMMTUNE_NO_SYSTEM_CUDA)" >"$work/log" 2>&1 ||
  { tail -50 "$work/log" && fail "building the wheel"; }
wheel=$(echo "$work"/wheel/gemmtune-*.whl)
echo "built $(basename "$wheel") in $((SECONDS - started)) s"
files=$("$python" -m zipfile -l "$wheel")
for part in _bin/gemm-tune _lib/libgemmtune_cublas.so _core.pyi py.typed; do
  grep -q "gemmtune/$part" <<<"$files" || fail "the wheel lacks gemmtune/$part"
done

# --- Its tests, in an environment that has nothing else ------------------------------------------

"$work/env/bin/pip" install -q --no-index "$wheel" >"$work/log" 2>&1 || { cat "$work/log" && fail "installing the wheel"; }
libraries=$(find "$work/env/" -path '*gemmtune/*' -name '*.so*' && find "$work/env/" -path '*gemmtune/_bin/gemm-tune')
while read -r library; do
  needed=$(readelf -d "$library" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')
  others=$(grep -Ev '^(lib(c|m|dl|pthread|gcc_s|gemmtune)\.so\.[0-9]+|ld-linux.*)$' <<<"$needed") &&
    fail "$library needs $others"
done <<<"$libraries"
cp -r "$source_dir/tests/python" "$work/tests"
cd "$work/tests"
export GEMM_TUNE_TEST_FIXTURE=$fixture HOME=$work
unset PYTHONPATH
if [[ -z ${GEMM_TUNE_NVRTC:-} ]] && compgen -G "$source_dir/.deps/cuda/lib/libnvrtc.so*" >/dev/null; then
  export GEMM_TUNE_NVRTC=$source_dir/.deps/cuda/lib
fi
"$work/env/bin/python" -m pytest -q -rs -p no:cacheprovider . || fail "the tests of the package"
echo "python_wheel_test: passed"
