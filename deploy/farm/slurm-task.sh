#!/usr/bin/env bash
# One task of submit-slurm.sh: bakes its part of the cache.
#
# usage: slurm-task.sh FIRST LAST CHUNK OUT BAKE-ARGUMENT...      with $SLURM_ARRAY_TASK_ID, from 0
set -euo pipefail
first=$1 last=$2 chunk=$3 out=$4
shift 4
from=$((first + SLURM_ARRAY_TASK_ID * chunk))
to=$((from + chunk - 1 < last ? from + chunk - 1 : last))
wait=(--wait 300)
[[ " $* " != *" --wait"* ]] || wait=()
code=0
sinew bake "$@" --out "$out" --frames "$from-$to" --part --resume "${wait[@]}" || code=$?
# No server, or one that is busy, is worth another try; anything else would fail again.
if [[ ($code == 69 || $code == 75) && ${SLURM_RESTART_COUNT:-0} -lt 10 ]]; then
  scontrol requeue "$SLURM_JOB_ID"
else
  exit "$code"
fi
