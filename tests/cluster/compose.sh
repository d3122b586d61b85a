#!/usr/bin/env bash
# Runs deploy/cluster/compose.yaml without Docker, with the image that tests/container.sh has built: a bake through the
# balancer has the bits of a local one, also while a replica is killed, and stopping it is clean.
#
# usage: tests/cluster/compose.sh [WORKDIR]     (that of tests/container.sh; default: build/container)
# Exit code 77: not run. haproxy and Redis are Debian's, in images that stand in for those of a registry.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(realpath -m "${1:-build/container}")
skip() {
  echo "compose: SKIPPED, $*" >&2
  exit 77
}
[[ $EUID -eq 0 ]] || skip "needs root"
[[ -s $work/storage.conf && -x $work/compose/bin/podman-compose ]] || skip "run tests/container.sh first"
export CONTAINERS_CONF=$work/containers.conf CONTAINERS_STORAGE_CONF=$work/storage.conf
image=localhost/sinew:test
podman image exists $image || skip "run tests/container.sh first"
known=$(podman run --rm --pull=never --network none $image --help 2>/dev/null)
[[ $known == *"--store "* ]] || skip "this sinewd has no store"
name=sinew-compose-$$
space=$name

step() { echo "compose: [$SECONDS s] $*"; }
fail() {
  echo "compose: FAILED: $*" >&2
  compose logs >&2 || true
  exit 1
}
inside() { nsenter --net="/run/netns/$space" "$@"; }
compose() {
  BALANCER_MAXCONN=1000 SINEW_IMAGE=$image HAPROXY_IMAGE=localhost/haproxy:test REDIS_IMAGE=localhost/redis:test \
    inside timeout -k 5 120 "$work/compose/bin/podman-compose" -p "$name" -f deploy/cluster/compose.yaml "$@"
}
leave() {
  compose down -t 1 -v
  ip netns del "$space"
} >/dev/null 2>&1
trap 'leave || true' EXIT

step "images of haproxy and Redis"
for of in "haproxy haproxy 99" "redis redis-server 999"; do
  read -r as package user <<<"$of"
  podman image exists "localhost/$as:test" && continue
  printf '%s\n' "FROM debian:bookworm-slim" \
    "RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends $package" \
    "USER $user" >"$work/$as.dockerfile"
  buildah bud --isolation chroot --format docker --pull-never -t "localhost/$as:test" -f "$work/$as.dockerfile" \
    "$work/compose" >"$work/$as.log" 2>&1 || skip "the image of $as does not build, see $work/$as.log"
done

step "start"
ip netns add "$space"
ip -n "$space" link set lo up
compose up -d >"$work/compose-up.log" 2>&1 || fail "does not start, see $work/compose-up.log"
# Otherwise the bridge has the address of one of its ports, and is not reached for a minute when that container has ended.
read -r bridge address < <(ip -n "$space" -o link show type bridge |
  sed -E 's/^[0-9]+: ([^:]+):.* link\/ether (\S+).*/\1 \2/')
ip -n "$space" link set "$bridge" address "$address"
sinew() { inside podman exec "${name}_sinewd-3_1" sinew "$@"; }
bake() { sinew --quiet "$@" bake model:hand --deformer ddm --frames 0-5 --out /data/hand.npy >/dev/null; }
bits() { podman exec "${name}_sinewd-3_1" sha256sum /data/hand.npy | cut -d ' ' -f 1; }
for _ in {1..100}; do
  inside podman exec "${name}_sinewd-3_1" sinewd --probe balancer:50051 >/dev/null 2>&1 && break
  sleep 0.2
done
inside podman exec "${name}_sinewd-3_1" sinewd --probe balancer:50051 >/dev/null || fail "the balancer does not serve"
bake --local
expected=$(bits)
bake --server balancer:50051 || fail "cannot bake"
[[ $(bits) == "$expected" ]] || fail "other bits than a local bake"
user=$(podman exec "${name}_sinewd-1_1" id -u)
[[ $user == 10001 ]] || fail "runs as uid $user, need 10001"
podman exec "${name}_redis_1" redis-cli --scan | grep -q sinew:session || fail "no session is in Redis"
stored=$(podman exec "${name}_sinewd-1_1" find /store -type f | wc -l)
[[ $stored -gt 0 ]] || fail "nothing is in the store"

step "kill a replica"
inside podman kill "${name}_sinewd-1_1" >/dev/null
inside podman kill "${name}_sinewd-2_1" >/dev/null
bake --server balancer:50051 || fail "cannot bake with one replica left"
[[ $(bits) == "$expected" ]] || fail "other bits with one replica left"

step "stop"
compose stop -t 40 >/dev/null 2>&1
code=$(podman inspect "${name}_sinewd-3_1" --format '{{.State.ExitCode}}')
[[ $code == 0 ]] || fail "exit code $code of a replica that was stopped, need 0"
step "passed, $stored files in the store"
