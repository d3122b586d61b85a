#!/usr/bin/env bash
# Shows Sinew in one command: installs what is missing, builds, starts a server, deforms a character with several
# methods, checks the results and draws them.
#
# usage: deploy/demo.sh [MODEL]
#   MODEL   a rigged, animated .glb, .gltf, .vrm, .fbx or .dae file; default: model:hand, which is built in
# Writes to build/demo: a point cache with its manifest per method; methods.png; compare.png, coloured by the distance
# from linear blend; and of built-in characters implicit.png (a closing joint), muscles.png (an arm with muscles under
# its skin) and weights.png (skin weights by heat). The server listens on a free loopback port and is stopped at the
# end.
set -euo pipefail
if [[ ${1:-} == -h || ${1:-} == --help || $# -gt 1 ]]; then
  sed -n '2,10s/^# \{0,1\}//p' "$0"
  [[ $# -eq 1 ]] || exit 64
  exit 0
fi
model=${1:-model:hand}
if [[ $model != model:* ]]; then
  [[ -r $model ]] || {
    echo "demo: cannot read $model" >&2
    exit 65
  }
  model=$(realpath -- "$model")
fi
cd "$(dirname "$0")/.."
out=build/demo
# method and the format of its cache
methods=("lbs pc2" "dqs mdd" "bulge_free_dqs pc2" "spherical_blend pc2" "cor npy" "delta_mush pc2" "ddm npy"
  "enhanced_ddm pc2")

bold='' plain=''
[[ ! -t 1 ]] || bold=$'\e[1m' plain=$'\e[0m'
step() { printf '\n%s== %s%s\n' "$bold" "$*" "$plain"; }
# number NAME JSON: the first number of that name.
number() { sed -n "s/.*\"$1\": *\(-\{0,1\}[0-9.][0-9.eE+-]*\).*/\1/p" <<<"$2" | head -n 1; }
# milliseconds COMMAND...: runs it; sets $elapsed to the wall time and $printed to its output.
milliseconds() {
  local start=${EPOCHREALTIME//[^0-9]/}
  printed=$("$@")
  elapsed=$(((${EPOCHREALTIME//[^0-9]/} - start) / 1000))
}

deploy/install-deps.sh build
if [[ ! -x build/release/bin/sinewd || ! -x build/release/bin/sinew ]]; then
  step "Build (once, some minutes on two cores)"
fi
mkdir -p build
[[ -s build/release/build.ninja ]] || cmake --preset release >build/release.configure.log 2>&1 || {
  cat build/release.configure.log >&2
  exit 1
}
cmake --build --preset release --parallel "$(nproc)" --target sinewd sinew
sinew=build/release/bin/sinew

step "Start sinewd"
rm -rf $out
mkdir -p $out
build/release/bin/sinewd --listen 127.0.0.1:0 --http off --ready-file $out/ready.json \
  >$out/sinewd.out 2>$out/sinewd.log &
server=$!
stop() {
  kill -TERM $server 2>/dev/null || true
  wait $server 2>/dev/null || true
  rm -f $out/ready.json $out/sinewd.out
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
for _ in {1..200}; do
  [[ ! -s $out/ready.json ]] || break
  kill -0 $server 2>/dev/null || break
  sleep 0.05
done
if [[ ! -s $out/ready.json ]]; then
  echo "demo: sinewd did not start:" >&2
  tail -n 20 $out/sinewd.log >&2
  exit 70
fi
SINEW_SERVER=$(sed -n 's/^sinewd: listening on \([^,]*\).*/\1/p' $out/sinewd.out)
export SINEW_SERVER
echo "sinewd (pid $server) listens on $SINEW_SERVER"

step "Inspect $model"
$sinew inspect "$model"

step "Upload"
rig=$($sinew upload "$model")
echo "$rig"

step "Bind, stream the clip, write a cache, verify it"
rows=()
caches=()
deformers=()
frames=1
for line in "${methods[@]}"; do
  read -r method format <<<"$line"
  cache=$out/$method.$format
  milliseconds $sinew bind "$rig" --deformer "$method"
  bind_ms=$elapsed
  milliseconds $sinew --json bake "$model" --deformer "$method" --out "$cache"
  frames=$(number frames "$printed")
  rows+=("$(printf '%-15s %8s %7s %10s %12s  %s' "$method" "$bind_ms" "$frames" \
    "$(printf %.0f "$(number frames_per_second "$printed")")" "$(stat -c %s "$cache")" "$cache")")
  caches+=("$cache")
  deformers+=(--deformer "$method")
done
for cache in "${caches[@]}"; do $sinew verify "$cache"; done

step "Draw the methods side by side"
picture=$out/methods.png
middle=$((frames / 24 * 12))  # one of those that are compared below
$sinew render "$model" "${deformers[@]}" --frame $middle --size 560x560 --out $picture

step "Compare the methods"
recipes=()
for line in "${methods[@]}"; do recipes+=("${line% *}"); done
$sinew compare "$model" --deformers "${recipes[@]}" --frames 0-$((frames - 1))x12 --picture $out/compare.png \
  --frame $middle --size 560x560

step "Close a joint with implicit skinning"
$sinew render model:cylinder --deformer lbs --deformer dqs --deformer implicit_skinning --frame 110 --azimuth 75 \
  --size 400x400 --out $out/implicit.png

step "Flex an arm with muscles"
$sinew render model:arm --deformer 'dqs | implicit' --translucent --frame 24 --size 400x400 --out $out/muscles.png

step "Compute skin weights by heat"
$sinew weights model:tube --method heat --out $out/tube.sinewrig
$sinew render $out/tube.sinewrig --weights all --size 300x300 --out $out/weights.png

step "Server statistics"
$sinew stats

step "Summary"
printf '%-15s %8s %7s %10s %12s  %s\n' method "bind ms" frames "frames/s" bytes file
printf '%s\n' "${rows[@]}"
cat <<TEXT

pictures   $picture and $out/compare.png (distance from the first method), both frame $middle,
           $out/implicit.png (a closing joint), $out/muscles.png, $out/weights.png (by heat)
rig        $out/tube.sinewrig: a tube with computed weights
manifests  FILE.json beside each cache: a checksum per frame, for \`sinew verify\`
server log $out/sinewd.log
For Blender, bake with --split --axes blender: client/docs/blender.md says how to apply the caches.
TEXT
