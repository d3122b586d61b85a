"""Plots how much volume each method keeps while a tube bends and twists (needs matplotlib).

usage: compare_methods.py [OUT.png]         default: volume.png
"""
import sys

import matplotlib

matplotlib.use("Agg")  # no display
import matplotlib.pyplot as plt

import sinew

METHODS = ("lbs", "dqs", "cor", "ddm")
out = sys.argv[1] if len(sys.argv) > 1 else "volume.png"
tube = sinew.load("model:tube")
with sinew.local() as client:
    characters = [client.character(tube, method) for method in METHODS]
    for name, clip in tube.clips.items():
        poses = clip.poses(fps=12)
        measured = sinew.compare(characters, poses, self_intersections=False)
        for method, metrics in zip(METHODS, measured):
            plt.plot(metrics["frames"]["volume_ratio"], label=f"{name}: {method}")
plt.xlabel("frame")
plt.ylabel("volume / rest volume")
plt.legend(fontsize="small")
plt.savefig(out)
print(out)
