// weights_bench - what computing skin weights takes: a closed tube of so many vertices with a chain
// of so many joints, by each method; of heat also its parts.
//
//   weights_bench [--resolution 128] [--rounds 5] [--processor]
//
// Medians of interleaved rounds, one thread and two; prints, judges nothing. --processor counts
// processor time of all threads instead, which foreign load disturbs less.
#include <tbb/task_arena.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <vector>

#include "core/weights/weights.h"
#include "tests/support/bodies.h"

namespace sinew {

static bool processor_time = false;

namespace {

double Milliseconds() {
  if (processor_time) return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(now).count();
}

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

testing::Body Chain(std::uint32_t vertices, std::uint32_t joints) {
  testing::Body body = testing::Cylinder(-5, 5, 1, vertices / 100, 100);
  for (std::uint32_t j = 0; j < joints; ++j) {
    const double step = 10.0 / joints;
    body.bones.push_back({j, {j * step - 5, 0, 0}, {(j + 1) * step - 5, 0, 0}});
  }
  return body;
}

// Milliseconds of one run, and when the bar passed the marks.
struct Run {
  double total = 0;
  std::vector<double> at;
};

Run Once(const Mesh& mesh, const testing::Body& body, const WeightOptions& options,
         const std::vector<double>& marks) {
  Run run = {0, std::vector<double>(marks.size(), 0)};
  std::mutex mutex;
  const double start = Milliseconds();
  const auto since = [&] { return Milliseconds() - start; };
  Task task({.progress = [&](double done) {
    const std::scoped_lock lock(mutex);
    for (std::size_t k = 0; k < marks.size(); ++k) {
      if (run.at[k] == 0 && done >= marks[k] - 1e-9) run.at[k] = since();
    }
  }});
  if (!ComputeWeights(mesh, body.bones, options, task).ok()) std::abort();
  run.total = since();
  return run;
}

void Bench(std::uint32_t vertices, std::uint32_t joints, std::uint32_t resolution, int rounds) {
  const testing::Body body = Chain(vertices, joints);
  const Mesh mesh = testing::MeshOf(body);
  // Progress of heat after its sources, ordering, factorisation and solutions.
  const std::vector<double> marks = {0.05 + 0.85 * 0.2, 0.05 + 0.85 * 0.3, 0.05 + 0.85 * 0.7, 0.9};
  constexpr WeightMethod kMethods[] = {WeightMethod::kCapsule, WeightMethod::kHeat,
                                       WeightMethod::kGeodesic};
  std::vector<double> total[3][2], part[2][4];
  for (int round = 0; round < rounds; ++round) {
    for (int threads = 0; threads < 2; ++threads) {
      for (int m = 0; m < 3; ++m) {
        const WeightOptions options = {.method = kMethods[m], .resolution = resolution};
        Run run;
        tbb::task_arena(threads + 1).execute([&] { run = Once(mesh, body, options, marks); });
        total[m][threads].push_back(run.total);
        if (kMethods[m] != WeightMethod::kHeat) continue;
        for (std::size_t k = 0; k < marks.size(); ++k) {
          part[threads][k].push_back(run.at[k] - (k == 0 ? 0 : run.at[k - 1]));
        }
      }
    }
  }
  for (int threads = 0; threads < 2; ++threads) {
    std::printf("%8u %6u %7d %8.0f %8.0f %8.0f   %7.0f %7.0f %7.0f %7.0f\n", vertices, joints,
                threads + 1, Median(total[0][threads]), Median(total[1][threads]),
                Median(total[2][threads]), Median(part[threads][0]), Median(part[threads][1]),
                Median(part[threads][2]), Median(part[threads][3]));
  }
}

}  // namespace
}  // namespace sinew

int main(int argc, char** argv) {
  CLI::App app("What computing skin weights takes, in milliseconds.");
  std::uint32_t resolution = 128;
  int rounds = 5;
  app.add_option("--resolution", resolution, "voxels along the longest side");
  app.add_option("--rounds", rounds, "rounds the medians are of");
  app.add_flag("--processor", sinew::processor_time, "processor time instead of the wall's");
  CLI11_PARSE(app, argc, argv);
  std::printf("                          milliseconds               of heat\n");
  std::printf(
      "vertices joints threads  capsule     heat geodesic   sources   order  factor   solve\n");
  for (const std::uint32_t vertices : {10'000u, 50'000u}) {
    for (const std::uint32_t joints : {20u, 60u}) {
      sinew::Bench(vertices, joints, resolution, std::max(1, rounds));
    }
  }
  return 0;
}
