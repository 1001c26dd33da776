#!/usr/bin/env bash
# Warnings end a compilation, also one whose result the compiler cache has from a build in which they
# did not.   fail_on_warnings_test.sh SOURCE_DIR COMPILER
set -uo pipefail

launcher=$1/cmake/fail_on_warnings compiler=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CCACHE_DISABLE
export CCACHE_DIR=$work/cache CCACHE_BASEDIR=$work
failures=0

# expect STATUS WHAT COMMAND...
expect() {
  local expected=$1 what=$2 status=0
  shift 2
  "$@" >"$work/stdout" 2>"$work/stderr" || status=$?
  [[ $status == "$expected" ]] && return 0
  echo "FAILED: $what: exit code $status, not $expected" >&2
  cat "$work/stderr" >&2
  failures=$((failures + 1))
}

echo 'int main() { return 0; }' >"$work/clean.cc"
echo 'int main() { int unused; return 0; }' >"$work/warns.cc"
echo 'int main() { return nothing; }' >"$work/wrong.cc"
compile=("$compiler" -Wall -c -o "$work/object.o")

expect 0 "a warning alone is none of the compiler's errors" "${compile[@]}" "$work/warns.cc"
expect 0 "no warning" "$launcher" "${compile[@]}" "$work/clean.cc"
expect 1 "a warning" "$launcher" "${compile[@]}" "$work/warns.cc"
grep -q 'unused' "$work/stderr" || expect 0 "the warning is shown" false
expect 1 "an error" "$launcher" "${compile[@]}" "$work/wrong.cc"

if command -v ccache >/dev/null; then
  # Two builds, in folders of their own.
  mkdir "$work/first" "$work/second"
  in_folder() { (cd "$1" && shift && "$@"); }
  compile=(ccache "$compiler" -Wall -c -o object.o)
  expect 0 "compiled without the launcher" in_folder "$work/first" "${compile[@]}" "$work/warns.cc"
  expect 1 "a warning that the cache has" \
    in_folder "$work/second" "$launcher" "${compile[@]}" "$work/warns.cc"
  hits=$(ccache --print-stats | awk '$1 ~ /^(direct|preprocessed)_cache_hit$/ {n += $2} END {print n + 0}')
  [[ $hits == 1 ]] || expect 0 "the second build takes the first one's object ($hits hits)" false
fi

((failures == 0)) && echo "all good"
exit $((failures > 0))
