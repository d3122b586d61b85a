#!/usr/bin/env bash
# Installs the Debian packages Sinew needs. Silent and quick when nothing is missing.
#
# usage: deploy/install-deps.sh [GROUP...]        (default: build)
#   build      compile everything; also fetches ufbx, which Debian does not have, into build/ufbx-VERSION
#   python     compile the Python package (with build)
#   test       run the tests (with build)
#   fuzz       build and run the fuzz targets (with build)
#   tsan       build libraries for the thread sanitizer (with build)
#   blender    run the tests of the Blender add-on (with build)
#   farm       run the tests of deploy/farm
#   cluster    run the tests of deploy/cluster and deploy/kubernetes (with test)
#   reference  make the references of the protocol and of the clients (with build and python)
#   web        build the page of `sinew view` and `sinewd --web`
#   monitoring load the alert rules of deploy/monitoring in a test
#   runtime    run sinewd and sinew, no compiler: what the container image holds
#   container  build and run the container image without Docker
# Needs root or sudo when something is missing.
set -euo pipefail

# Libraries are in the order of the folders that need them: proto and core, server, client, tests.
build=(
  g++ mold cmake ninja-build pkg-config git ca-certificates python3
  libprotobuf-dev protobuf-compiler libgrpc++-dev protobuf-compiler-grpc libabsl-dev
  libeigen3-dev libnanoflann-dev libtbb-dev libhwy-dev libssl-dev libxxhash-dev libzstd-dev nlohmann-json3-dev libutfcpp-dev
  prometheus-cpp-dev libcpp-httplib-dev libyaml-cpp-dev libspdlog-dev libcli11-dev libre2-dev
  libcurl4-openssl-dev libhiredis-dev libpugixml-dev
  libtinygltf-dev libmeshoptimizer-dev libdraco-dev libassimp-dev zlib1g-dev libembree-dev libpng-dev libfreetype-dev fonts-dejavu-core
  libgtest-dev libgmock-dev libbenchmark-dev
)
python=(pybind11-dev python3-dev python3-numpy python3-venv)  # python3-venv makes the wheel
test=("${python[@]}" python3-grpcio python3-protobuf python3-pytest clang-14 clang-format-14 doxygen haproxy openssl redis-server)
fuzz=(clang-14 llvm-14 libclang-rt-14-dev)  # llvm-14: lines in findings
tsan=(dpkg-dev libc-ares-dev)
blender=(blender libegl-mesa0 libgl1-mesa-dri libglx-mesa0 xvfb xauth)  # Mesa: renders and windows without a GPU
farm=(slurm-wlm munge python3-venv)
cluster=(redis-server nginx haproxy curl openssl nodejs npm python3-yaml)  # services start where systemd runs
reference=(doxygen golang-go python3-venv)
web=(ca-certificates libprotobuf-dev nodejs npm protobuf-compiler)  # npm brings the Node.js that the tools need, which is newer
monitoring=(prometheus)  # its service starts where systemd runs
runtime=(
  ca-certificates libgrpc++1.51 libprotobuf32 libabsl20220623 libtbb12 libembree3-3 libhwy1 libssl3 libxxhash0 libzstd1 libre2-9
  libcpp-httplib0.11 libprometheus-cpp-core1.0 libspdlog1.10 libyaml-cpp0.7 libcurl4 libhiredis0.14 libpugixml1v5
  libassimp5 libdraco7 libmeshoptimizer2d libpng16-16 libfreetype6 fonts-dejavu-core
)
container=(buildah podman python3-venv runc conmon netavark aardvark-dns catatonit iptables mmdebstrap)

fail() {
  echo "install-deps: $*" >&2
  exit 1
}

# ufbx reads FBX. Its two source files come with the Rust crate of that name, which cargo unpacks without a compiler.
ufbx_version=0.23.1
ufbx_crate=0.11.5
ufbx_hashes='4a956c26a708e40d82ecb0aeaee54da709d5ba7c144c9642174970059bda7e1d  ufbx.c
f787be529af577efc04f3e3e735844a08556718dbb613d1211c2b313d72895dc  ufbx.h'
ufbx_folder=$(realpath -- "$(dirname "$0")/..")/build/ufbx-$ufbx_version
ufbx_tools=(libcurl4 libgit2-1.5 libsqlite3-0 libssh2-1)  # what cargo loads

# True if the folder has the files with the right hashes.
has_ufbx() { (cd "$1" && sha256sum --check --status <<<"$ufbx_hashes") 2>/dev/null; }

# Writes the files to $ufbx_folder, or fails and prints why. Debian's cargo is unpacked, not installed: it would bring
# a Rust compiler of half a gigabyte.
fetch_ufbx() (
  set -e
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  cd "$work"
  download() { apt-get -qq -o Acquire::Retries=3 -o APT::Sandbox::User=root download cargo-web >/dev/null; }
  download || { "${apt[@]}" update >&2 && download; }
  dpkg-deb -x cargo-web_*.deb cargo
  mkdir -p crate/src home
  touch crate/src/lib.rs
  printf '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n\n[dependencies]\nufbx = "=%s"\n' \
    "$ufbx_crate" >crate/Cargo.toml
  cd crate
  CARGO_HOME=$work/home ../cargo/usr/bin/cargo --quiet vendor --versioned-dirs vendor >/dev/null
  sources=vendor/ufbx-$ufbx_crate/ufbx
  has_ufbx "$sources" || {
    echo "the files of crate ufbx $ufbx_crate have other hashes than expected" >&2
    exit 1
  }
  mkdir -p "$ufbx_folder.part"
  cp "$sources/ufbx.c" "$sources/ufbx.h" "$ufbx_folder.part"
  rm -rf "$ufbx_folder"
  mv "$ufbx_folder.part" "$ufbx_folder"
)

packages=()
want_ufbx=
for group in "${@:-build}"; do
  case $group in
    build)
      packages+=("${build[@]}")
      has_ufbx "$ufbx_folder" || want_ufbx=1
      ;;
    python) packages+=("${python[@]}") ;;
    test) packages+=("${test[@]}") ;;
    fuzz) packages+=("${fuzz[@]}") ;;
    tsan) packages+=("${tsan[@]}") ;;
    blender) packages+=("${blender[@]}") ;;
    farm) packages+=("${farm[@]}") ;;
    cluster) packages+=("${cluster[@]}") ;;
    reference) packages+=("${reference[@]}") ;;
    web) packages+=("${web[@]}") ;;
    monitoring) packages+=("${monitoring[@]}") ;;
    runtime) packages+=("${runtime[@]}") ;;
    container) packages+=("${container[@]}") ;;
    -h | --help)
      sed -n '2,18s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *)
      echo "install-deps: unknown group '$group', see deploy/install-deps.sh --help" >&2
      exit 64
      ;;
  esac
done

for tool in dpkg-query apt-get apt-cache; do
  command -v "$tool" >/dev/null ||
    fail "this is not a Debian system (no $tool). Sinew is built and tested on Debian 12;" \
      "elsewhere install by hand what this script lists: ${packages[*]}"
done

[[ ! $want_ufbx ]] || packages+=("${ufbx_tools[@]}")

declare -A installed=()
while read -r name status; do
  [[ $status == installed ]] && installed[$name]=1
done < <(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${packages[@]}" 2>/dev/null || true)

missing=()
for package in "${packages[@]}"; do
  [[ ${installed[$package]:-} ]] || missing+=("$package")
done
log=$(mktemp)
trap 'rm -f "$log"' EXIT
as_root=()
[[ $EUID -eq 0 ]] || ! command -v sudo >/dev/null || as_root=(sudo)
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq
  -o "DPkg::Lock::Timeout=300" -o "Acquire::Retries=3" -o "Dpkg::Use-Pty=0")

# Installs ${missing[@]}.
install_packages() {
  local known
  [[ $EUID -eq 0 || ${#as_root[@]} -gt 0 ]] ||
    fail "${#missing[@]} packages are missing, and installing them needs root or sudo: ${missing[*]}"
  {
    echo "install-deps: installing ${#missing[@]} Debian packages (${*:-build}), once:"
    fold -s -w 96 <<<"${missing[*]}" | sed 's/^/  /'
    echo "install-deps: downloading and unpacking takes from 20 seconds to a few minutes ..."
  } >&2

  # The package lists are fetched only when they do not know every missing package.
  known=$(apt-cache --no-generate policy "${missing[@]}" 2>/dev/null | grep -c 'Candidate: [^(]' || true)
  if [[ $known -lt ${#missing[@]} ]]; then
    "${apt[@]}" update >&2 || fail "apt-get update failed: is the network reachable?"
  fi

  install() { "${apt[@]}" install -y --no-install-recommends "${missing[@]}" </dev/null >"$log" 2>&1; }
  # A second try with fresh lists: those at hand may name versions the mirror no longer holds.
  if ! install && ! { "${apt[@]}" update >&2 && install; }; then
    tail -n 25 "$log" >&2
    fail "apt-get install failed. Sinew needs Debian 12 (bookworm); this is:" \
      "$(sed -n 's/^PRETTY_NAME=//p' /etc/os-release 2>/dev/null)"
  fi
}

[[ ${#missing[@]} -eq 0 ]] || install_packages "$@"

if [[ $want_ufbx ]]; then
  echo "install-deps: fetching ufbx $ufbx_version, which reads FBX (10 MB, once) ..." >&2
  set +e  # "if ! fetch_ufbx" would take its own -e away
  fetch_ufbx 2>"$log"
  fetched=$?
  set -e
  if [[ $fetched -ne 0 ]]; then
    tail -n 5 "$log" >&2
    echo "install-deps: ufbx could not be fetched, so this build will not read FBX. Run deploy/install-deps.sh again" \
      "when the network is back." >&2
  fi
fi
[[ ${#missing[@]} -eq 0 && ! $want_ufbx ]] || echo "install-deps: done" >&2
