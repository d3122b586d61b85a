"""Bakes a clip with OpenCue: a layer whose frames are chunks of the clip, and a layer that joins the parts.

usage: opencue_outline.py FRAMES CHUNK OUT BAKE-ARGUMENT...
  opencue_outline.py 0-999 50 /share/walk.pc2 /share/hero.glb --deformer ddm --clip Walk --fps 24 --local

Needs `pip install opencue-pyoutline opencue-pycue packaging` and a Cuebot in $CUEBOT_HOSTS. With --print in front the job is only
written to stdout, as the specification that Cuebot gets. FRAMES and CHUNK are in whole frames of the clip. A frame of the
layer that fails is tried again, as Cuebot is set up; parts that are right are kept.
"""

import os
import shlex
import sys

import outline
from outline import cuerun
from outline.backend import cue
from outline.modules.shell import Shell


def bake_outline(frames, chunk, out, arguments):
    """The job: `#FRAMESPEC#` becomes the frames of a chunk, which sinew reads as they are."""
    job = outline.Outline("sinew_bake", frame_range=frames, show=os.environ.get("SHOW", "testing"),
                          shot=os.environ.get("SHOT", "shot"))
    part = f"sinew bake {shlex.join(arguments)} --out {shlex.quote(out)} --frames #FRAMESPEC# --part --resume"
    bake = Shell("bake", command=part, range=frames, chunk=chunk, threads=1, setshot=False)
    join = Shell("join", command=f"sinew join {shlex.quote(out)} --frames {frames}", range="1", chunk=1, threads=1,
                 setshot=False)
    join.depend_all(bake)
    job.add_layer(bake)
    job.add_layer(join)
    return job


def main():
    arguments = sys.argv[1:]
    prints = arguments[:1] == ["--print"]
    frames, chunk, out, *bake = arguments[1:] if prints else arguments
    job = bake_outline(frames, int(chunk), out, bake)
    if prints:
        launcher = cuerun.OutlineLauncher(job)
        print(cue.serialize_simple(launcher))
    else:
        cuerun.launch(job, use_pycuerun=False)


if __name__ == "__main__":
    main()
