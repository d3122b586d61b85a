#!/usr/bin/env bash
# Builds oneTBB, Embree, Abseil, Protobuf and gRPC with the thread sanitizer, from Debian's sources of the installed versions.
#
# usage: tests/tsan_libraries.sh FOLDER [JOBS]
# The thread sanitizer must see the locks of these libraries: without, it reports thousands of races that are none.
# Headers, libraries and CMake configurations are installed under FOLDER. A library that is there already is kept. Takes
# about 30 minutes on two cores and 4 GB of disk. Needs root or sudo when packages are missing.
set -euo pipefail
cd "$(dirname "$0")/.."
[[ $# -ge 1 ]] || {
  sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
  exit 64
}
deploy/install-deps.sh build tsan
mkdir -p "$1"
prefix=$(realpath "$1")
jobs=${2:-$(nproc)}
work=$prefix/work
mkdir -p "$work/lists/partial"

# The package lists of sources, apart from those of the system.
suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
printf 'deb-src http://deb.debian.org/%s main\n' \
  "debian $suite" "debian $suite-updates" "debian-security $suite-security" >"$work/sources.list"
apt=(apt-get -qq -o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=/dev/null
  -o "Dir::State::lists=$work/lists" -o APT::Sandbox::User=root)

flags='-fsanitize=thread -fno-omit-frame-pointer -g1 -Wno-error'
common=(
  -G Ninja -Wno-dev -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_PREFIX_PATH="$prefix"
  -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=ON -DCMAKE_CXX_STANDARD=17 -DCMAKE_POSITION_INDEPENDENT_CODE=ON
  -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG $flags" -DCMAKE_C_FLAGS_RELEASE="-O1 -DNDEBUG $flags"
  -DCMAKE_INSTALL_RPATH="$prefix/lib" -DBUILD_TESTING=OFF
)

# library PACKAGE OPTION...: builds and installs the source of an installed package.
library() {
  local package=$1 source version
  shift
  read -r source version < <(dpkg-query -W -f '${source:Package} ${source:Version}\n' "$package")
  local done="$work/$source-$version.done"
  [[ ! -e $done ]] || return 0
  echo "tsan_libraries: [$SECONDS s] $source $version"
  [[ -n $(find "$work/lists" -maxdepth 1 -name '*Sources*') ]] || "${apt[@]}" update
  rm -rf "${work:?}/$source"
  mkdir "$work/$source"
  (
    cd "$work/$source"
    # Some mirrors lack Debian's part; without its patches the library is the same for our purpose. One of them is that
    # Embree does not install a file that Debian removes.
    "${apt[@]}" source --only-source "$source=$version" || {
      "${apt[@]}" source --tar-only --only-source "$source=$version"
      rm -rf -- */
      tar -xf ./*.orig.tar.*
      touch "$(echo */)readme.pdf"
    }
  ) >"$work/$source.log" 2>&1 || fail "$source"
  local tree
  tree=$(find "$work/$source" -mindepth 1 -maxdepth 1 -type d)
  {
    cmake -S "$tree" -B "$work/$source/build" "${common[@]}" "$@" &&
      cmake --build "$work/$source/build" --parallel "$jobs" &&
      cmake --install "$work/$source/build"
  } >>"$work/$source.log" 2>&1 || fail "$source"
  rm -rf "${work:?}/$source"
  touch "$done"
}
fail() {
  tail -n 30 "$work/$1.log" >&2
  echo "tsan_libraries: FAILED: $1, see $work/$1.log" >&2
  exit 1
}

library libtbb-dev -DTBB_TEST=OFF -DTBB_STRICT=OFF -DTBBMALLOC_BUILD=OFF -DTBB_DISABLE_HWLOC_AUTOMATIC_SEARCH=ON
# For any x86-64, so that it is built once. It overwrites the flags for Release.
library libembree-dev -DEMBREE_ISPC_SUPPORT=OFF -DEMBREE_TUTORIALS=OFF -DEMBREE_MAX_ISA=SSE2 -DEMBREE_RAY_MASK=ON \
  -DEMBREE_IGNORE_CMAKE_CXX_FLAGS=OFF "-DCMAKE_CXX_FLAGS=$flags"
library libabsl-dev -DABSL_PROPAGATE_CXX_STD=ON
library libprotobuf-dev -Dprotobuf_BUILD_TESTS=OFF -Dprotobuf_BUILD_PROTOC_BINARIES=ON
plugins=()
for language in CSHARP NODE OBJECTIVE_C PHP PYTHON RUBY; do
  plugins+=("-DgRPC_BUILD_GRPC_${language}_PLUGIN=OFF")
done
library libgrpc++-dev "${plugins[@]}" -DgRPC_BUILD_CSHARP_EXT=OFF -DgRPC_INSTALL=ON -DgRPC_BUILD_TESTS=OFF \
  -DgRPC_ABSL_PROVIDER=package -DgRPC_CARES_PROVIDER=package -DgRPC_PROTOBUF_PROVIDER=package \
  -DgRPC_RE2_PROVIDER=package -DgRPC_SSL_PROVIDER=package -DgRPC_ZLIB_PROVIDER=package
