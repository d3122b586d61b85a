"""Bakes a clip with Ray: every task bakes a part of the cache, and the parts are joined at the end.

usage: bake_ray.py CHARACTER OUT [ADDRESS]      CHARACTER and OUT in a folder that all workers share

Needs `pip install ray` and the package sinew on all machines. Without ADDRESS two workers are started here. A task whose
worker dies runs again on another one; parts that are there already stay as they are.
"""

import sys

import ray

import sinew

FPS, FRAMES_OF_A_PART = 24, 12


@ray.remote(num_cpus=1, max_retries=3)
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
    ray.init(**({"address": sys.argv[3]} if len(sys.argv) > 3 else {"num_cpus": 2}))
    tasks = [bake_part.remote(character, out, first, min(first + FRAMES_OF_A_PART, frames) - 1)
             for first in range(0, frames, FRAMES_OF_A_PART)]
    while tasks:
        done, tasks = ray.wait(tasks)
        print("frames {} to {}".format(*ray.get(done[0])), flush=True)
    print(sinew.join(out, range(frames)))


if __name__ == "__main__":
    main()
