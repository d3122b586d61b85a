// field_bench - what distances of fields cost: one part of 52 centres by instruction set, the
// canonical limb whole, and a chain of 60 parts. Processor time of one thread.
#include <benchmark/benchmark.h>

#include <array>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/deform/implicit/hrbf_kernel.h"
#include "core/deform/method/fields.h"
#include "core/parallel/task.h"
#include "core/simd/target.h"
#include "tests/bench/run_benchmarks.h"
#include "tests/support/canonical_limb.h"
#include "tests/support/random.h"

namespace sinew {
namespace {

constexpr std::size_t kBlocks = 256;

AlignedVector<PointBlock> Cloud(const Vec3d& centre, const Vec3d& half) {
  AlignedVector<PointBlock> blocks(kBlocks);
  testing::Random random(5);
  for (PointBlock& block : blocks) {
    // Neighbours on the skin lie near each other.
    const Vec3d at =
        centre + Vec3d{half.x * (2 * random.Next() - 1), half.y * (2 * random.Next() - 1),
                       half.z * (2 * random.Next() - 1)};
    for (std::size_t i = 0; i < kLanes; ++i) {
      block.x[i] = static_cast<float>(at.x + 0.2 * random.Next());
      block.y[i] = static_cast<float>(at.y + 0.2 * random.Next());
      block.z[i] = static_cast<float>(at.z + 0.2 * random.Next());
    }
  }
  return blocks;
}

// One part whose 52 centres all count at every point.
struct Part {
  static constexpr std::size_t kCentres = 52;
  AlignedVector<float> centres = AlignedVector<float>(kCentres * kCentreFloats);
  AlignedVector<float> polynomial = AlignedVector<float>(kPolynomialFloats, 0.5f);
  AlignedVector<float> placed = AlignedVector<float>(kPlacedFloats);
  AlignedVector<float> least = AlignedVector<float>(kLanes, -1);
  AlignedVector<PointBlock> points = Cloud({}, {2, 2, 2});

  Part() {
    testing::Random random(1);
    for (float& v : centres) v = static_cast<float>(2 * random.Next() - 1);
    placed[0] = placed[4] = placed[8] = 1;
    for (const std::size_t box : {std::size_t{16}, std::size_t{22}}) {
      for (std::size_t i = 0; i < 6; ++i) placed[box + i] = i < 3 ? -9.0f : 9.0f;
    }
  }
};

void RegisterLevels() {
  const auto part = std::make_shared<Part>();
  for (const Isa isa : SupportedIsas()) {
    const std::string name = "52 centres, value and gradient/" + std::string(IsaName(isa));
    benchmark::RegisterBenchmark(name.c_str(), [part, isa](benchmark::State& state) {
      if (!ForceIsa(isa).ok()) return state.SkipWithError("not supported");
      FieldBlock out;
      for (auto _ : state) {
        for (const PointBlock& block : part->points) {
          DistanceKernel({part->centres.data(), part->polynomial.data(), Part::kCentres,
                          part->placed.data(), nullptr},
                         block.x, part->least.data(), out.value);
        }
      }
      state.counters["ns/point"] = bench::NanosecondsEach(kBlocks * kLanes);
      static_cast<void>(ForceIsa(Isa::kAuto));
    })->Unit(benchmark::kMicrosecond);
  }
}

// A bound field, placed in one pose, and points near it.
struct Placed {
  Rig rig;
  AlignedVector<PointBlock> points;
  LimbField field = testing::BindField(rig);
  testing::FieldInPose posed;

  Placed(Rig from, AlignedVector<PointBlock> near, double degrees)
      : rig(std::move(from)),
        points(std::move(near)),
        posed(field, degrees == 0 ? testing::RestPose(rig) : testing::BendPose(rig, degrees)) {}
};

// What projection asks for: the nearest part, as the owner, and those a tenth of a unit farther.
DistanceNeed NeedAt(const PosedField& field, const PointBlock& block) {
  DistanceNeed all, need;
  all.margin.fill(std::numeric_limits<float>::infinity());
  need.margin.fill(0.1f);
  std::array<float, kLanes> least;
  least.fill(std::numeric_limits<float>::infinity());
  for (const PartBlock& part : field.Distances(block, all)) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      if (!(part.value[i] < least[i])) continue;
      least[i] = part.value[i];
      need.own[i] = static_cast<std::uint16_t>(part.part);
    }
  }
  return need;
}

void RegisterPoints(const std::string& name, const std::shared_ptr<Placed>& placed) {
  benchmark::RegisterBenchmark(name.c_str(), [placed](benchmark::State& state) {
    std::vector<DistanceNeed> needs;
    for (const PointBlock& block : placed->points) needs.push_back(NeedAt(*placed->posed, block));
    for (auto _ : state) {
      for (std::size_t b = 0; b < needs.size(); ++b) {
        benchmark::DoNotOptimize((*placed->posed).Distances(placed->points[b], needs[b]));
      }
    }
    state.counters["ns/point"] = bench::NanosecondsEach(kBlocks * kLanes);
  })->Unit(benchmark::kMicrosecond);
}

void RegisterLimb() {
  const auto limb =
      std::make_shared<Placed>(testing::CanonicalLimb(), Cloud({0, 0.5, 0}, {3, 1.5, 1}), 90);
  RegisterPoints("both parts near the joint/points", limb);
}

void RegisterChain() {
  const auto chain = std::make_shared<Placed>(
      testing::TubeRig({.rings = 601, .joints = 60, .length = 60, .radius = 0.5}),
      Cloud({0, 0, 0}, {29, 0.5, 0.5}), 0);
  RegisterPoints("60 parts in a chain/points", chain);
  benchmark::RegisterBenchmark("60 parts in a chain, placing/a frame", [chain](benchmark::State&
                                                                                   state) {
    for (auto _ : state) {
      testing::FieldInPose again(chain->field, testing::RestPose(chain->rig));
      benchmark::ClobberMemory();
    }
  })->Unit(benchmark::kMicrosecond);
  // Binding uses all threads: time of the wall, and of the processors.
  benchmark::RegisterBenchmark(
      "60 parts in a chain, binding/once",
      [chain](benchmark::State& state) {
        for (auto _ : state) {
          const LimbField field = testing::BindField(chain->rig);
          benchmark::ClobberMemory();
        }
        state.counters["KB"] = static_cast<double>(FieldBytes(chain->field)) / 1024;
        state.counters["parts"] = static_cast<double>(chain->field.parts());
        state.counters["vertices"] = static_cast<double>(chain->rig.vertices());
      })
      ->MeasureProcessCPUTime()
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

}  // namespace
}  // namespace sinew

int main(int argc, char** argv) {
  const sinew::DenormalGuard guard;
  sinew::RegisterLevels();
  sinew::RegisterLimb();
  sinew::RegisterChain();
  return sinew::bench::RunBenchmarks(argc, argv, 15);
}
