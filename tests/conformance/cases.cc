#include "tests/conformance/cases.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <utility>

#include "core/base/status.h"
#include "core/deform/engine/deformer.h"
#include "core/deform/engine/recipe_text.h"
#include "core/deform/engine/registry.h"
#include "tests/support/compare.h"

namespace sinew::conformance {
namespace {

// Distances are relative to the bounding box's diagonal at rest.
enum class Tolerance {
  kFloat,      // the same formulas in float
  kTruncated,  // joints that hardly act on a vertex are left out
  kSchedule,   // thresholds let a few points take another way
};

Nearness NearnessOf(Tolerance tolerance, double diagonal) {
  switch (tolerance) {
    case Tolerance::kFloat:
      return {1e-5 * diagonal, 1, "float32: 1e-5 of the bounding box's diagonal"};
    case Tolerance::kTruncated:
      return {2e-3 * diagonal, 1,
              "joints with less than 0.1 % of the influence are left out, and ambiguous rotations "
              "fade: 2e-3 of the bounding box's diagonal"};
    case Tolerance::kSchedule:
      return {5e-5 * diagonal, 0.98,
              "float32, and up to 2 % of the vertices are on the other side of a threshold of the "
              "method: 5e-5 of the bounding box's diagonal for the others"};
  }
  return {};
}

struct Row {
  const char* rig;
  const char* recipe;
  Tolerance tolerance = Tolerance::kFloat;
};

constexpr Row kRows[] = {
    {"chain", "lbs"},
    {"chain", "dqs"},
    {"chain", "dqs(signs=parent)"},
    {"chain", "bulge_free_dqs"},
    {"chain", "lbs | bulge_free(softness=0, strongest=true)"},
    {"chain", "spherical_blend"},
    {"chain", "spherical_blend(centres=per_set)"},
    {"chain", "cor"},
    {"chain", "cor(sigma=0.5, refine=false)"},
    {"chain", "delta_mush"},
    {"chain", "dqs | delta_mush(iterations=6, laplacian=uniform, keep_area=0)"},
    {"chain", "lbs | delta_mush(laplacian=inverse_distance, step=0.75, displacement=-1.5)"},
    {"chain", "ddm", Tolerance::kTruncated},
    {"chain", "ddm(truncation=0, pop_guard=false)"},
    {"chain", "ddm(truncation=0, pop_guard=false, alpha=0.75)"},
    {"chain", "ddm(truncation=0, pop_guard=false, laplacian=uniform, keep_area=0)"},
    {"chain", "ddm(truncation=0, pop_guard=false, smoothing=explicit, lambda=0.5, iterations=8)"},
    {"chain", "ddm(variant=1, truncation=0)"},
    {"chain", "ddm(variant=2, truncation=0)"},
    {"chain", "ddm(variant=3, truncation=0)"},
    {"chain", "ddm(variant=4, truncation=0)"},
    {"chain", "ddm(variant=5, truncation=0)"},
    {"chain", "enhanced_ddm", Tolerance::kTruncated},
    {"chain", "enhanced_ddm(truncation=0, pop_guard=false)"},
    {"chain", "enhanced_ddm(variant=2, truncation=0)"},
    {"chain", "enhanced_ddm(variant=3, truncation=0, alpha=0.5)"},
    {"chain", "enhanced_ddm(variant=4, truncation=0)"},
    {"chain", "animation_space"},
    {"chain", "multi_weight"},
    {"two_meshes", "shapes | lbs"},
    {"two_meshes", "shapes | dqs | bulge_free"},
    {"two_meshes", "shapes | spherical_blend"},
    {"two_meshes", "shapes | cor"},
    {"two_meshes", "shapes | lbs | delta_mush"},
    {"two_meshes", "ddm(truncation=0, pop_guard=false)"},
    {"two_meshes", "shapes | ddm"},
    {"shapes", "shapes | lbs"},
    {"shapes", "shapes(strength=-0.5) | dqs"},
    {"shapes", "shapes | cor"},
    {"shapes", "shapes | ddm"},
    {"muscles", "lbs | muscle"},
    {"muscles", "dqs | bulge_free | muscle(strength=2)"},
    {"muscles", "dqs | implicit"},
    {"limb", "dqs | bulge_free(method=bisector, strength=0.5)"},
    {"limb", "dqs | relax"},
    {"limb", "lbs | relax(iterations=7, strength=1)", Tolerance::kSchedule},
    {"limb", "dqs | implicit", Tolerance::kSchedule},
    {"limb", "dqs | implicit(contact=false)", Tolerance::kSchedule},
    {"limb", "implicit_skinning", Tolerance::kSchedule},
    {"limb", "dqs | implicit(projection=march)", Tolerance::kSchedule},
    {"limb", "dqs | implicit(projection=march, step_length=0.125, smoothing=0)",
     Tolerance::kSchedule},
};

std::string NameOf(const std::string& rig, std::size_t number, const Recipe& recipe) {
  std::string name = absl::StrCat(rig, ".", absl::Dec(number, absl::kZeroPad2));
  for (const StageParams& stage : recipe) absl::StrAppend(&name, "-", AbslView(StageName(stage)));
  return name;
}

absl::Status Evaluate(const Deformer& deformer, Case& c) {
  const Task task = Task();
  Workspace workspace;
  for (const CasePose& pose : c.rig->poses) {
    CaseFrame& frame = c.frames.emplace_back();
    frame.positions.resize(deformer.vertices());
    FrameOut out{.positions = std::as_writable_bytes(std::span(frame.positions))};
    const Pose posed = {.joints = pose.joints, .controls = pose.controls};
    SINEW_RETURN_IF_ERROR(deformer.Evaluate(posed, out, workspace, task));
  }
  return absl::OkStatus();
}

// The largest distance over the nearest `share` of the vertices.
double Farthest(const CaseFrame& frame, double share) {
  std::vector<double> distances;
  for (std::size_t v = 0; v < frame.positions.size(); ++v) {
    const double d = testing::Distance(ToDouble(frame.positions[v]), (*frame.expected)[v]);
    distances.push_back(std::isnan(d) ? HUGE_VAL : d);
  }
  std::ranges::sort(distances);
  return distances[static_cast<std::size_t>(
                       std::ceil(share * static_cast<double>(distances.size()))) -
                   1];
}

absl::StatusOr<Case> MakeCase(const CaseRig& rig, std::size_t number, const Row& row) {
  SINEW_ASSIGN_OR_RETURN(const Recipe recipe, ParseRecipe(row.recipe));
  Case c{.name = NameOf(rig.name, number, recipe),
         .recipe = row.recipe,
         .rig = &rig,
         .determinism_digest = DeterminismDigest(recipe),
         .frames = {},
         .sources = {},
         .no_reference = {},
         .nearness = {}};
  Task task;
  SINEW_ASSIGN_OR_RETURN(const Deformer deformer, Deformer::Bind(rig.rig, recipe, task));
  SINEW_RETURN_IF_ERROR(Evaluate(deformer, c));
  const absl::StatusOr<DoubleReference> reference = DoubleReference::Bind(rig.rig, recipe);
  if (absl::IsUnimplemented(reference.status())) {
    c.no_reference = std::string(reference.status().message());
    return c;
  }
  SINEW_RETURN_IF_ERROR(reference.status());
  c.sources = reference->sources();
  c.nearness = NearnessOf(row.tolerance, rig.rig.mesh().diagonal());
  for (std::size_t k = 0; k < c.frames.size(); ++k) {
    const CasePose& pose = rig.poses[k];
    c.frames[k].expected = reference->Evaluate(pose.joints, pose.controls);
    const double farthest = Farthest(c.frames[k], c.nearness.share);
    c.measured = std::max(c.measured, farthest);
    if (farthest > c.nearness.distance) {
      return absl::InternalError(absl::StrCat(c.name, ", ", pose.name, ": got ", farthest,
                                              " from the reference, need at most ",
                                              c.nearness.distance));
    }
  }
  return c;
}

}  // namespace

absl::StatusOr<std::vector<Case>> MakeCases(const std::vector<CaseRig>& rigs) {
  std::vector<Case> cases;
  std::set<std::string> covered;
  std::vector<std::string> wrong;
  for (const Row& row : kRows) {
    const auto rig = std::ranges::find(rigs, row.rig, &CaseRig::name);
    if (rig == rigs.end()) return absl::InternalError(absl::StrCat("no rig ", row.rig));
    auto made = MakeCase(*rig, cases.size() + 1, row);
    if (!made.ok()) {
      wrong.push_back(absl::StrCat(row.rig, ", ", row.recipe, ": ", made.status().message()));
      continue;
    }
    cases.push_back(*std::move(made));
    SINEW_ASSIGN_OR_RETURN(const Recipe recipe, ParseRecipe(row.recipe));
    for (const StageParams& stage : recipe) covered.emplace(StageName(stage));
  }
  for (const MethodInfo& method : ListMethods()) {
    if (!covered.contains(method.name)) {
      wrong.push_back(absl::StrCat("no case has the method ", method.name));
    }
  }
  if (!wrong.empty()) return absl::InternalError(absl::StrJoin(wrong, "\n"));
  return cases;
}

}  // namespace sinew::conformance
