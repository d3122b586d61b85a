// normals_bench - what each rule for normals gives and costs, on the tube: the figures behind the
// choice in core/surface/normals.h.
//
// Errors are degrees against the normal of the smooth deformed surface, largest and mean. Times are
// nanoseconds of one thread a vertex, medians of rounds that take turns; time in which the thread
// waited for a processor does not count.
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "core/deform/engine/deformer.h"
#include "core/deform/engine/recipe_text.h"
#include "core/deform/kernels/linear_blend_kernel.h"
#include "core/deform/kernels/writer_kernel.h"
#include "core/rig/weight_table.h"
#include "tests/reference/normal_errors.h"
#include "tests/support/run_method.h"
#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

using reference::MeasureRecomputed;
using reference::NormalError;
using reference::TubeMethod;
using reference::TubePose;

void PrintRow(const char* rule, const std::string& mesh, const NormalError& error) {
  std::printf("  %-18s %-28s %9.4f %9.4f\n", rule, mesh.c_str(), error.max, error.mean);
}

void PrintErrors(const char* name, TubeMethod method, TubePose pose) {
  std::printf("%s, %s\n", name, pose == TubePose::kBend45 ? "bend 45" : "twist 90");
  const auto rules = reference::MeasureRules(method, pose, 61, 32);
  PrintRow("rotated", "61x32", rules.rotated);
  if (method == TubeMethod::kLbs) {
    PrintRow("cofactor", "61x32", rules.cofactor);
    PrintRow("gradient-corrected", "61x32", rules.gradient);
  }
  for (const bool authored : {true, false}) {
    for (const bool quads : {false, true}) {
      for (const std::size_t density : {1, 2, 4, 8}) {
        const std::size_t rings = 30 * density + 1, around = 16 * density;
        PrintRow("recomputed",
                 std::to_string(rings) + "x" + std::to_string(around) +
                     (quads ? " quads" : " triangles") + (authored ? ", authored" : ""),
                 MeasureRecomputed(method, pose, {rings, around, quads, authored}));
      }
    }
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

double ThreadNanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

void PrintTimes(bool quads) {
  constexpr std::size_t kVertices = 50'000, kAround = 50;
  constexpr int kRounds = 61;
  const testing::TubeOptions options = {.rings = kVertices / kAround,
                                        .around = kAround,
                                        .joints = 50,
                                        .length = 50,
                                        .radius = 1,
                                        .weights = testing::TubeWeights::kFour,
                                        .quads = quads};
  const Rig plain = testing::TubeRig(options), authored = testing::TexturedTube(options);
  const auto pose = testing::TurnPose(plain, {0.6, 0, 0.8}, 4);
  Task task;
  const auto recipe = testing::ValueOrDie(ParseRecipe("lbs"));
  const Deformer on_plain = testing::ValueOrDie(Deformer::Bind(plain, recipe, task));
  const Deformer on_authored = testing::ValueOrDie(Deformer::Bind(authored, recipe, task));
  RotatedNormals rotated(authored, pose);
  std::vector<std::byte> positions(kVertices * 12), normals(kVertices * 12),
      tangents(kVertices * 16);
  Workspace workspace;
  const Task serial({.progress = {}, .parallel = false});
  const auto frame = [&](const Deformer& deformer, bool with_normals, bool with_tangents) {
    FrameOut out{.positions = positions};
    if (with_normals) out.normals = normals;
    if (with_tangents) out.tangents = tangents;
    if (!deformer.Evaluate({.joints = pose}, out, workspace, nullptr, serial).ok()) std::abort();
  };
  const std::vector<std::pair<std::string, std::function<void()>>> runs = {
      {"lbs positions", [&] { frame(on_plain, false, false); }},
      {"rotated normals alone", [&] { rotated.Run(); }},
      {"lbs + recomputed normals", [&] { frame(on_plain, true, false); }},
      {"lbs + recomputed normals, authored", [&] { frame(on_authored, true, false); }},
      {"lbs + normals + tangents, authored", [&] { frame(on_authored, true, true); }},
  };
  std::vector<std::vector<double>> nanoseconds(runs.size());
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t r = 0; r < runs.size(); ++r) {
      const double start = ThreadNanoseconds();
      runs[r].second();
      nanoseconds[r].push_back((ThreadNanoseconds() - start) / static_cast<double>(kVertices));
    }
  }
  std::printf("50,000 vertices of %s, four influences\n", quads ? "quads" : "triangles");
  for (std::size_t r = 0; r < runs.size(); ++r) {
    std::sort(nanoseconds[r].begin(), nanoseconds[r].end());
    std::printf("  %-36s %7.2f ns/vertex\n", runs[r].first.c_str(), nanoseconds[r][kRounds / 2]);
  }
}

}  // namespace
}  // namespace sinew

// normals_bench [times]: all figures, or the times alone.
int main(int argc, char**) {
  using sinew::reference::TubeMethod;
  using sinew::reference::TubePose;
  for (const TubePose pose : {TubePose::kBend45, TubePose::kTwist90}) {
    if (argc > 1) break;
    sinew::PrintErrors("lbs", TubeMethod::kLbs, pose);
    sinew::PrintErrors("dqs", TubeMethod::kDqs, pose);
    sinew::PrintErrors("ddm", TubeMethod::kDdm, pose);
  }
  for (const bool quads : {false, true}) sinew::PrintTimes(quads);
}
