#!/usr/bin/env bash
# Installs what is missing, builds Release and runs the tests; ends with ctest's summary.
#
# usage: tests/run.sh [--all] [CTEST ARGUMENT...]
#   --all   also the slow ones: label `slow`, unit and law tests under the address, undefined-behaviour and thread
#           sanitizers (two more builds), and the container image (needs root)
#   others  go to ctest, for instance: tests/run.sh -R dqs, tests/run.sh -L lint
# With CI=true warnings are errors. Uses ccache when it is installed.
# Exit code: 0 all passed, 8 a test failed, anything else: installing or building failed.
set -euo pipefail
cd "$(dirname "$0")/.."

all=
filter=()
for argument in "$@"; do
  case $argument in
    --all) all=1 ;;
    -h | --help)
      sed -n '2,9s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *) filter+=("$argument") ;;
  esac
done

deploy/install-deps.sh build test
werror=OFF
[[ ${CI:-} != true ]] || werror=ON
if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER:-ccache}
fi
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1:halt_on_error=1}
jobs=$(nproc)
mkdir -p build

# build PRESET: configures and builds it.
build() {
  echo "== build $1 (the first build takes minutes, later ones seconds) =="
  cmake --preset "$1" -DSINEW_WERROR=$werror >"build/$1.configure.log" 2>&1 || {
    cat "build/$1.configure.log"
    return 1
  }
  cmake --build --preset "$1" --parallel "$jobs"
}

# run PRESET ARGUMENT...: runs its tests; what a failing one printed is shown.
launcher=()
run() {
  local preset=$1
  shift
  echo "== test $preset =="
  "${launcher[@]}" ctest --test-dir "build/$preset" --output-on-failure --no-tests=error \
    --parallel $((jobs + 1)) "$@" "${filter[@]}"  # some tests wait for a server, a limit or a lease
}

if [[ ! $all ]]; then
  build release
  run release --label-exclude slow
  exit
fi

failed=0
build asan
run asan --label-regex '^(unit|laws)$' || failed=8
build tsan
# The thread sanitizer of g++ 12 needs the less random address layout, where the machine lets us ask for it.
launcher=(setarch "$(uname -m)" --addr-no-randomize)
"${launcher[@]}" true 2>/dev/null || launcher=()
run tsan --label-regex '^(unit|laws)$' || failed=8
launcher=()
tests/container.sh || failed=8
build release
run release || failed=8
exit $failed
