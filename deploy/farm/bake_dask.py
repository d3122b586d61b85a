"""Bakes a clip with Dask: every task bakes a part of the cache, and the parts are joined at the end.

usage: bake_dask.py CHARACTER OUT [SCHEDULER]      CHARACTER and OUT in a folder that all workers share

Needs `pip install distributed` and the package sinew on all machines. Without SCHEDULER two workers are started here. A
task whose worker dies runs again on another one; parts that are there already stay as they are.
"""

import sys

import distributed

import sinew

FPS, FRAMES_OF_A_PART = 24, 12


def bake_part(character, out, first, last):
    """Frames first to last as a part of the cache `out`."""
    rig = sinew.load(character)
    clip = next(iter(rig.clips.values()))
    with sinew.local() as client:  # or sinew.connect("host:50051")
        client.character(rig, "ddm").bake(clip.poses(fps=FPS, first=first, last=last), out, part=True)
    return first, last


def main():
    character, out = sys.argv[1:3]
    frames = len(next(iter(sinew.load(character).clips.values())).poses(fps=FPS))
    cluster = {"address": sys.argv[3]} if len(sys.argv) > 3 else {"n_workers": 2, "threads_per_worker": 1}
    with distributed.Client(**cluster) as client:
        tasks = [client.submit(bake_part, character, out, first, min(first + FRAMES_OF_A_PART, frames) - 1, retries=3)
                 for first in range(0, frames, FRAMES_OF_A_PART)]
        for task in distributed.as_completed(tasks):
            print("frames {} to {}".format(*task.result()), flush=True)
    print(sinew.join(out, range(frames)))


if __name__ == "__main__":
    main()
