// weights_bench - what computing skin weights takes: a closed tube of so many vertices with a chain
// of so many joints, by each method, with one thread and two; of heat also its parts.
//
// Time of the wall, and of the processors of all threads, which foreign load disturbs less.
#include <benchmark/benchmark.h>
#include <tbb/task_arena.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>

#include "core/weights/weights.h"
#include "tests/bench/run_benchmarks.h"
#include "tests/support/bodies.h"

namespace sinew {
namespace {

testing::Body Chain(std::uint32_t vertices, std::uint32_t joints) {
  testing::Body body = testing::Cylinder(-5, 5, 1, vertices / 100, 100);
  for (std::uint32_t j = 0; j < joints; ++j) {
    const double step = 10.0 / joints;
    body.bones.push_back({j, {j * step - 5, 0, 0}, {(j + 1) * step - 5, 0, 0}});
  }
  return body;
}

// Progress of heat after its sources, ordering, factorisation and solutions.
constexpr std::array kMarks = {0.05 + 0.85 * 0.2, 0.05 + 0.85 * 0.3, 0.05 + 0.85 * 0.7, 0.9};

// Computes weights once; adds the milliseconds between the marks to `parts`.
void ComputeOnce(const Mesh& mesh, const testing::Body& body, const WeightOptions& options,
                 std::array<double, kMarks.size()>& parts) {
  std::array<double, kMarks.size()> at{};
  std::mutex mutex;
  const auto start = std::chrono::steady_clock::now();
  Task task({.progress = [&](double done) {
    const std::scoped_lock lock(mutex);
    const std::chrono::duration<double, std::milli> since =
        std::chrono::steady_clock::now() - start;
    for (std::size_t k = 0; k < kMarks.size(); ++k) {
      if (at[k] == 0 && done >= kMarks[k] - 1e-9) at[k] = since.count();
    }
  }});
  if (!ComputeWeights(mesh, body.bones, options, task).ok()) std::abort();
  for (std::size_t k = 0; k < kMarks.size(); ++k) parts[k] += at[k] - (k == 0 ? 0 : at[k - 1]);
}

void Register(std::uint32_t vertices, std::uint32_t joints) {
  const auto body = std::make_shared<const testing::Body>(Chain(vertices, joints));
  const auto mesh = std::make_shared<const Mesh>(testing::MeshOf(*body));
  constexpr std::pair<WeightMethod, const char*> kMethods[] = {
      {WeightMethod::kCapsule, "capsule"},
      {WeightMethod::kHeat, "heat"},
      {WeightMethod::kGeodesic, "geodesic"}};
  for (const int threads : {1, 2}) {
    for (const auto& [method, method_name] : kMethods) {
      const std::string name = std::to_string(vertices) + " vertices, " + std::to_string(joints) +
                               " joints, threads: " + std::to_string(threads) + "/" + method_name;
      const WeightOptions options = {.method = method, .resolution = 128};
      const auto run = [body, mesh, options, threads](benchmark::State& state) {
        tbb::task_arena arena(threads);
        std::array<double, kMarks.size()> parts{};
        for (auto _ : state) arena.execute([&] { ComputeOnce(*mesh, *body, options, parts); });
        if (options.method != WeightMethod::kHeat) return;
        constexpr const char* kParts[] = {"1 sources ms", "2 order ms", "3 factor ms",
                                          "4 solve ms"};
        for (std::size_t k = 0; k < parts.size(); ++k) {
          state.counters[kParts[k]] =
              benchmark::Counter(parts[k], benchmark::Counter::kAvgIterations);
        }
      };
      benchmark::RegisterBenchmark(name.c_str(), run)
          ->MeasureProcessCPUTime()
          ->UseRealTime()
          ->Unit(benchmark::kMillisecond);
    }
  }
}

}  // namespace
}  // namespace sinew

int main(int argc, char** argv) {
  for (const std::uint32_t vertices : {10'000u, 50'000u}) {
    for (const std::uint32_t joints : {20u, 60u}) sinew::Register(vertices, joints);
  }
  return sinew::bench::RunBenchmarks(argc, argv, 5);
}
