#!/usr/bin/env bash
# The release binary, or a library, can be copied to another machine: it needs glibc and nothing else, and looks for
# no library in a folder of the machine that built it.   self_contained_test.sh READELF BINARY
set -euo pipefail

readelf=$1 binary=$2
# libdl, libpthread and librt are empty stubs of glibc 2.34 and newer.
allowed='^(libc\.so\.6|libm\.so\.6|ld-linux-x86-64\.so\.2|libdl\.so\.2|libpthread\.so\.0|librt\.so\.1)$'

dynamic=$("$readelf" -d "$binary")
needed=$(sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' <<<"$dynamic")
[[ -n $needed ]] || { echo "no dynamic section read from $binary" >&2; exit 1; }

status=0
while read -r library; do
  [[ $library =~ $allowed ]] || { echo "needs $library" >&2; status=1; }
done <<<"$needed"
if grep -E '\((RPATH|RUNPATH)\)' <<<"$dynamic" >&2; then status=1; fi
((status)) || echo "needs only:" $needed
exit $status
