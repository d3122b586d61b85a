#!/usr/bin/env bash
# Builds the fuzz targets with clang and runs each for a time; prints what they executed and found.
#
# usage: tests/fuzz/run.sh [SECONDS [TARGET...]]        (default: 1200 seconds, all targets)
# A target ends earlier after 10,000,000 executions, or at its first finding, which is kept as
# build/fuzz/found/TARGET/finding-*. Inputs that reach new code are kept beside it and used by the next run.
# Exit code: 0 nothing found, 1 a finding.
set -euo pipefail
cd "$(dirname "$0")/../.."

seconds=${1:-1200}
shift $(($# > 0 ? 1 : 0))
[[ $seconds =~ ^[0-9]+$ ]] || {
  sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
  exit 64
}

deploy/install-deps.sh build fuzz
mkdir -p build
cmake --preset fuzz >build/fuzz.configure.log
targets=("$@")
if [[ ${#targets[@]} -eq 0 ]]; then
  for folder in tests/fuzz/corpus/*/; do targets+=("$(basename "$folder")"); done
fi
cmake --build --preset fuzz --target "${targets[@]/#/fuzz_}"

# Messages of a finding have line numbers.
export UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=detect_leaks=1
findings=0
printf '%-14s %12s %10s %8s %8s  %s\n' target executions per_second edges peak_mb finding
for target in "${targets[@]}"; do
  found=build/fuzz/found/$target
  log=build/fuzz/found/$target.log
  mkdir -p "$found"
  status=0
  build/fuzz/bin/fuzz_"$target" -max_total_time="$seconds" -runs=10000000 -max_len=32768 -timeout=20 \
    -rss_limit_mb=2048 -malloc_limit_mb=1024 -print_final_stats=1 -artifact_prefix="$found/finding-" \
    "$found" tests/fuzz/corpus/"$target" >"$log" 2>&1 || status=$?
  field() { sed -n "s/^stat::$1: *//p" "$log"; }
  edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
  finding=none
  if [[ $status -ne 0 ]]; then
    finding=$(sed -n 's/.*Test unit written to //p' "$log")
    finding="${finding:-see} ($log)"
    findings=1
  fi
  printf '%-14s %12s %10s %8s %8s  %s\n' "$target" "$(field number_of_executed_units)" \
    "$(field average_exec_per_sec)" "${edges:-0}" "$(field peak_rss_mb)" "$finding"
done
exit $findings
