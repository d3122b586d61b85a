// normals_bench - what each rule for normals gives and costs, on the tube: the figures behind the
// choice in core/surface/normals.h, and behind the table of client/docs/methods.md.
//
// Errors are degrees against the normal of the smooth deformed surface, largest and mean; they are
// measured once. Times are processor time of one thread. The times alone:
// normals_bench --benchmark_filter=vertices
#include <benchmark/benchmark.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/deform/engine/deformer.h"
#include "core/deform/engine/recipe_text.h"
#include "core/deform/engine/registry.h"
#include "core/deform/kernels/linear_blend_kernel.h"
#include "core/deform/kernels/writer_kernel.h"
#include "core/rig/weight_table.h"
#include "tests/bench/run_benchmarks.h"
#include "tests/reference/normal_errors.h"
#include "tests/support/run_method.h"
#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

using reference::MeasureNormals;
using reference::NormalError;
using reference::TubeMethod;
using reference::TubePose;

void RegisterError(const std::string& name, const std::function<NormalError()>& measure) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [measure](benchmark::State& state) {
                                 NormalError error;
                                 for (auto _ : state) error = measure();
                                 state.counters["largest degrees"] = error.max;
                                 state.counters["mean degrees"] = error.mean;
                               })
      ->Iterations(1)
      ->Repetitions(1);
}

void RegisterErrors(const std::string& name, TubeMethod method, TubePose pose) {
  const std::string group = name + (pose == TubePose::kBend45 ? ", bend 45/" : ", twist 90/");
  const auto by_rule = [&](const std::string& rule, NormalError reference::RuleErrors::*which) {
    RegisterError(group + rule + " 61x32", [method, pose, which] {
      return reference::MeasureRules(method, pose, 61, 32).*which;
    });
  };
  by_rule("rotated", &reference::RuleErrors::rotated);
  if (method == TubeMethod::kLbs) {
    by_rule("cofactor", &reference::RuleErrors::cofactor);
    by_rule("gradient-corrected", &reference::RuleErrors::gradient);
  }
  for (const bool authored : {true, false}) {
    for (const bool quads : {false, true}) {
      for (const std::size_t density : {1, 2, 4, 8}) {
        const std::size_t rings = 30 * density + 1, around = 16 * density;
        RegisterError(group + "recomputed " + std::to_string(rings) + "x" + std::to_string(around) +
                          (quads ? " quads" : " triangles") + (authored ? ", authored" : ""),
                      [=] {
                        return MeasureNormals(method, pose, NormalRule::kRecomputed,
                                              {rings, around, quads, authored});
                      });
      }
    }
  }
}

// Recipes by whose methods normals are carried, and others.
constexpr const char* kByMethod[] = {"lbs",
                                     "dqs",
                                     "cor",
                                     "spherical_blend",
                                     "spherical_blend(centres=per_set)",
                                     "dqs | bulge_free",
                                     "ddm(variant=5)",
                                     "ddm(variant=4)",
                                     "enhanced_ddm(variant=4)",
                                     "ddm(variant=3)",
                                     "ddm(variant=2)",
                                     "ddm(variant=1)",
                                     "ddm",
                                     "enhanced_ddm"};

// Against the smooth surface through the posed vertices.
void RegisterMethodErrors(const std::string& text, TubePose pose) {
  const Recipe recipe = testing::ValueOrDie(ParseRecipe(text));
  const std::string group =
      "by method: " + text + (pose == TubePose::kBend45 ? ", bend 45/" : ", twist 90/");
  for (const NormalRule rule : {NormalRule::kCarried, NormalRule::kRecomputed}) {
    const bool carried = rule == NormalRule::kCarried;
    if (carried && !CarriesNormals(recipe)) continue;
    RegisterError(group + (carried ? "carried" : "recomputed"),
                  [=] { return MeasureNormals(recipe, pose, rule, {}); });
  }
}

// Rest normals through the blended matrices, brought to unit length and into file order.
class RotatedNormals {
 public:
  RotatedNormals(const Rig& rig, std::span<const Affine> pose)
      : layout_(testing::ValueOrDie(BlockLayout::Create(rig))),
        table_(testing::ValueOrDie(WeightTable::Create(rig, *layout_, 0, Task()))),
        rest_(layout_->blocks()),
        posed_(layout_->blocks()),
        out_(rig.vertices()) {
    for (std::size_t i = 0; i < layout_->order.size(); ++i) {
      const Vec3f& n = rig.mesh().normals()[layout_->Vertex(i)];
      PointBlock& block = rest_[i / kLanes];
      block.x[i % kLanes] = n.x;
      block.y[i % kLanes] = n.y;
      block.z[i % kLanes] = n.z;
    }
    for (const AffineD& m : testing::SkinMatrices(rig, pose)) {
      skin_.push_back(ToFloat(m));
      for (const std::size_t i : {3, 7, 11}) skin_.back().m[i] = 0;
    }
  }
  void Run() {
    LinearBlendKernel({.pair_offset = table_.joints.offset.data(),
                       .pair_entry = table_.joints.entry.data(),
                       .weights = table_.weights.data(),
                       .skin = skin_.front().m.data(),
                       .in = rest_.front().x,
                       .out = posed_.front().x},
                      0, posed_.size());
    for (PointBlock& b : posed_) {
      for (std::size_t i = 0; i < kLanes; ++i) {
        const float scale = 1.0f / std::sqrt(b.x[i] * b.x[i] + b.y[i] * b.y[i] + b.z[i] * b.z[i]);
        b.x[i] *= scale;
        b.y[i] *= scale;
        b.z[i] *= scale;
      }
    }
    WriterKernel({.in = posed_.front().x,
                  .order = layout_->order.data(),
                  .out = std::as_writable_bytes(std::span(out_)).data()},
                 0, posed_.size());
  }

 private:
  std::shared_ptr<const BlockLayout> layout_;
  WeightTable table_;
  std::vector<Affine> skin_;
  AlignedVector<PointBlock> rest_, posed_;
  std::vector<Vec3f> out_;
};

// A tube of 50,000 vertices, with normals of its own and without, in one bent pose.
class PosedTube {
 public:
  static constexpr std::size_t kVertices = 50'000;

  explicit PosedTube(bool quads) : PosedTube(Options(quads)) {}

  void Frame(const Deformer& deformer, bool with_normals, bool with_tangents,
             NormalRule rule = NormalRule::kRecomputed) {
    FrameOut out{.normal_rule = rule, .positions = positions_};
    if (with_normals) out.normals = normals_;
    if (with_tangents) out.tangents = tangents_;
    const Task serial({.progress = {}, .parallel = false});
    if (!deformer.Evaluate({.joints = pose_}, out, workspace_, serial).ok()) std::abort();
  }
  void Rotate() { rotated_.Run(); }
  // Binds the tube without normals.
  Deformer BindPlain(const Recipe& recipe) const { return Bind(plain_, recipe); }
  const Deformer& on_plain() const { return on_plain_; }
  const Deformer& on_authored() const { return on_authored_; }

 private:
  static testing::TubeOptions Options(bool quads) {
    constexpr std::size_t kAround = 50;
    return {.rings = kVertices / kAround,
            .around = kAround,
            .joints = 50,
            .length = 50,
            .radius = 1,
            .weights = testing::TubeWeights::kFour,
            .quads = quads};
  }
  static Deformer Bind(const Rig& rig, const Recipe& recipe = {LbsParams{}}) {
    Task task;
    return testing::ValueOrDie(Deformer::Bind(rig, recipe, task));
  }
  explicit PosedTube(const testing::TubeOptions& options)
      : plain_(testing::TubeRig(options)),
        authored_(testing::TexturedTube(options)),
        pose_(testing::TurnPose(plain_, {0.6, 0, 0.8}, 4)),
        on_plain_(Bind(plain_)),
        on_authored_(Bind(authored_)),
        rotated_(authored_, pose_) {}

  const Rig plain_, authored_;
  const std::vector<Affine> pose_;
  const Deformer on_plain_, on_authored_;
  RotatedNormals rotated_;
  std::vector<std::byte> positions_ = std::vector<std::byte>(kVertices * 12);
  std::vector<std::byte> normals_ = std::vector<std::byte>(kVertices * 12);
  std::vector<std::byte> tangents_ = std::vector<std::byte>(kVertices * 16);
  Workspace workspace_;
};

void RegisterTimes(bool quads) {
  const auto tube = std::make_shared<PosedTube>(quads);
  const auto row = [quads](const std::string& name, const std::function<void()>& run) {
    const std::string group = quads ? "50000 vertices of quads/" : "50000 vertices of triangles/";
    benchmark::RegisterBenchmark((group + name).c_str(), [run](benchmark::State& state) {
      for (auto _ : state) run();
      state.counters["ns/vertex"] = bench::NanosecondsEach(PosedTube::kVertices);
    })->Unit(benchmark::kMicrosecond);
  };
  row("lbs positions", [tube] { tube->Frame(tube->on_plain(), false, false); });
  row("rotated normals alone", [tube] { tube->Rotate(); });
  row("lbs + recomputed normals", [tube] { tube->Frame(tube->on_plain(), true, false); });
  row("lbs + recomputed normals, authored",
      [tube] { tube->Frame(tube->on_authored(), true, false); });
  row("lbs + carried normals",
      [tube] { tube->Frame(tube->on_plain(), true, false, NormalRule::kCarried); });
  row("lbs + carried normals + tangents, authored",
      [tube] { tube->Frame(tube->on_authored(), true, true, NormalRule::kCarried); });
  row("lbs + normals + tangents, authored",
      [tube] { tube->Frame(tube->on_authored(), true, true); });
}

// Times of each method: positions alone, with carried normals, and with recomputed ones.
void RegisterMethodTimes() {
  const auto tube = std::make_shared<PosedTube>(false);
  for (const std::string text : kByMethod) {
    const auto deformer =
        std::make_shared<Deformer>(tube->BindPlain(testing::ValueOrDie(ParseRecipe(text))));
    const auto row = [&](const std::string& name, bool normals, NormalRule rule) {
      benchmark::RegisterBenchmark(("50000 vertices by method/" + text + ": " + name).c_str(),
                                   [=](benchmark::State& state) {
                                     for (auto _ : state)
                                       tube->Frame(*deformer, normals, false, rule);
                                     state.counters["ns/vertex"] =
                                         bench::NanosecondsEach(PosedTube::kVertices);
                                   })
          ->Unit(benchmark::kMicrosecond);
    };
    row("positions", false, NormalRule::kRecomputed);
    if (deformer->carries_normals()) row("carried", true, NormalRule::kCarried);
    row("recomputed", true, NormalRule::kRecomputed);
  }
}

}  // namespace
}  // namespace sinew

int main(int argc, char** argv) {
  using sinew::reference::TubeMethod;
  using sinew::reference::TubePose;
  for (const TubePose pose : {TubePose::kBend45, TubePose::kTwist90}) {
    sinew::RegisterErrors("lbs", TubeMethod::kLbs, pose);
    sinew::RegisterErrors("dqs", TubeMethod::kDqs, pose);
    sinew::RegisterErrors("ddm", TubeMethod::kDdm, pose);
    for (const char* const text : sinew::kByMethod) sinew::RegisterMethodErrors(text, pose);
  }
  for (const bool quads : {false, true}) sinew::RegisterTimes(quads);
  sinew::RegisterMethodTimes();
  return sinew::bench::RunBenchmarks(argc, argv, 31);
}
