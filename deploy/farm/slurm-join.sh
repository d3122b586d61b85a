#!/usr/bin/env bash
# The last job of submit-slurm.sh: joins the parts. May run again after it was killed.
#
# usage: slurm-join.sh FIRST-LAST OUT
set -euo pipefail
sinew join "$2" --frames "$1"
