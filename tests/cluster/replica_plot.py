"""Draws what replica_model.py predicts. Needs python3-matplotlib."""

from __future__ import annotations

import math
import pathlib
from typing import TYPE_CHECKING

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  pylint: disable=wrong-import-position

if TYPE_CHECKING:
    from replica_model import Result

# Colours that differ also for colour-blind readers, and marks for print.
STYLES = {"spread": ("#999999", "s", "any replica"), "hash": ("#d55e00", "^", "hash of the rig"),
          "bounded": ("#0072b2", "o", "hash of the rig, bounded load")}


def draw(results: list[Result], path: pathlib.Path) -> None:
    """Four figures over the number of replicas, a line for each policy."""
    figure, axes = pyplot.subplots(2, 2, figsize=(10, 6.4), sharex=True)
    panels = (("hit rate of bound data", "hit_rate", 1), ("frame, p99 (ms)", "frame_p99", 1e3),
              ("opening a session, p99 (ms)", "open_p99", 1e3),
              ("cost of a million frames", "cost_per_million_frames", 1))
    for axis, (title, field, scale) in zip(axes.flat, panels):
        for policy, (colour, mark, label) in STYLES.items():
            line = [each for each in results if each.policy == policy]
            values = [getattr(each, field) * scale for each in line]
            axis.plot([each.replicas for each in line],
                      [value if math.isfinite(value) else math.nan for value in values], color=colour, marker=mark,
                      label=label, markersize=5)
        axis.set_title(title, fontsize=11, loc="left")
        axis.set_xscale("log")
        axis.set_ylim(0, 1.02 if field == "hit_rate" else None)
        axis.grid(alpha=0.3)
        if field == "frame_p99":
            worst = [each for each in results if not math.isfinite(each.frame_p99)]
            if worst:
                axis.set_ylim(0, axis.get_ylim()[1] * 1.25)
                marks, = axis.plot([each.replicas for each in worst], [axis.get_ylim()[1] * 0.93] * len(worst), "x",
                                   markersize=8, color=STYLES[worst[0].policy][0])
                axis.legend([marks], ["busiest replicas saturated: no limit"], fontsize=9, loc="lower right")
    axes[0][0].legend(fontsize=9, loc="lower right")
    for axis in axes[1]:
        axis.set_xlabel("replicas")
        axis.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
    figure.tight_layout()
    figure.savefig(path, dpi=110)
