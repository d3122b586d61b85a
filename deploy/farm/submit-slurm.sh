#!/usr/bin/env bash
# Bakes a clip with a Slurm array job, one part of the cache per task, and joins the parts.
#
# usage: deploy/farm/submit-slurm.sh FIRST-LAST CHUNK OUT BAKE-ARGUMENT...
#   deploy/farm/submit-slurm.sh 0-999 50 walk.pc2 hero.glb --deformer ddm --clip Walk --fps 24 --local
# OUT and the character have to be in a folder that all nodes share. Options for sbatch, such as a partition, are taken
# from $SBATCH_PARTITION and its like. Prints the numbers of the array job and of the job that joins. A task whose node dies,
# or that finds no server, is queued again and bakes only its own part; parts of an earlier job that are still right are
# kept.
set -euo pipefail
[[ $# -ge 4 ]] || {
  sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
  exit 64
}
[[ $2 =~ ^[1-9][0-9]*$ ]] || {
  echo "submit-slurm: CHUNK: got '$2', need a number of frames for each task, at least 1" >&2
  exit 64
}
[[ $1 =~ ^([0-9]+)-([0-9]+)$ ]] || {
  echo "submit-slurm: got '$1', need a range of frames FIRST-LAST, such as 0-999" >&2
  exit 64
}
first=$((10#${BASH_REMATCH[1]})) last=$((10#${BASH_REMATCH[2]})) chunk=$2 out=$3
shift 3
[[ $first -le $last ]] || {
  echo "submit-slurm: got $first-$last, need a last frame that is not before the first" >&2
  exit 64
}
[[ $out != *[{}]* && " $* " != *" --split "* ]] || {
  echo "submit-slurm: need one cache for each job, without --split and words in braces" >&2
  exit 64
}
folder=$(dirname "$(realpath "$0")")
tasks=$(((last - first) / chunk + 1))
# Without an answer sbatch itself says no.
most=$(scontrol show config 2>/dev/null | sed -n 's/^MaxArraySize *= *//p') || most=
[[ -z $most || $tasks -le $most ]] || {
  echo "submit-slurm: got $tasks tasks, this cluster allows $most; take a larger CHUNK than $chunk" >&2
  exit 64
}
array=$(sbatch --parsable --requeue --open-mode=append --array="0-$((tasks - 1))" --job-name="bake-$(basename "$out")" \
  "$folder/slurm-task.sh" "$first" "$last" "$chunk" "$out" "$@")
echo "$array"
sbatch --parsable --requeue --dependency="afterok:${array%%;*}" --kill-on-invalid-dep=yes \
  --job-name="join-$(basename "$out")" "$folder/slurm-join.sh" "$first-$last" "$out"
