#!/usr/bin/env bash
# Builds the Dockerfile without Docker and checks the container: non-root, read-only, healthy, clean exit on SIGTERM.
# Then runs deploy/integration-tests with it.
#
# usage: tests/container.sh [WORKDIR]     (default: build/container; keeps base image and layers for the next run)
# Exit code 77: not run. Needs root, network and PyPI. Everything runs in a private network namespace.
set -euo pipefail
cd "$(dirname "$0")/.."
[[ $EUID -eq 0 ]] || {
  echo "container: SKIPPED, needs root" >&2
  exit 77
}
deploy/install-deps.sh container
mkdir -p "${1:-build/container}"
work=$(realpath "${1:-build/container}")
image=localhost/sinew:test
base=docker.io/library/debian:bookworm-slim
name=sinew-test-$$
space=$name
# Podman remembers the first run root of a store: one for each work folder.
runroot=/run/sinew-test-store-$(cksum <<<"$work" | cut -d ' ' -f 1)

step() { echo "container: [$SECONDS s] $*"; }
fail() {
  echo "container: FAILED: $*" >&2
  exit 1
}

# Root without CAP_SYS_RESOURCE cannot raise limits, and crun refuses hybrid control groups: runc, and limits we have.
limit() { [[ $1 != unlimited && $1 -lt 4096 ]] && echo "$1" || echo 4096; }
files=$(limit "$(ulimit -Hn)")
processes=$(limit "$(ulimit -Hu)")
cat >"$work/containers.conf" <<CONF
[containers]
default_ulimits = ["nofile=$files:$files", "nproc=$processes:$processes"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "none"
[network]
network_backend = "netavark"
CONF
cat >"$work/storage.conf" <<CONF
[storage]
driver = "overlay"
graphroot = "$work/graph"
runroot = "$runroot"
CONF
export CONTAINERS_CONF=$work/containers.conf CONTAINERS_STORAGE_CONF=$work/storage.conf
inside() { nsenter --net="/run/netns/$space" "$@"; }
compose() { SINEW_IMAGE=$image inside "$work/compose/bin/podman-compose" -p "$name" -f deploy/integration-tests/compose.yaml "$@"; }
leave() {
  inside podman rm -f -t 1 "$name"
  compose down -t 1
  ip netns del "$space"
} >/dev/null 2>&1
trap 'leave || true' EXIT

[[ -x $work/compose/bin/podman-compose ]] || {  # Debian's ignores read_only and the exit code of a service
  /usr/bin/python3 -m venv "$work/compose"
  "$work/compose/bin/pip" install --quiet --disable-pip-version-check podman-compose==1.5.0
}
if ! podman image exists $base; then
  step "base image, from Debian's packages"
  apt_conf=/etc/apt/apt.conf.d  # and the machine's own authorities, for a proxy that reads TLS on the way to npm and crates
  sources=/etc/apt/sources.list.d/debian.sources
  [[ -s $sources ]] || sources=/etc/apt/sources.list
  printf 'Acquire::GzipIndexes "true";\nAcquire::Languages "none";\n%s\n' \
    'DPkg::Post-Invoke { "rm -f /var/cache/apt/*.bin /var/cache/apt/archives/*.deb || true"; };' \
    >"$work/container-apt.conf"
  mmdebstrap --quiet --variant=minbase --include=ca-certificates,usr-is-merged \
    --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
    --customize-hook="copy-in '$work/container-apt.conf' $apt_conf" \
    --customize-hook='copy-in /usr/local/share/ca-certificates /usr/local/share' --customize-hook='chroot "$1" update-ca-certificates' \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' bookworm - "$sources" \
    2>"$work/base.log" |
    podman import -q --change 'CMD ["bash"]' - $base >/dev/null
fi

step "build"
buildah bud --isolation chroot --format docker --layers --pull-never --build-arg REVISION=tested -t $image . \
  >"$work/build.log" 2>&1 || {
  tail -n 40 "$work/build.log" >&2
  fail "the Dockerfile does not build, see $work/build.log"
}

step "bill of materials"
label=$(podman image inspect $image --format '{{index .Labels "org.opencontainers.image.revision"}}')
[[ $label == tested ]] || fail "label revision is '$label'"
within() { podman run --rm --pull=never --network none --entrypoint "$1" $image "${@:2}"; }
within cat /usr/share/doc/sinew/sbom.cdx.json >"$work/sbom.cdx.json"
tests/cluster/sbom_test.py --packages "$work/cyclonedx" --sbom "$work/sbom.cdx.json" >"$work/sbom.log" 2>&1 || {
  cat "$work/sbom.log" >&2
  fail "the bill of materials does not fit its schema"
}
within dpkg-query -W -f '${Package} ${Version}\n' | sort >"$work/packages"
/usr/bin/python3 - "$work/sbom.cdx.json" >"$work/listed" <<'PYTHON'
import json, sys
for each in json.load(open(sys.argv[1]))["components"]:
    if "compiled" not in each.get("description", ""):
        print(each["name"], each["version"])
PYTHON
sort "$work/listed" | cmp - "$work/packages" || fail "the bill of materials lists other packages than the image has"

step "refuse"
code=0
podman run --rm --pull=never --network none --read-only --cap-drop all $image 2>/dev/null || code=$?
[[ $code == 78 ]] || fail "exit code $code without TLS and authentication, need 78"
step "run"
ip netns add "$space"
ip -n "$space" link set lo up
inside podman run -d --name "$name" --pull=never --network host --read-only --cap-drop all \
  --security-opt no-new-privileges --memory 256m --pids-limit 128 $image --insecure --web 8080 >/dev/null
for _ in {1..50}; do
  inside podman healthcheck run "$name" >/dev/null 2>&1 && break
  sleep 0.2
done
inside podman healthcheck run "$name" >/dev/null || {
  podman logs "$name" >&2
  fail "not healthy after 10 s"
}
step "healthy"
# In the namespace that the container shares.
inside podman exec "$name" sinewd --probe 127.0.0.1:50051 || fail "port 50051 does not answer"
inside podman exec "$name" sinewd --probe 127.0.0.1:1 2>/dev/null && fail "the health check cannot fail"
inside tests/web/answers.py 127.0.0.1:8080 || fail "the page does not answer"
sinew() { inside podman exec "$name" sinew "$@"; }
sinew --server unix:/dev/shm/sinewd.sock bake model:hand --deformer ddm --out /dev/shm/hand.pc2 >/dev/null ||
  fail "sinew in the container cannot bake"
sinew verify /dev/shm/hand.pc2 >/dev/null || fail "the cache is damaged"
sinew --local render model:hand --deformer ddm --frame 20 --out /dev/shm/hand.png >/dev/null ||
  fail "sinew in the container cannot draw"
user=$(podman exec "$name" id -u)
[[ $user == 10001 ]] || fail "runs as uid $user, need 10001"
inside podman stop -t 10 "$name" >/dev/null
code=$(podman inspect "$name" --format '{{.State.ExitCode}}')
[[ $code == 0 ]] || fail "exit code $code after SIGTERM, need 0"
step "integration tests"
compose run --rm -T test >"$work/compose.log" 2>&1 || {
  cat "$work/compose.log" >&2
  fail "deploy/integration-tests: the test fails"
}
grep -q '^test passed' "$work/compose.log" || fail "deploy/integration-tests: the test did not run"
server=${name}_sinewd_1
inside podman healthcheck run "$server" >/dev/null || fail "deploy/integration-tests: the server is not healthy"
code=0
compose run --rm -T --entrypoint 'bash -c "exit 7"' test >/dev/null 2>&1 || code=$?
[[ $code == 7 ]] || fail "deploy/integration-tests: exit code $code of a test that fails, need its own, 7"
compose stop -t 20 >/dev/null 2>&1
code=$(podman inspect "$server" --format '{{.State.ExitCode}}')
[[ $code == 0 ]] || fail "deploy/integration-tests: exit code $code of the stopped server, need 0"
compose down -t 1 >/dev/null 2>&1
left=$(podman ps -a -q --filter "label=io.podman.compose.project=$name")
[[ -z $left ]] || fail "deploy/integration-tests: containers are left"
step "passed; image size $(podman image inspect $image --format '{{.Size}}' | numfmt --to=si)"
