// kernels_bench - frames and binds of every method on the tube, beside a plain copy of the same
// bytes and the one-vertex-at-a-time loop that everybody writes first.
//
//   kernels_bench --benchmark_enable_random_interleaving=true --benchmark_repetitions=9
//   --benchmark_report_aggregates_only=true
//
// Figures are nanoseconds per vertex; quote medians.
#include <benchmark/benchmark.h>
#include <tbb/task_arena.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/deform/deformer.h"
#include "core/deform/registry.h"
#include "core/deform/spec.h"
#include "tests/assets/tube.h"

namespace sinew {
namespace {

constexpr std::size_t kAround = 50;
constexpr std::size_t kJoints = 50;

const Rig& TubeOf(std::size_t vertices) {
  static auto* const rigs = new std::map<std::size_t, Rig>;
  const auto it = rigs->find(vertices);
  if (it != rigs->end()) return it->second;
  return rigs
      ->emplace(vertices, testing::TubeRig({.rings = vertices / kAround,
                                            .around = kAround,
                                            .joints = kJoints,
                                            .length = 50,
                                            .radius = 1,
                                            .weights = testing::TubeWeights::kFour}))
      .first->second;
}

const Deformer& DeformerOf(const std::string& spec, std::size_t vertices) {
  static auto* const deformers = new std::map<std::pair<std::string, std::size_t>, Deformer>;
  const auto key = std::make_pair(spec, vertices);
  const auto it = deformers->find(key);
  if (it != deformers->end()) return it->second;
  Task task;
  return deformers->emplace(key, *Deformer::Bind(TubeOf(vertices), *ParseSpec(spec), task))
      .first->second;
}

void PerVertex(benchmark::State& state, std::size_t vertices) {
  state.counters["ns/vertex"] = benchmark::Counter(
      static_cast<double>(vertices) * 1e-9,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void Evaluate(benchmark::State& state, const std::string& spec, bool normals) {
  const auto vertices = static_cast<std::size_t>(state.range(0));
  const Deformer& deformer = DeformerOf(spec, vertices);
  const auto pose = testing::TurnPose(TubeOf(vertices), {0.6, 0, 0.8}, 4);
  std::vector<std::byte> positions(deformer.vertices() * 12), normal_bytes;
  if (normals) normal_bytes.resize(positions.size());
  Workspace workspace;
  const Task task;
  tbb::task_arena arena(static_cast<int>(state.range(1)));
  arena.execute([&] {
    for (auto _ : state) {
      FrameOut out{.positions = positions, .normals = normal_bytes};
      const auto status = deformer.Evaluate({.joints = pose}, out, workspace, nullptr, task);
      if (!status.ok()) state.SkipWithError(std::string(status.message()).c_str());
    }
  });
  PerVertex(state, deformer.vertices());
  state.counters["bytes/vertex"] =
      static_cast<double>(deformer.bytes()) / static_cast<double>(deformer.vertices());
}

// The traffic of linear blend with four weights: 16 bytes of weights and 12 of point in, 12 out.
void Copy(benchmark::State& state) {
  const auto vertices = static_cast<std::size_t>(state.range(0));
  std::vector<char> in(vertices * 28, 1), out(vertices * 12);
  for (auto _ : state) {
    std::memcpy(out.data(), in.data(), out.size());
    benchmark::DoNotOptimize(out.data());
    std::uint64_t sum = 0;
    for (std::size_t i = out.size(); i + 8 <= in.size(); i += 64) {
      std::uint64_t word;
      std::memcpy(&word, in.data() + i, 8);
      sum += word;
    }
    benchmark::DoNotOptimize(sum);
  }
  PerVertex(state, vertices);
}

// One vertex after the other, gathering its matrices.
void OneVertexAtATime(benchmark::State& state) {
  const auto vertices = static_cast<std::size_t>(state.range(0));
  const Rig& rig = TubeOf(vertices);
  const auto pose = testing::TurnPose(rig, {0.6, 0, 0.8}, 4);
  std::vector<Affine> skin;
  for (const AffineD& m : testing::SkinMatrices(rig, pose)) skin.push_back(ToFloat(m));
  std::vector<float> weights(rig.influences().all_weights().begin(),
                             rig.influences().all_weights().end());
  std::vector<Vec3f> out(rig.vertices());
  for (auto _ : state) {
    for (std::size_t v = 0; v < rig.vertices(); ++v) {
      const Vec3f p = rig.mesh().positions()[v];
      Affine blend{};
      blend.m.fill(0);
      const std::uint64_t first = rig.influences().offsets()[v];
      const auto bindings = rig.influences().bindings(v);
      for (std::size_t k = 0; k < bindings.size(); ++k) {
        for (std::size_t i = 0; i < 12; ++i) {
          blend.m[i] += weights[first + k] * skin[bindings[k]].m[i];
        }
      }
      const auto& m = blend.m;
      out[v] = {m[0] * p.x + m[1] * p.y + m[2] * p.z + m[3],
                m[4] * p.x + m[5] * p.y + m[6] * p.z + m[7],
                m[8] * p.x + m[9] * p.y + m[10] * p.z + m[11]};
    }
    benchmark::DoNotOptimize(out.data());
  }
  PerVertex(state, rig.vertices());
}

void Bind(benchmark::State& state, const std::string& spec) {
  const auto vertices = static_cast<std::size_t>(state.range(0));
  const Rig& rig = TubeOf(vertices);
  const auto recipe = *ParseSpec(spec);
  tbb::task_arena arena(static_cast<int>(state.range(1)));
  std::size_t bytes = 0;
  arena.execute([&] {
    for (auto _ : state) {
      Task task;
      const auto deformer = Deformer::Bind(rig, recipe, task);
      if (!deformer.ok()) state.SkipWithError(std::string(deformer.status().message()).c_str());
      bytes = deformer.ok() ? deformer->bytes() : 0;
    }
  });
  state.counters["predicted_peak_MB"] =
      static_cast<double>(Deformer::Estimate(rig, recipe)->peak_bytes) / 1e6;
  state.counters["bound_MB"] = static_cast<double>(bytes) / 1e6;
}

void Register() {
  const std::vector<std::int64_t> sizes = {10000, 50000, 200000};
  benchmark::RegisterBenchmark("copy", Copy)->ArgsProduct({sizes});
  benchmark::RegisterBenchmark("one_vertex_at_a_time", OneVertexAtATime)->ArgsProduct({sizes});
  for (const MethodInfo& method : ListMethods()) {
    for (const bool normals : {false, true}) {
      benchmark::RegisterBenchmark(("frame/" + method.name + (normals ? "+normals" : "")).c_str(),
                                   [name = method.name, normals](benchmark::State& state) {
                                     Evaluate(state, name, normals);
                                   })
          ->ArgsProduct({sizes, {1, 2}})
          ->UseRealTime();
    }
    benchmark::RegisterBenchmark(
        ("bind/" + method.name).c_str(),
        [name = method.name](benchmark::State& state) { Bind(state, name); })
        ->ArgsProduct({sizes, {1, 2}})
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace
}  // namespace sinew

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  sinew::Register();
  benchmark::RunSpecifiedBenchmarks();
}
