#!/usr/bin/env bash
# Fetches freely available characters for the optional tests and for the figures in client/docs/figures.md.
#
# usage: deploy/fetch-models.sh [FOLDER]
#   FOLDER   default: $SINEW_SHARED_DATA, else ../shared/data, which is where the tests look
# Writes FOLDER/models/. Files that are there with the right SHA-256 are kept; others are downloaded and checked.
# Needs curl for files from GitHub and apt-get for those from Debian's package assimp-testmodels (which is downloaded,
# not installed).
# Exit code: 0 all files are there, 1 some could not be fetched.
set -uo pipefail
if [[ ${1:-} == -h || ${1:-} == --help || $# -gt 1 ]]; then
  sed -n '2,9s/^# \{0,1\}//p' "$0"
  [[ $# -eq 1 ]] && exit 0
  exit 64
fi
cd "$(dirname "$0")/.." || exit 1
folder=${1:-${SINEW_SHARED_DATA:-../shared/data}}/models
mkdir -p "$folder" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
github=https://raw.githubusercontent.com
failed=0

# right FILE SHA256: whether the file has that hash.
right() { [[ -f $1 ]] && sha256sum --status --check - <<<"$2  $1"; }

# take NAME SHA256 LICENCE COMMAND...: the command writes $work/got.
take() {
  local name=$1 sha=$2 licence=$3
  shift 3
  if right "$folder/$name" "$sha"; then
    echo "have     $name ($licence)"
    return
  fi
  rm -f "$work/got"
  "$@" && right "$work/got" "$sha" && mv "$work/got" "$folder/$name" && chmod 644 "$folder/$name" && {
    echo "fetched  $name ($licence)"
    return
  }
  if [[ -s $work/got ]]; then echo "FAILED   $name: the file has changed, its SHA-256 is not $sha" >&2; else
    echo "FAILED   $name: not reachable" >&2
  fi
  failed=1
}

from_github() { curl --silent --fail --location --max-time 300 --output "$work/got" "$github/$1"; }

# from_debian PATH: a file below /usr/share/assimp/models of the package assimp-testmodels.
from_debian() {
  if [[ ! -d $work/assimp ]]; then
    if [[ -d /usr/share/assimp/models ]]; then
      mkdir -p "$work/assimp/usr/share/assimp" && ln -s /usr/share/assimp/models "$work/assimp/usr/share/assimp/models"
    else
      (cd "$work" && apt-get -qq download assimp-testmodels 2>"$work/log" &&
        dpkg-deb -x assimp-testmodels_*.deb assimp) || {
        cat "$work/log" >&2
        echo "fetch-models: could not download the package assimp-testmodels; try apt-get update" >&2
        return 1
      }
    fi
  fi
  cp "$work/assimp/usr/share/assimp/models/$1" "$work/got"
}

khronos=KhronosGroup/glTF-Sample-Assets/main/Models
godot=godotengine/godot-demo-projects/cae8dc567a56d3e7936f171bcb85f0ccb9634ad0
mesh2motion=Mesh2Motion/mesh2motion-app/029e46c7cd12a087a1100d303c91e7dca8f3ef8f
ufbx=ufbx/ufbx/fcc5d6ba444cfd3eb80677dba5e37e493941abe5/data

take SimpleSkin.gltf 2ccb43a4a0a8d2663088684b53e254358308f48e3f4bcafa999e5b5898e2e0fa \
  "BSD-3-Clause, Debian assimp-testmodels" from_debian glTF2/simple_skin/simple_skin.gltf
take CesiumMan.glb 659349b0a374b73d5362a61070039bc8601401bbdeacbece4f3680fb4bfd41b0 \
  "CC-BY 4.0 with trademark limits, Cesium" from_github $khronos/CesiumMan/glTF-Binary/CesiumMan.glb
take RiggedFigure.glb d6be85417d3e256861ee733eea6916093a7af7c79c16366181fd8abcaeb38cf5 \
  "CC-BY 4.0, Cesium" from_github $khronos/RiggedFigure/glTF-Binary/RiggedFigure.glb
take mannequiny.glb 6b0273d9e8eef159aee9cbc0e75752bbe6abbea56fbcb1a8534e6173f80dda3c \
  "CC-BY 4.0, GDQuest and contributors" from_github $godot/3d/ragdoll_physics/characters/mannequiny.glb
take Horse.glb c6f890c307e457b9aa7cceda1fbc1e39f8e6723ef340f23e3e667e122673b51c \
  "CC0, Mesh2Motion" from_github $mesh2motion/static/animations/horse-animations.glb
take maya_kenney_character_7700_binary.fbx b84398b1876edb4a718615985a801393fcc0548e8e65a5c3ba133f30993c3b0e \
  "MIT or Unlicense, ufbx; character CC0, Kenney" from_github $ufbx/maya_kenney_character_7700_binary.fbx
take maya_kenney_character_4.obj 28dde29038038a83ca27530ef5e44ae5402363a77083bcbc87f715045121d4db \
  "MIT or Unlicense, ufbx; character CC0, Kenney" from_github $ufbx/maya_kenney_character_4.obj
take maya_kenney_character_9.obj b7375efad147d22c2e9ed07fb1847ef72638aa79ea8128221f982d23ed41d2b2 \
  "MIT or Unlicense, ufbx; character CC0, Kenney" from_github $ufbx/maya_kenney_character_9.obj
exit $failed
