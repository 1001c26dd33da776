#!/usr/bin/env bash
# What tools/setup says and does on machines that lack something, played with stand-ins for the
# system's programs. Nothing is installed.   setup_test.sh SOURCE_DIR
set -uo pipefail

source_dir=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bin=$work/bin
mkdir -p "$bin" "$work/tree/tools"
cp "$source_dir"/tools/{setup,gemm-tune,test,cuda_wheels.py} "$work/tree/tools/"
failures=0

# stand_in NAME BODY: a program of that name, found before the system's, that also notes its call.
stand_in() {
  printf '#!/bin/bash\necho "%s $*" >>"%s/calls"\n%s\n' "$1" "$work" "$2" >"$bin/$1"
  chmod +x "$bin/$1"
}

run() {
  : >"$work/calls"
  PATH=$bin:$PATH "$@" >"$work/stdout" 2>"$work/stderr"
  code=$?
}

expect() {  # expect WHAT COMMAND...
  local what=$1
  shift
  "$@" >/dev/null && return 0
  echo "FAILED: $what" >&2
  sed 's/^/    stderr: /' "$work/stderr" >&2
  sed 's/^/    called: /' "$work/calls" >&2
  failures=$((failures + 1))
}

called() { grep -q "^$1" "$work/calls"; }
not_called() { ! called "$1"; }
said() { grep -qF -- "$1" "$work/stderr"; }
quiet_stdout() { [[ ! -s $work/stdout ]]; }

all_installed='for name; do [[ $name == -* ]] || echo "installed $name"; done'
one_missing='for name; do [[ $name == -* || $name == libsqlitecpp-dev ]] || echo "installed $name"; done'
builds='if [[ $1 == --preset ]]; then touch "build/$2/build.ninja"; else
  mkdir -p "$2/bin"; printf "#!/bin/bash\necho ran \"\$@\"\n" >"$2/bin/gemm-tune"; chmod +x "$2/bin/gemm-tune"; fi'
tree=$work/tree
cuda=$work/cuda
mkdir -p "$tree"/{cmake,src,include,kernels_templates,configs,db}
touch "$tree"/{CMakeLists.txt,CMakePresets.json}
# What of CUDA a folder must hold.
make_cuda() {
  mkdir -p "$1"/{include/crt,include/nv,lib}
  touch "$1/lib/libnvrtc.so.13" "$1"/include/{cuda.h,cuda_fp16.h,crt/host_defines.h,nv/target,nvrtc.h,nvml.h}
}
make_cuda "$cuda"
# This machine's GPU and libraries are not what is tested.
sed -i "s#/dev/nvidiactl#$work/nvidiactl#; s#/dev/dxg#$work/dxg#" "$tree/tools/setup"
export CUDA_HOME=$cuda
unset CUDA_PATH GEMM_TUNE_NO_SYSTEM_CUDA GEMM_TUNE_NVRTC CXX

stand_in g++ 'if [[ $1 == -dumpversion ]]; then echo 12; else echo "g++ (Debian) 12"; fi'
stand_in cmake "$builds"
stand_in apt-get 'exit 0'

# Not root, no sudo: the packages are named, and nothing is tried.
stand_in id 'echo 1000'
stand_in sudo 'exit 1'
stand_in dpkg-query "$one_missing"
run "$tree/tools/gemm-tune" --version
expect "exit 1 without root" test $code = 1
expect "the missing package is named" said "missing: libsqlitecpp-dev"
expect "only missing packages are named" eval '! said ninja-build'
expect "the command to run is given" said "sudo apt-get install"
expect "nothing is installed without root" not_called apt-get
expect "stdout stays empty" quiet_stdout

# sudo works: it is used.
stand_in sudo 'shift; "$@"'
run "$tree/tools/setup" release gemm-tune
expect "sudo installs" called "apt-get -q install -y --no-install-recommends libsqlitecpp-dev"
expect "exit 0 with sudo" test $code = 0

# Root, but no network.
stand_in id 'echo 0'
stand_in apt-get 'exit 100'
run "$tree/tools/setup" release
expect "exit 1 without a network" test $code = 1
expect "the missing package is named without a network" said "libsqlitecpp-dev"

# Root with stale package lists: updated once, then installed.
stand_in apt-get 'case "$*" in *update*) touch '"$work"'/fresh;; esac; [[ -e '"$work"'/fresh ]]'
run "$tree/tools/setup" release
expect "lists are refreshed" called "apt-get -q update"
expect "exit 0 after the refresh" test $code = 0

# Everything is there: no apt-get; the binary runs with its arguments and its stdout.
stand_in dpkg-query "$all_installed"
rm -rf "$tree/build"
run "$tree/tools/gemm-tune" --shape "1x2x3" "two words"
expect "the binary is run" test "$(cat "$work/stdout")" = "ran --shape 1x2x3 two words"
expect "no apt-get where nothing is missing" not_called apt-get
expect "configured" called "cmake --preset release"

# A second call neither configures nor builds; a changed source builds only; a deleted one too.
run "$tree/tools/gemm-tune" again
expect "the second call starts at once" eval 'not_called cmake && not_called dpkg-query'
sleep 0.02
touch "$tree/src/new.cc"
run "$tree/tools/gemm-tune"
expect "a new source builds" called "cmake --build"
expect "a new source does not configure" not_called "cmake --preset"
sleep 0.02
rm "$tree/src/new.cc"
run "$tree/tools/gemm-tune"
expect "a deleted source builds" called "cmake --build"

# Called by a link in a folder of programs, or with CDPATH exported, the tools find their tree.
mkdir "$work/links"
for tool in gemm-tune setup test; do ln -s "$tree/tools/$tool" "$work/links/my-$tool"; done
run "$work/links/my-gemm-tune" "by a link"
expect "the binary is run by a link" test "$(cat "$work/stdout")" = "ran by a link"
run "$work/links/my-setup" release
expect "setup builds by a link" test $code = 0
expect "setup builds its own tree by a link" called "cmake --build $tree/build/release"
stand_in ctest 'exit 0'
run "$work/links/my-test" -R jit
expect "tests are run by a link" called "ctest --preset ci .*-R jit"
cd "$tree" || exit 1
CDPATH=. run tools/gemm-tune "with CDPATH"
expect "the binary is run with CDPATH" test "$(cat "$work/stdout")" = "ran with CDPATH"
CDPATH=. run tools/setup release
expect "setup builds its own tree with CDPATH" called "cmake --build $tree/build/release"
cd - >/dev/null || exit 1

# A tree that was copied or moved with its build does not build the sources of where it was.
echo "CMAKE_HOME_DIRECTORY:INTERNAL=$tree" >"$tree/build/release/CMakeCache.txt"
ln -s "$tree" "$work/linked tree"
for place in "$tree" "$work/linked tree"; do
  run "$place/tools/setup" release
  expect "a tree at its place is configured once" not_called "cmake --preset"
done
cp -r "$tree" "$work/copied tree"
run "$work/copied tree/tools/setup" release
expect "a copied tree is configured again" called "cmake --preset release --fresh"
rm "$tree/build/release/CMakeCache.txt"

# A compiler that is too old is named.
stand_in g++ 'if [[ $1 == -dumpversion ]]; then echo 11; else echo "g++ (Debian) 11"; fi'
run "$tree/tools/setup" release
expect "an old compiler is refused" test $code = 1
expect "an old compiler is named" said "g++ 11 is too old"
stand_in g++ 'if [[ $1 == -dumpversion ]]; then echo 12; else echo "g++ (Debian) 12"; fi'

# No toolkit and no package index.
stand_in python3 '[[ $* == *--version* ]]'
GEMM_TUNE_NO_SYSTEM_CUDA=1 run "$tree/tools/setup" release
expect "exit 1 without CUDA and index" test $code = 1
expect "what is missing is said" said "could not be fetched: runtime cccl nvrtc nvml."
expect "what to install is said" said "Install a CUDA toolkit"
fetch="python3 $tree/tools/cuda_wheels.py $tree/.deps/cuda"
expect "all parts are asked for" called "$fetch runtime cccl nvrtc nvml\$"

# Only what is missing is fetched, and packages that do not bring it are not enough.
export GEMM_TUNE_NO_SYSTEM_CUDA=1
stand_in python3 'exit 0'
make_cuda "$tree/.deps/cuda"
while read -r file part; do
  rm "$tree/.deps/cuda/$file"
  run "$tree/tools/setup" release
  expect "$part is fetched for $file" called "$fetch $part\$"
  expect "exit 1 where packages lack $file" test $code = 1
  expect "the part that lacks $file is named" said "lack some of CUDA's headers: $part"
  make_cuda "$tree/.deps/cuda"
done <<'END'
include/cuda.h runtime
include/cuda_fp16.h runtime
include/crt/host_defines.h runtime
include/nv/target cccl
include/nvrtc.h nvrtc
lib/libnvrtc.so.13 nvrtc
include/nvml.h nvml
END
run "$tree/tools/setup" release
expect "nothing is fetched where nothing is missing" not_called python3

# A virtual environment without pip, as uv makes them, is no reason to fail: the system's Python has one.
stand_in python3 'exit 1'
stand_in system-python3 'if [[ $* == *cuda_wheels.py* ]]; then mkdir -p "$2" && cp -r "'"$cuda"'/." "$2"; fi'
sed -i "s#/usr/bin/python3#$bin/system-python3#" "$tree/tools/setup"
mv "$tree/.deps" "$work/deps"
run "$tree/tools/setup" release
expect "exit 0 with the system's pip" test $code = 0
expect "the system's pip is used" called "system-$fetch"
rm -rf "$tree/.deps" && mv "$work/deps" "$tree/.deps"

# A build that found a toolkit's headers begins again without them.
expect "a build without a toolkit is configured once" not_called "cmake --preset"
echo "GEMMTUNE_NO_SYSTEM_CUDA:BOOL=OFF" >"$tree/build/release/CMakeCache.txt"
run "$tree/tools/gemm-tune"
expect "configured again without the toolkit" \
  called "cmake --preset release --fresh -DGEMMTUNE_NO_SYSTEM_CUDA=ON"
rm "$tree/build/release/CMakeCache.txt"

# cuBLASLt is fetched where there is a GPU and none is found; everything goes on without it.
stand_in ldconfig 'exit 0'
touch "$work/nvidiactl"
stand_in python3 '[[ $* == *--version* ]]'
run "$tree/tools/setup" release
expect "cuBLASLt is fetched for a GPU" called "$fetch cublas\$"
expect "exit 0 without cuBLASLt" test $code = 0
expect "its absence is said" said "cuBLASLt could not be fetched"
touch "$tree/.deps/cuda/lib/libcublasLt.so.13"
run "$tree/tools/setup" release
expect "no cuBLASLt is fetched where there is one" not_called python3
rm "$bin/python3" "$work/nvidiactl"
unset GEMM_TUNE_NO_SYSTEM_CUDA

# The packages that all this comes from. Each is needed: of the two of "runtime" one has the headers that
# the other's include, and cccl those that cuda_fp16.h includes.
if python3 -c '' 2>/dev/null; then
  run python3 -c "import sys; sys.dont_write_bytecode = True; sys.path.insert(0, '$tree/tools')
import cuda_wheels
for part, packages in cuda_wheels.PACKAGES.items():
    print(part, *(package.split('==')[0] for package in packages))"
  expect "the packages are complete" diff "$work/stdout" - <<'END'
runtime nvidia-cuda-runtime nvidia-cuda-crt
cccl nvidia-cuda-cccl
nvrtc nvidia-cuda-nvrtc
nvml nvidia-nvml-dev
cublas nvidia-cublas
END
  run python3 "$tree/tools/cuda_wheels.py" "$work/wheels" headers
  expect "exit 1 for an unknown part" test $code = 1
  expect "an unknown part is named" said "no package is known for CUDA's headers"
fi

((failures == 0)) && echo "all good"
exit $((failures > 0))
