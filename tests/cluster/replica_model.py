#!/usr/bin/env python3
"""A model of many replicas behind a balancer: hit rate of bound data, latency of frames and openings, cost.

usage: replica_model.py [--input FILE] [--replicas N,N,...] [--seed N] [--json FILE] [--plot FILE]
       replica_model.py --measure ADDRESS=HTTP ... --stubs FOLDER [--rigs N] [--opens N] [--exponent S] [--seed N]

The first predicts, from times that were measured (replica_times.json) and a plan: load, memory, price. The second
drives real servers with the same law of popularity and compares what they do with the model; see replica_measure.py.
deploy/cluster/model.md explains the model. The plot needs python3-matplotlib.
"""

from __future__ import annotations

import argparse
import bisect
import collections
import dataclasses
import heapq
import json
import math
import pathlib
import random
import sys
from collections.abc import Iterator

PLACES = 1024         # of a replica on the ring: haproxy has 16 for each unit of weight, which is 64
BOUND = 1.5           # hash-balance-factor
BOUND_FROM = 16       # calls a replica, above which the bound holds
WARM_UP = 0.5         # of the openings, which fill the caches
SNAPSHOTS = 200       # of the streams of every replica
DRAWS = 200_000       # of latencies
POLICIES = ("spread", "hash", "bounded")
REPLICAS = (1, 2, 3, 6, 10, 30, 100, 300, 1000)


@dataclasses.dataclass(frozen=True)
class Times:
    """What was measured on one replica."""
    frame_seconds: float            # processor time of a frame: mean
    frame_variation: float          # standard deviation over mean
    open_seconds: float             # opening a session whose bound data is in memory
    fetch_seconds: float            # first byte from the store
    fetch_bytes_per_second: float   # with checks and parsing
    bind_seconds: float             # of bound data of mean size
    miss_variation: float           # of fetches and binds of one size: standard deviation over mean
    bound_bytes: float              # in memory, with its rig: mean over rigs
    bound_variation: float


@dataclasses.dataclass(frozen=True)
class Plan:
    """What is asked for."""
    cores: int                      # of a replica
    memory_bytes: float             # of a replica, for bound data
    rigs: int                       # of the catalogue
    exponent: float                 # rig k is opened in proportion to k to the power of -exponent
    streams: float                  # open on a replica, mean over replicas
    stream_seconds: float           # exponentially distributed
    frames_per_second: float        # of a stream
    new_share: float                # of the openings that miss: the store has no bound data either
    price: float                    # of a replica for an hour


@dataclasses.dataclass
class Result:
    replicas: int
    policy: str
    hit_rate: float
    away: float                     # openings at another replica than the first on the ring
    most: float                     # streams of the busiest replica over the mean
    saturated: float                # part of the frames that are asked of replicas with no processor time left
    frame_p99: float                # infinite if more than 1 % of frames are
    open_p50: float
    open_p99: float
    hours_per_million_frames: float
    cost_per_million_frames: float


class Ring:
    """Consistent hashing; the places are drawn once, so replica k has the same places in every ring."""

    def __init__(self, replicas: int, seed: int, places: int = PLACES) -> None:
        places_of = [random.Random(f"{seed} replica {number}") for number in range(replicas)]
        points = sorted((draw.random(), number) for number, draw in enumerate(places_of) for _ in range(places))
        self.points = [point for point, _ in points]
        self.owners = [number for _, number in points]

    def walk(self, key: float) -> Iterator[int]:
        """The replicas from a key on, clockwise, some repeatedly."""
        start = bisect.bisect(self.points, key)
        for step in range(len(self.owners)):
            yield self.owners[(start + step) % len(self.owners)]


class Cache:
    """Bound data of one replica: what no stream uses leaves in the order of its last use."""

    def __init__(self, capacity: float) -> None:
        self.capacity, self.used = capacity, 0.0
        self.idle: collections.OrderedDict[int, float] = collections.OrderedDict()
        self.busy: dict[int, list[float]] = {}  # size, streams

    def open(self, rig: int, size: float) -> bool:
        """Whether it was there."""
        if rig in self.busy:
            self.busy[rig][1] += 1
            return True
        hit = self.idle.pop(rig, None) is not None
        if not hit:
            self.used += size
            while self.used > self.capacity and self.idle:
                self.used -= self.idle.popitem(last=False)[1]
        self.busy[rig] = [size, 1]
        return hit

    def close(self, rig: int) -> None:
        size, streams = self.busy[rig]
        if streams > 1:
            self.busy[rig][1] -= 1
            return
        del self.busy[rig]
        self.idle[rig] = size
        while self.used > self.capacity and self.idle:
            self.used -= self.idle.popitem(last=False)[1]


def lognormal(draw: random.Random, mean: float, variation: float) -> float:
    sigma = math.sqrt(math.log1p(variation ** 2))
    return draw.lognormvariate(math.log(mean) - sigma ** 2 / 2, sigma) if sigma else mean


def popularity(rigs: int, exponent: float) -> list[float]:
    """Cumulative weights, for random.choices."""
    total, weights = 0.0, []
    for rank in range(1, rigs + 1):
        total += rank ** -exponent
        weights.append(total)
    return weights


def choose(ring: Ring, policy: str, key: float, streams: list[int], total: int, draw: random.Random) -> tuple[int, int]:
    """The replica of a call, and the first on the ring."""
    if policy == "spread":
        return draw.randrange(len(streams)), -1
    walk = ring.walk(key)
    home = chosen = next(walk)
    if policy == "bounded" and total >= BOUND_FROM * len(streams):
        allowed = max(1, math.ceil((total + 1) * BOUND / len(streams)))
        while streams[chosen] >= allowed:
            chosen = next(walk)
    return chosen, home


def simulate(times: Times, plan: Plan, replicas: int, policy: str, seed: int, opens: int = 0) -> Result:
    """Openings as a Poisson process, until the caches have been filled and as much again."""
    draw = random.Random(f"{seed} {replicas} {policy}")
    ring = Ring(replicas, seed)
    keys = [random.Random(f"{seed} rig {rig}").random() for rig in range(plan.rigs)]
    sizes = [lognormal(random.Random(f"{seed} size {rig}"), times.bound_bytes, times.bound_variation)
             for rig in range(plan.rigs)]
    caches = [Cache(plan.memory_bytes) for _ in range(replicas)]
    streams = [0] * replicas
    ends: list[tuple[float, int, int]] = []
    opens = opens or int(max(20_000, 5 * replicas * plan.memory_bytes / times.bound_bytes))
    rate = replicas * plan.streams / plan.stream_seconds
    warm, now = int(opens * WARM_UP), 0.0
    every = max(1, (opens - warm) // SNAPSHOTS)
    hits = away = 0
    latencies: list[float] = []
    seen: collections.Counter[int] = collections.Counter()
    most = 0.0
    for number, rig in enumerate(draw.choices(range(plan.rigs), cum_weights=popularity(plan.rigs, plan.exponent),
                                              k=opens)):
        now += draw.expovariate(rate)
        while ends and ends[0][0] < now:
            _, replica, closed = heapq.heappop(ends)
            streams[replica] -= 1
            caches[replica].close(closed)
        chosen, home = choose(ring, policy, keys[rig], streams, len(ends), draw)
        hit = caches[chosen].open(rig, sizes[rig])
        streams[chosen] += 1
        heapq.heappush(ends, (now + draw.expovariate(1 / plan.stream_seconds), chosen, rig))
        if number < warm:
            continue
        hits += hit
        away += chosen != home
        latencies.append(times.open_seconds + (0 if hit else miss_seconds(times, plan, sizes[rig], draw)))
        if (number - warm) % every == 0:
            seen.update(streams)
            most += max(streams) / (len(ends) / replicas)
    latencies.sort()
    measured = opens - warm
    snapshots = -(-measured // every)
    frame_p99, saturated, served = frames(times, plan, seen, draw)
    hours = len(seen) and replicas / (served / snapshots) / 3600 * 1e6
    return Result(replicas, policy, hits / measured, away / measured if policy != "spread" else math.nan,
                  most / snapshots, saturated, frame_p99, latencies[measured // 2],
                  latencies[int(measured * 0.99)], hours, hours * plan.price)


def miss_seconds(times: Times, plan: Plan, size: float, draw: random.Random) -> float:
    """What an opening waits for bound data of this size."""
    seconds = times.fetch_seconds + size / times.fetch_bytes_per_second
    if draw.random() < plan.new_share:
        seconds = times.bind_seconds * size / times.bound_bytes
    return seconds * lognormal(draw, 1, times.miss_variation)


def waits(load: float, cores: int) -> float:
    """Erlang C: the chance that a frame waits, at this load in processors."""
    if load >= cores:
        return 1.0
    term = total = 1.0
    for number in range(1, cores):
        term *= load / number
        total += term
    last = term * load / cores * cores / (cores - load)
    return last / (total + last)


def wait_rate(times: Times, load: float, cores: int) -> float:
    """Of the exponential tail of the wait (Allen, Cunneen): service times that vary less make it shorter."""
    return (cores - load) / times.frame_seconds * 2 / (1 + times.frame_variation ** 2)


def frames(times: Times, plan: Plan, seen: collections.Counter[int], draw: random.Random) -> tuple[float, float, float]:
    """Of replicas seen with these numbers of streams: p99 of a frame, part that is saturated, frames a second."""
    counts = sorted(count for count in seen if count)
    weights = [count * seen[count] for count in counts]
    if not counts:
        return 0.0, 0.0, 0.0
    limit = plan.cores / times.frame_seconds
    served = sum(min(count * plan.frames_per_second, limit) * seen[count] for count in counts)
    loads = {count: count * plan.frames_per_second * times.frame_seconds for count in counts}
    saturated = sum(weight for count, weight in zip(counts, weights) if loads[count] >= plan.cores) / sum(weights)
    chances = {count: waits(loads[count], plan.cores) for count in counts}
    latencies = []
    for count in draw.choices(counts, weights, k=DRAWS):
        if loads[count] >= plan.cores:
            latencies.append(math.inf)
            continue
        latency = lognormal(draw, times.frame_seconds, times.frame_variation)
        if draw.random() < chances[count]:
            latency += draw.expovariate(wait_rate(times, loads[count], plan.cores))
        latencies.append(latency)
    latencies.sort()
    return latencies[int(DRAWS * 0.99)], saturated, served


def predicted_hit_rate(entries: float, rates: list[float]) -> float:
    """Che's approximation: hit rate of one LRU cache of this many entries of one size, with these rates of rigs."""
    if entries >= len(rates):
        return 1.0
    low, high = 0.0, 1.0
    while sum(-math.expm1(-rate * high) for rate in rates) < entries:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        if sum(-math.expm1(-rate * middle) for rate in rates) < entries:
            low = middle
        else:
            high = middle
    return sum(-math.expm1(-rate * high) * rate for rate in rates) / sum(rates)


def read(path: pathlib.Path) -> tuple[Times, Plan]:
    values = json.loads(path.read_text(encoding="utf-8"))
    return Times(**values["times"]), Plan(**values["plan"])


def row(result: Result) -> str:
    return (f"{result.replicas:8} {result.policy:8} {result.hit_rate:8.3f} {result.away:6.3f} {result.most:6.2f} "
            f"{result.saturated:9.3f} {result.frame_p99 * 1e3:10.2f} {result.open_p99 * 1e3:9.0f} "
            f"{result.hours_per_million_frames:9.4f} {result.cost_per_million_frames:8.4f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--input", type=pathlib.Path, default=pathlib.Path(__file__).with_name("replica_times.json"))
    parser.add_argument("--replicas", default=",".join(map(str, REPLICAS)))
    parser.add_argument("--policies", nargs="+", choices=POLICIES, default=POLICIES)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--plot", type=pathlib.Path)
    parser.add_argument("--measure", nargs="+", metavar="ADDRESS=HTTP")
    parser.add_argument("--stubs", type=pathlib.Path)
    parser.add_argument("--rigs", type=int, default=60)
    parser.add_argument("--opens", type=int, default=600)
    parser.add_argument("--exponent", type=float, default=0.9)
    options = parser.parse_args()
    if options.measure:
        sys.path.insert(0, str(options.stubs))
        import replica_measure  # needs gRPC and the stubs  pylint: disable=import-outside-toplevel
        servers = [tuple(each.split("=")) for each in options.measure]
        print(replica_measure.compare(servers, options.rigs, options.opens, options.exponent, options.seed))
        return 0
    times, plan = read(options.input)
    print("replicas policy   hit rate   away   most saturated   frame p99  open p99     hours     cost\n"
          "                             of all  /mean  of frames         ms        ms  per 1 M frames")
    results = []
    for replicas in map(int, options.replicas.split(",")):
        for policy in options.policies:
            results.append(simulate(times, plan, replicas, policy, options.seed))
            print(row(results[-1]), flush=True)
    if options.json:
        options.json.write_text(json.dumps([dataclasses.asdict(each) for each in results], indent=1) + "\n",
                                encoding="utf-8")
    if options.plot:
        import replica_plot  # needs matplotlib  pylint: disable=import-outside-toplevel
        replica_plot.draw(results, options.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
