#!/usr/bin/env bash
# Installs what is missing, builds Release and runs the tests; ends with ctest's summary.
#
# usage: tests/run.sh [--all] [CTEST ARGUMENT...]
#   --all   also the slow ones: label `slow`, the default set under the address, undefined-behaviour and thread
#           sanitizers (two more builds, and four libraries once), and the container image (needs root). Takes hours.
#   others  go to ctest, for instance: tests/run.sh -R dqs, tests/run.sh -L lint
# With CI=true warnings are errors.
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
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1:halt_on_error=1}
jobs=$(nproc)
mkdir -p build

# build PRESET OPTION...: configures and builds it.
build() {
  local preset=$1
  shift
  echo "== build $preset (the first build takes minutes, later ones seconds) =="
  cmake --preset "$preset" -DSINEW_WERROR=$werror "$@" >"build/$preset.configure.log" 2>&1 || {
    cat "build/$preset.configure.log"
    return 1
  }
  cmake --build --preset "$preset" --parallel "$jobs"
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
run asan --label-exclude '^(lint|slow)$' || failed=8
tests/tsan_libraries.sh build/tsan-libraries
build tsan "-DCMAKE_PREFIX_PATH=$PWD/build/tsan-libraries" -DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1:suppressions=$PWD/tests/tsan.supp}
# The thread sanitizer of g++ 12 needs the less random address layout, where the machine lets us ask for it.
launcher=(setarch "$(uname -m)" --addr-no-randomize)
"${launcher[@]}" true 2>/dev/null || launcher=()
run tsan --label-exclude '^(lint|slow)$' || failed=8
launcher=()
build release
run release || failed=8
exit $failed
