#!/usr/bin/env python3
"""The model of replicas: its parts against simulations and formulas, and its predictions against three real sinewd.

usage: replica_model_test.py [--sinewd FILE --stubs FOLDER]    without them, the real servers are left out
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import heapq
import math
import pathlib
import random
import sys
import tempfile
import unittest

import replica_model
import replicas as processes

parser = argparse.ArgumentParser()
parser.add_argument("--sinewd")
parser.add_argument("--stubs", type=pathlib.Path)
options, rest = parser.parse_known_args()
if options.stubs:
    sys.path.insert(0, str(options.stubs))

TIMES, PLAN = replica_model.read(pathlib.Path(replica_model.__file__).with_name("replica_times.json"))
FRAMES = 200_000
OPENS = 900  # of sessions on real servers


def queue_p99(times: replica_model.Times, load: float, cores: int, seed: int) -> float:
    """p99 of a frame by simulation: Poisson arrivals, one queue, `cores` threads."""
    draw = random.Random(seed)
    free = [0.0] * cores
    now, latencies = 0.0, []
    for _ in range(FRAMES):
        now += draw.expovariate(load / times.frame_seconds)
        end = max(now, heapq.heappop(free)) + replica_model.lognormal(draw, times.frame_seconds, times.frame_variation)
        heapq.heappush(free, end)
        latencies.append(end - now)
    return sorted(latencies)[int(FRAMES * 0.99)]


class ModelTest(unittest.TestCase):
    def test_latency_of_frames_is_that_of_a_simulated_queue(self) -> None:
        for streams in (10, 31, 45):
            with self.subTest(streams=streams):
                load = streams * PLAN.frames_per_second * TIMES.frame_seconds
                seen = collections.Counter({streams: 1})
                predicted, saturated, _ = replica_model.frames(TIMES, PLAN, seen, random.Random(1))
                simulated = queue_p99(TIMES, load, PLAN.cores, 2)
                print(f"{load / PLAN.cores:.2f} of the processors: p99 {predicted * 1e3:.2f} ms, simulated "
                      f"{simulated * 1e3:.2f} ms")
                self.assertEqual(saturated, 0)
                self.assertLess(abs(predicted / simulated - 1), 0.15)

    def test_saturated_replica_has_no_latency(self) -> None:
        seen = collections.Counter({100: 1})
        p99, saturated, served = replica_model.frames(TIMES, PLAN, seen, random.Random(1))
        self.assertEqual((p99, saturated), (math.inf, 1.0))
        self.assertAlmostEqual(served, PLAN.cores / TIMES.frame_seconds)

    def test_hit_rate_is_that_of_the_formula(self) -> None:
        times = dataclasses.replace(TIMES, bound_bytes=1, bound_variation=0)
        for entries in (20, 100, 500):
            with self.subTest(entries=entries):
                plan = dataclasses.replace(PLAN, memory_bytes=entries, rigs=1000, streams=0.01)
                rates = [(rank + 1) ** -plan.exponent for rank in range(plan.rigs)]
                formula = replica_model.predicted_hit_rate(entries, [rate / sum(rates) for rate in rates])
                simulated = replica_model.simulate(times, plan, 1, "hash", 1, opens=40_000).hit_rate
                self.assertLess(abs(formula - simulated), 0.02, (formula, simulated))

    def test_cache_drops_what_was_used_first_but_nothing_in_use(self) -> None:
        cache = replica_model.Cache(2)
        for rig in (1, 2):
            self.assertFalse(cache.open(rig, 1))
            cache.close(rig)
        self.assertTrue(cache.open(1, 1))
        self.assertFalse(cache.open(3, 1))
        self.assertFalse(cache.open(2, 1))  # dropped for 3
        self.assertTrue(cache.open(1, 1))   # in use
        self.assertEqual(cache.used, 3)     # all in use
        for rig in (1, 1, 2, 3):
            cache.close(rig)
        self.assertEqual(cache.used, 2)

    def test_ring_moves_only_what_a_new_replica_takes(self) -> None:
        before, after = replica_model.Ring(9, 1), replica_model.Ring(10, 1)
        draw = random.Random(1)
        keys = [draw.random() for _ in range(20_000)]
        moved = [key for key in keys if next(before.walk(key)) != next(after.walk(key))]
        self.assertEqual({next(after.walk(key)) for key in moved}, {9})
        self.assertLess(abs(len(moved) / len(keys) - 0.1), 0.02)

    def test_bound_holds_where_a_rig_is_popular(self) -> None:
        plan = dataclasses.replace(PLAN, memory_bytes=2e8, exponent=1.1)
        free = replica_model.simulate(TIMES, plan, 20, "hash", 1)
        bounded = replica_model.simulate(TIMES, plan, 20, "bounded", 1)
        self.assertGreater(free.most, 3)
        self.assertLess(bounded.most, replica_model.BOUND + 0.1)
        self.assertGreater(bounded.away, 0.05)
        self.assertLess(bounded.saturated, free.saturated)

    def test_same_seed_gives_the_same_figures(self) -> None:
        first, second = (replica_model.simulate(TIMES, PLAN, 3, "hash", seed=5, opens=5000) for _ in range(2))
        self.assertEqual(first, second)
        self.assertNotEqual(first, replica_model.simulate(TIMES, PLAN, 3, "hash", seed=6, opens=5000))


@unittest.skipUnless(options.sinewd and options.stubs, "no --sinewd and --stubs")
class MeasuredTest(unittest.TestCase):
    def test_three_replicas_do_what_the_model_says(self) -> None:
        try:
            import replica_measure  # needs gRPC  pylint: disable=import-outside-toplevel
        except ImportError as missing:
            self.skipTest(str(missing))
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        folder = pathlib.Path(temporary.name)
        # A client may use all of the memory, and the estimate of one bind is 9 MB.
        servers = [processes.Replica(options.sinewd, number, folder, "--set", "max-bound-bytes=35000000", "--client-share",
                                     1)
                   for number in range(3)]
        for server in servers:
            self.addCleanup(server.stop)
            server.start()
        found = replica_measure.measure([replica_measure.Server(server.address, server.http) for server in servers],
                                        rigs=60, opens=OPENS, exponent=0.9, seed=2)
        print({name: round(value, 4) for name, value in found.items()})
        self.assertEqual(found["hit_rate"], found["replayed_hit_rate"], "the caches of sinewd are not the model's")
        self.assertLess(abs(found["hit_rate"] - found["predicted_hit_rate"]), 0.1)
        self.assertLess(abs(found["open_mean"] / found["predicted_open_mean"] - 1), 0.5)


if __name__ == "__main__":
    unittest.main(argv=[__file__, *rest])
