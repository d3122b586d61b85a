#!/usr/bin/env bash
# Runs a command whose loopback is a line of a given rate, in a network namespace of its own.
#
# usage: tests/bench/slow_line.sh RATE COMMAND...      RATE: of tc, such as 1gbit or 100mbit
# Prints why not, and succeeds, where that is not possible: it needs root, `ip` and `tc`.
set -euo pipefail
case ${1-} in
  -h | --help)
    sed -n '2,5s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac
rate=$1
shift
skip() {
  echo "skipped: a line of $rate needs $1"
  exit
}
command -v ip >/dev/null && command -v tc >/dev/null || skip '`ip` and `tc` (iproute2)'
name=sinew-line-$$
ip netns add "$name" 2>/dev/null || skip 'root, and a kernel with network namespaces'
trap 'ip netns del "$name"' EXIT
ip -n "$name" link set lo up mtu 9000
# What an idle line saves up is little beside a frame.
tc -n "$name" qdisc add dev lo root tbf rate "$rate" burst 20kb latency 50ms 2>/dev/null ||
  skip 'a kernel with tbf'
ip netns exec "$name" "$@"
