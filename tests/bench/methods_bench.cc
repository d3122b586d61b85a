// methods_bench - every method on the tube: what binding takes and holds, and binding again with
// what the first bind left of the rig; and what a frame takes, beside a plain copy of the same
// bytes in the same round.
//
//   methods_bench --vertices 50000 --recipe lbs --recipe 'ddm(variant=2)'
//
// Rounds are interleaved over all methods and figures are medians, because machines change speed
// under other load. A recipe with shapes runs on a tube with four targets, each of
// which moves every vertex: at rest, with one and with all of them on.
#include <malloc.h>
#include <tbb/task_arena.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "core/deform/engine/deformer.h"
#include "core/deform/engine/recipe_text.h"
#include "core/deform/engine/registry.h"
#include "core/deform/engine/rig_parts.h"
#include "core/simd/target.h"
#include "tests/support/allocation_meter.h"
#include "tests/support/run_method.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kAround = 50, kJoints = 50, kTargets = 4;
constexpr double kRoundSeconds = 4e-3;  // a figure of one round takes at least this

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Seconds of one call, from as many as fill the time of a round.
template <class Body>
double TimeOf(Body&& body) {
  std::size_t calls = 0;
  const auto start = Clock::now();
  double seconds = 0;
  do {
    body();
    ++calls;
    seconds = SecondsSince(start);
  } while (seconds < kRoundSeconds);
  return seconds / static_cast<double>(calls);
}

testing::TubeOptions Options(std::size_t vertices) {
  return {.rings = vertices / kAround,
          .around = kAround,
          .joints = kJoints,
          .length = 50,
          .radius = 1,
          .weights = testing::TubeWeights::kFour};
}

// The tube of that size with a control and a shape for each target.
Rig ShapedTube(std::size_t vertices) {
  RigSource source = testing::TubeSource(Options(vertices));
  const auto count = static_cast<std::uint32_t>(source.mesh.positions.size());
  for (std::uint32_t k = 0; k < kTargets; ++k) {
    ShapeTarget target;
    target.vertices.resize(count);
    std::iota(target.vertices.begin(), target.vertices.end(), 0u);
    for (const Vec3f& p : source.mesh.positions) {
      const float out = 0.01f * static_cast<float>(k + 1);
      target.offsets.push_back({0.001f, out * p.y, out * p.z});
    }
    source.controls.push_back({.name = "target " + std::to_string(k)});
    source.shapes.push_back({.control = k, .targets = {std::move(target)}});
  }
  return testing::MakeRig(std::move(source));
}

// A method bound to the tube, with its figures.
class Entry {
 public:
  struct Options {
    bool normals = false;
    std::size_t controls = 0, on = 0;  // of the rig, and those that are at 1
  };
  Entry(const Rig& rig, std::string recipe_text, const Options& options)
      : recipe_text_(std::move(recipe_text)),
        recipe_(*ParseRecipe(recipe_text_)),
        pose_(testing::TurnPose(rig, {0.6, 0, 0.8}, 4)),
        controls_(options.controls),
        on_(options.on),
        positions_(rig.vertices() * 12),
        normals_(options.normals ? positions_.size() : 0) {
    std::fill_n(controls_.begin(), on_, 1.0f);
    for (const int threads : {1, 2}) {
      tbb::task_arena arena(threads);
      std::vector<double> seconds, again;
      arena.execute([&] {
        for (int k = 0; k < 3; ++k) {
          deformer_.reset();
          testing::StartPeak();
          Task task;
          const auto start = Clock::now();
          std::shared_ptr<const RigParts> parts;
          auto bound = Bind(rig, task, parts);
          seconds.push_back(SecondsSince(start));
          if (!bound.ok()) {
            std::fprintf(stderr, "%s: %s\n", recipe_text_.c_str(),
                         bound.status().ToString().c_str());
            return;
          }
          deformer_ = std::make_unique<Deformer>(*std::move(bound));
          peak_bytes_ = std::max(peak_bytes_, testing::Peak());
          const auto next = Clock::now();
          Task other;
          if (!Bind(rig, other, parts).ok()) std::abort();
          again.push_back(SecondsSince(next));
        }
      });
      if (deformer_ == nullptr) return;
      (threads == 1 ? bind_one_ : bind_two_) = Median(seconds);
      again_ = Median(again);
    }
    traffic_.assign(deformer_->bytes() + rig.vertices() * 12, 1);
  }

  // The tube has what the method needs.
  bool bound() const { return deformer_ != nullptr; }

  void Round() {
    for (const int threads : {1, 2}) {
      tbb::task_arena arena(threads);
      arena.execute([&] { (threads == 1 ? one_ : two_).push_back(TimeOf([&] { Evaluate(); })); });
    }
    copy_.push_back(TimeOf([&] { Copy(); }));
  }

  void Print() const {
    const auto vertices = static_cast<double>(positions_.size() / 12);
    const double one = Median(one_) / vertices * 1e9, copy = Median(copy_) / vertices * 1e9;
    std::printf("%-44s %8.0f %8.0f %8.0f %9.1f %8.0f %8.2f %8.2f %8.2f %7.1f\n", Name().c_str(),
                bind_one_ * 1e3, bind_two_ * 1e3, again_ * 1e3,
                static_cast<double>(peak_bytes_) / 1e6,
                static_cast<double>(deformer_->bytes()) / vertices, one,
                Median(two_) / vertices * 1e9, copy, one / copy);
  }
  const std::string& recipe_text() const { return recipe_text_; }
  bool normals() const { return !normals_.empty(); }

 private:
  // parts: of the rig, from an earlier bind; gets those of this one.
  absl::StatusOr<Deformer> Bind(const Rig& rig, Task& task,
                                std::shared_ptr<const RigParts>& parts) const {
    auto plan = Deformer::Plan(rig, recipe_, task, parts);
    if (!plan.ok()) return plan.status();
    return Deformer::Bind(*std::move(plan), task, &parts);
  }
  std::string Name() const {
    if (controls_.empty()) return recipe_text_ + (normals() ? " + normals" : "");
    return recipe_text_ + ", " + std::to_string(on_) + " of " + std::to_string(controls_.size()) +
           " on";
  }
  void Evaluate() {
    FrameOut out{.positions = positions_, .normals = normals_};
    const Task task;
    const auto status =
        deformer_->Evaluate({.joints = pose_, .controls = controls_}, out, workspace_, task);
    if (!status.ok()) std::abort();
  }
  // Reads what the method keeps and the points, writes the result's bytes.
  void Copy() {
    const std::size_t written = positions_.size() + normals_.size();
    std::memcpy(copied_.data(), traffic_.data(), std::min(written, traffic_.size()));
    std::uint64_t sum = 0;
    for (std::size_t i = written; i + 8 <= traffic_.size(); i += 8) {
      std::uint64_t word;
      std::memcpy(&word, traffic_.data() + i, 8);
      sum += word;
    }
    sink_ = sum;
  }

  std::string recipe_text_;
  Recipe recipe_;
  std::vector<Affine> pose_;
  std::vector<float> controls_;
  std::size_t on_;
  std::vector<std::byte> positions_, normals_;
  std::vector<std::byte> copied_ = std::vector<std::byte>(positions_.size() + normals_.size());
  std::vector<char> traffic_;
  std::unique_ptr<Deformer> deformer_;
  Workspace workspace_;
  double bind_one_ = 0, bind_two_ = 0, again_ = 0;
  std::size_t peak_bytes_ = 0;
  std::vector<double> one_, two_, copy_;
  volatile std::uint64_t sink_ = 0;
};

// The naive loop: one vertex after the other, gathering its matrices. Nanoseconds per vertex.
double OneVertexAtATime(const Rig& rig) {
  const auto pose = testing::TurnPose(rig, {0.6, 0, 0.8}, 4);
  std::vector<Affine> skin;
  for (const AffineD& m : testing::SkinMatrices(rig, pose)) skin.push_back(ToFloat(m));
  std::vector<float> weights(rig.influences().all_weights().begin(),
                             rig.influences().all_weights().end());
  std::vector<Vec3f> out(rig.vertices());
  const double seconds = TimeOf([&] {
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
  });
  return seconds / static_cast<double>(rig.vertices()) * 1e9;
}

std::vector<std::string> AllRecipes() {
  std::vector<std::string> recipes;
  for (const MethodInfo& method : ListMethods()) recipes.push_back(method.example);
  recipes.emplace_back("spherical_blend(centres=per_set)");
  for (int variant = 1; variant <= 5; ++variant) {
    recipes.push_back("ddm(variant=" + std::to_string(variant) + ")");
  }
  recipes.emplace_back("enhanced_ddm(variant=2)");
  return recipes;
}

void Run(std::size_t vertices, const std::vector<std::string>& recipes, int rounds) {
  const Rig rig = testing::TubeRig(Options(vertices));
  std::vector<std::unique_ptr<Entry>> entries;
  const auto add = [&](const Rig& on, const std::string& recipe_text,
                       const Entry::Options& options) {
    auto entry = std::make_unique<Entry>(on, recipe_text, options);
    if (entry->bound()) entries.push_back(std::move(entry));
  };
  for (const std::string& recipe_text : recipes) {
    if (recipe_text.starts_with("shapes")) {
      const Rig shaped = ShapedTube(vertices);
      for (const std::size_t on : {std::size_t{0}, std::size_t{1}, kTargets}) {
        add(shaped, recipe_text, {.controls = kTargets, .on = on});
      }
      continue;
    }
    add(rig, recipe_text, {});
    if (CarriesNormals(testing::ValueOrDie(ParseRecipe(recipe_text))) || recipe_text == "ddm") {
      add(rig, recipe_text, {.normals = true});
    }
  }
  std::vector<double> one_at_a_time;
  for (int round = 0; round < rounds; ++round) {
    one_at_a_time.push_back(OneVertexAtATime(rig));
    for (const auto& entry : entries) entry->Round();
  }
  std::printf("\n%zu vertices, %zu joints, 4 influences; %s; one vertex at a time, LBS: %.2f ns\n",
              rig.vertices(), kJoints, std::string(IsaName(ActiveIsa())).c_str(),
              Median(one_at_a_time));
  std::printf("%-44s %8s %8s %8s %9s %8s %8s %8s %8s %7s\n", "", "bind 1T", "bind 2T", "again 2T",
              "peak", "bound", "frame1T", "frame2T", "copy", "frame/");
  std::printf("%-44s %8s %8s %8s %9s %8s %8s %8s %8s %7s\n", "recipe_text", "ms", "ms", "ms", "MB",
              "B/vert", "ns/vert", "ns/vert", "ns/vert", "copy");
  for (const auto& entry : entries) entry->Print();
  std::fflush(stdout);
}

}  // namespace
}  // namespace sinew

int main(int argc, char** argv) {
  CLI::App app("Bind and frame figures of every method on a tube; medians of interleaved rounds.");
  std::vector<std::size_t> vertices = {10000, 50000, 200000};
  std::vector<std::string> recipes;
  int rounds = 15;
  app.add_option("--vertices", vertices, "Sizes of the tube")->capture_default_str();
  app.add_option("--recipe", recipes, "Only these recipes");
  app.add_option("--rounds", rounds, "Rounds of frames")->check(CLI::Range(1, 1000));
  CLI11_PARSE(app, argc, argv);
  // What a call frees stays with the program: bound data must not be measured by page faults.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, -1);
  for (const std::size_t size : vertices) {
    sinew::Run(size, recipes.empty() ? sinew::AllRecipes() : recipes, rounds);
  }
}
