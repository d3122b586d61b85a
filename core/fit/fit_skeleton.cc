#include "core/fit/fit_skeleton.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "core/base/closest_names.h"
#include "core/base/status.h"
#include "core/base/vectors.h"
#include "core/fit/body.h"
#include "core/fit/coverage.h"
#include "core/fit/embedding.h"
#include "core/fit/limb_ends.h"
#include "core/fit/reduced_skeleton.h"
#include "core/fit/refine.h"
#include "core/fit/spheres.h"
#include "core/fit/toes.h"

namespace sinew {
namespace {

using fit::Body;
using fit::Embedding;
using fit::ReducedSkeleton;
using fit::SkeletonTemplate;
using fit::SphereGraph;
using fit::TemplateJoint;

// Template coordinates within [-1, 1] to unit space, as in the published program.
constexpr double kTemplateScale = 0.5 * 0.7;
// Residuals up to which all orientations are searched before larger ones are: wrong orientations
// have many assignments, and large residuals.
constexpr double kMostPenalty = 1;
constexpr double kLevels[] = {0.03, 0.06, 0.1, 0.2, 0.4, kMostPenalty};
constexpr double kNear = 2;  // residuals up to this times the least one tell no orientation apart
constexpr double kBetter = 0.5;     // of the residual of the directions that were asked for
constexpr double kUnequal = 1.5;    // ratio of the lengths of left and right bones that is reported
constexpr double kOutside = 0.01;   // of the longest side
constexpr double kNoLength = 1e-4;  // of the longest side
// A part that is left out is reported if the rest is a smaller share of the inside, or if the part
// is longer, of the longest side.
constexpr double kConnected = 0.98, kLongLeftOut = 0.1;
constexpr int kProbes = 10;                              // of a bone
constexpr std::size_t kMaxEffort = 3 * fit::kMaxEffort;  // of all searches of a fit
// The feet decide between two orientations if they reach this much farther forward in one than in
// the other, as a part of the length of a leg.
constexpr double kToes = 0.03;
// Parts without a bone that are reported; of the longest side. Right fits leave up to .15 bare,
// where the template has all limbs.
constexpr double kBare = 0.18;
constexpr std::size_t kMaxBare = 3;

// Axes of the mesh's space for the template's right-handed x, y, z.
struct Orientation {
  Vec3d side, up, forward;
  Vec3d operator()(const Vec3d& p) const { return p.x * side + p.y * up + p.z * forward; }
};

std::vector<Orientation> Orientations(FitUp wanted, bool turns) {
  constexpr Vec3d kX{1, 0, 0}, kY{0, 1, 0}, kZ{0, 0, 1};
  // Up, and where characters with that axis up usually face; the usual ones first.
  constexpr struct {
    Vec3d up, forward;
    FitUp named;
  } kAxes[] = {{kY, kZ, FitUp::kY},
               {kZ, {0, -1, 0}, FitUp::kZ},
               {{0, 0, -1}, kY, FitUp::kUnknown},
               {{0, -1, 0}, kZ, FitUp::kUnknown},
               {kX, kZ, FitUp::kUnknown},
               {{-1, 0, 0}, kZ, FitUp::kUnknown}};
  std::vector<Orientation> orientations;
  for (const auto& [up, first, named] : kAxes) {
    if (wanted != FitUp::kUnknown && wanted != named) continue;
    if (!turns && named == FitUp::kUnknown) continue;  // the usual directions only
    Vec3d forward = first;
    for (int turn = 0; turn < (turns ? 4 : 1); ++turn) {
      const Vec3d side = Cross(up, forward);
      orientations.push_back({side, up, forward});
      forward = side;
    }
  }
  return orientations;
}

std::vector<Vec3d> Places(const SkeletonTemplate& skeleton, double scale, const Orientation& turn) {
  std::vector<Vec3d> places;
  for (const TemplateJoint& joint : skeleton.joints) {
    places.push_back(kTemplateScale * scale * turn(joint.place));
  }
  return places;
}

std::uint32_t JointOf(const SkeletonTemplate& skeleton, const JointHint& hint) {
  const auto found = std::ranges::find(skeleton.joints, hint.joint, &TemplateJoint::name);
  return static_cast<std::uint32_t>(found - skeleton.joints.begin());
}

std::vector<std::uint32_t> Hinted(const SkeletonTemplate& skeleton, const FitOptions& options) {
  std::vector<std::uint32_t> joints;
  for (const JointHint& hint : options.hints) joints.push_back(JointOf(skeleton, hint));
  return joints;
}

// Whether some of the joints would not be among those of Reduce unless they are kept.
bool DivideChains(const SkeletonTemplate& skeleton, std::span<const std::uint32_t> joints) {
  std::vector<Vec3d> places;
  for (const TemplateJoint& joint : skeleton.joints) places.push_back(joint.place);
  return fit::Reduce(skeleton, places, joints).joints.size() >
         fit::Reduce(skeleton, places).joints.size();
}

// [reduced joints] the sphere nearest to the hint of the joint.
std::vector<std::vector<std::uint16_t>> FixedSpheres(const SkeletonTemplate& skeleton,
                                                     const ReducedSkeleton& reduced,
                                                     const Body& body, const SphereGraph& graph,
                                                     const std::vector<JointHint>& hints) {
  std::vector<std::vector<std::uint16_t>> fixed(reduced.joints.size());
  for (const JointHint& hint : hints) {
    const auto place =
        std::ranges::find(reduced.joints, JointOf(skeleton, hint), &fit::ReducedJoint::joint);
    if (place == reduced.joints.end()) continue;  // it takes its place afterwards
    const auto distance = [&, at = body.ToUnit(hint.place)](const Vec3d& centre) {
      return Length(centre - at);
    };
    const auto nearest = std::ranges::min_element(graph.centre, {}, distance);
    fixed[static_cast<std::size_t>(place - reduced.joints.begin())] = {
        static_cast<std::uint16_t>(nearest - graph.centre.begin())};
  }
  return fixed;
}

// Says how much of the mesh is not part of the body, if that may matter.
std::optional<std::string> LeftOut(const Body& body) {
  const Vec3d size = body.size();
  const double length = body.longest_left_out() / std::max({size.x, size.y, size.z});
  if (body.connected() >= kConnected && length < kLongLeftOut) return std::nullopt;
  return absl::StrFormat(
      "%.2g %% of the mesh's inside is not connected to the rest and was left out%s",
      100 * (1 - body.connected()),
      length < kLongLeftOut ? ""
                            : absl::StrFormat("; the longest such part is %.0f %% as long as the "
                                              "body",
                                              100 * length));
}

// Why nothing may fit: a floor that the body stands on, parts that are left out.
std::string WhatTheBodyIs(const Body& body) {
  const Vec3d size = body.FromUnit(body.size()) - body.FromUnit({});
  const std::optional<std::string> left_out = LeftOut(body);
  return absl::StrFormat("; what counts as the body is %.3g x %.3g x %.3g large%s", size.x, size.y,
                         size.z, left_out ? absl::StrCat("; ", *left_out) : "");
}

struct Match {
  Orientation orientation;
  ReducedSkeleton skeleton;
  Embedding embedding;
};

struct Matches {
  Match best;
  std::optional<Match> other;  // the next best, if its residual is near and the feet do not decide
};

// The one whose feet point forwards, if they do in no other; else the first: it is the usual one,
// and another must be better by far.
Matches Choose(const SkeletonTemplate& skeleton, const Body& body, const SphereGraph& graph,
               std::vector<Match> near) {
  std::vector<double> toes;
  for (const Match& match : near) {
    const std::vector<Vec3d> places = fit::PlacesOf(match.skeleton, graph, match.embedding);
    const Orientation& turn = match.orientation;
    toes.push_back(fit::Toes(body, skeleton, places, turn.up, turn.forward));
  }
  const auto most = std::ranges::max_element(toes);
  const bool decided =
      std::ranges::count_if(toes, [&](double t) { return t > *most - kToes; }) == 1;
  const auto best = near.begin() + (decided ? most - toes.begin() : 0);
  Matches matches{std::move(*best), std::nullopt};
  near.erase(best);
  if (!decided && !near.empty()) {
    matches.other = *std::ranges::min_element(
        near, {}, [](const Match& match) { return match.embedding.penalty; });
  }
  return matches;
}

// The best of the directions that the options leave out, if it is better by far.
absl::StatusOr<std::optional<Match>> FindBetter(const SkeletonTemplate& skeleton,
                                                const FitOptions& options,
                                                std::span<const std::uint32_t> kept,
                                                const SphereGraph& graph,
                                                std::span<const std::vector<std::uint16_t>> fixed,
                                                double penalty, const Task& task) {
  std::optional<Match> better;
  double most = kBetter * penalty;
  std::size_t effort = fit::kMaxEffort;
  for (const Orientation& turn : Orientations(options.up, true)) {
    const ReducedSkeleton reduced =
        fit::Reduce(skeleton, Places(skeleton, options.scale, turn), kept);
    fit::EmbedReach reach;
    SINEW_ASSIGN_OR_RETURN(std::optional<Embedding> found,
                           fit::Embed({reduced, graph, turn.up, fixed}, most, task, reach, effort));
    if (!found) continue;
    most = found->penalty;
    better = Match{turn, reduced, *std::move(found)};
  }
  return better;
}

// kept: joints that the search places although they divide a chain, see Reduce.
absl::StatusOr<Matches> Search(const SkeletonTemplate& skeleton, const FitOptions& options,
                               std::span<const std::uint32_t> kept, const Body& body,
                               const SphereGraph& graph, const Task& task) {
  const std::vector<Orientation> orientations = Orientations(options.up, options.turns);
  std::vector<ReducedSkeleton> skeletons;
  for (const Orientation& turn : orientations) {
    skeletons.push_back(fit::Reduce(skeleton, Places(skeleton, options.scale, turn), kept));
  }
  const auto fixed = FixedSpheres(skeleton, skeletons[0], body, graph, options.hints);
  // Each search finds the best assignment of its orientation, so none is repeated that found one.
  std::vector<std::optional<Embedding>> found(orientations.size());
  std::vector<fit::EmbedReach> reached(orientations.size());
  std::size_t effort = kMaxEffort;
  const auto search = [&](std::size_t k, double most) -> absl::Status {
    if (found[k] || reached[k].exhausted) return absl::OkStatus();
    const fit::EmbedInput input{skeletons[k], graph, orientations[k].up, fixed};
    SINEW_ASSIGN_OR_RETURN(found[k], fit::Embed(input, most, task, reached[k], effort));
    return absl::OkStatus();
  };
  double least = kMostPenalty;
  bool fits = false;
  for (const double level : kLevels) {
    for (std::size_t k = 0; k < orientations.size(); ++k) {
      SINEW_RETURN_IF_ERROR(search(k, std::min(level, least)));
      if (!found[k]) continue;
      least = std::min(least, found[k]->penalty);
      fits = true;
    }
    if (fits) break;
  }
  if (!fits) {
    std::size_t lost = skeletons[0].joints.size() - 1, furthest = 0;
    for (const fit::EmbedReach& reach : reached) furthest = std::max(furthest, reach.joints);
    lost = std::min(lost, furthest);
    const std::string& joint = skeleton.joints[skeletons[0].joints[lost].joint].name;
    const bool exhausted = std::ranges::any_of(reached, &fit::EmbedReach::exhausted);
    return absl::FailedPreconditionError(absl::StrCat(
        "template: \"", skeleton.name, "\" does not fit the body",
        options.hints.empty() ? "" : " with these hints",
        exhausted ? ", or in too many ways to try them all; give the places of some joints as "
                    "hints, or use fewer joints"
                  : absl::StrCat(": no place for joint \"", joint, "\""),
        WhatTheBodyIs(body)));
  }
  std::vector<Match> all;
  const double near = std::min(kMostPenalty, kNear * least);
  for (std::size_t k = 0; k < orientations.size(); ++k) {
    SINEW_RETURN_IF_ERROR(search(k, near));
    if (!found[k] || found[k]->penalty > near) continue;
    all.push_back({orientations[k], skeletons[k], *std::move(found[k])});
  }
  Matches matches = Choose(skeleton, body, graph, std::move(all));
  const double before = matches.best.embedding.penalty;
  const auto cover = [&](Match& match) {
    effort = fit::kMaxEffort;
    return fit::CoverBareParts({match.skeleton, graph, match.orientation.up, fixed}, task,
                               match.embedding, effort);
  };
  SINEW_RETURN_IF_ERROR(cover(matches.best));
  // Drops a match whose residual, covered like that of the best, is more than `ratio` times as
  // large.
  const auto keep = [&](std::optional<Match>& match, double ratio) -> absl::Status {
    if (!match) return absl::OkStatus();
    SINEW_RETURN_IF_ERROR(cover(*match));
    if (match->embedding.penalty > ratio * matches.best.embedding.penalty) match.reset();
    return absl::OkStatus();
  };
  SINEW_RETURN_IF_ERROR(keep(matches.other, kNear));
  if (options.turns) return matches;
  SINEW_ASSIGN_OR_RETURN(std::optional<Match> better,
                         FindBetter(skeleton, options, kept, graph, fixed, before, task));
  SINEW_RETURN_IF_ERROR(keep(better, kBetter));
  if (better) matches.other = std::move(better);
  return matches;
}

FitFacing FacingOf(const Match& match) {
  return {match.orientation.up, match.orientation.forward, match.embedding.penalty};
}

std::string AxisName(const Vec3d& axis) {
  const char* sign = axis.x + axis.y + axis.z < 0 ? "-" : "+";
  return absl::StrCat(sign, axis.x != 0 ? "x" : axis.y != 0 ? "y" : "z");
}

std::string WayOf(const FitFacing& facing) {
  return absl::StrCat(AxisName(facing.forward), " with ", AxisName(facing.up), " up");
}

// Warns if hints turn the character: most often left and right were mixed up.
absl::Status CheckTurn(const SkeletonTemplate& skeleton, FitOptions options, const Body& body,
                       const SphereGraph& graph, const Task& task, SkeletonFit& fitted) {
  if (options.hints.empty() || Orientations(options.up, options.turns).size() == 1) {
    return absl::OkStatus();
  }
  options.hints.clear();
  const absl::StatusOr<Matches> free = Search(skeleton, options, {}, body, graph, task);
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  if (!free.ok()) return absl::OkStatus();  // the hints are what makes it fit
  const FitFacing without = FacingOf(free->best);
  if (without.residual > fitted.facing.residual ||
      (without.up == fitted.facing.up && without.forward == fitted.facing.forward)) {
    return absl::OkStatus();
  }
  fitted.warnings.push_back(
      {Severity::kWarning, "hints",
       absl::StrFormat("with them the character faces %s (residual %.3f), without them %s (%.3f); "
                       "left and right are those of the character",
                       WayOf(fitted.facing), fitted.facing.residual, WayOf(without),
                       without.residual)});
  return absl::OkStatus();
}

// What a user should look at.
void Warn(const SkeletonTemplate& skeleton, const Body& body, const SphereGraph& graph,
          const Match& match, const std::vector<Vec3d>& places, SkeletonFit& fitted) {
  const auto warn = [&](std::string field, std::string message) {
    fitted.warnings.push_back({Severity::kWarning, std::move(field), std::move(message)});
  };
  if (fitted.facing.residual > kDoubtfulResidual) {
    warn("template", absl::StrFormat("residual %.3f: above %.1f fits are often wrong; look at it, "
                                     "and give hints for joints that are not in their limbs",
                                     fitted.facing.residual, kDoubtfulResidual));
  }
  if (fitted.other) {
    warn("template",
         absl::StrFormat("the character may face %s instead of %s: residuals %.3f and %.3f",
                         WayOf(*fitted.other), WayOf(fitted.facing), fitted.other->residual,
                         fitted.facing.residual));
  }
  if (const Vec3d& up = fitted.facing.up; up.y < 0.5 && up.z < 0.5) {
    warn("mesh",
         absl::StrCat("its up is ", AxisName(up),
                      ", where programs expect +y or +z: turn it, or the character will lie down"));
  }
  if (std::optional<std::string> left_out = LeftOut(body)) warn("mesh", *std::move(left_out));
  const std::vector<fit::BarePart> bare =
      fit::BareParts(graph, match.skeleton.parents, places, kBare * fit::kLongestSide);
  // Where parts end, and how long they are.
  std::vector<std::pair<Vec3d, double>> parts;
  for (const fit::BarePart& part : bare) parts.emplace_back(graph.centre[part.tip], part.length);
  for (const fit::ThinPart& part : fit::ThinParts(body, graph, match.skeleton.parents, places,
                                                  kBare * fit::kLongestSide, kMaxBare)) {
    parts.emplace_back(part.tip, part.length);
  }
  std::ranges::stable_sort(parts, std::greater<>(), &std::pair<Vec3d, double>::second);
  if (parts.size() > kMaxBare) parts.resize(kMaxBare);
  // Places to a thousandth of the body, wherever it stands.
  const double longest = Length(body.FromUnit({fit::kLongestSide, 0, 0}) - body.FromUnit({}));
  const int decimals = std::clamp(3 - static_cast<int>(std::floor(std::log10(longest))), 0, 9);
  for (const auto& [end, length] : parts) {
    const Vec3d tip = body.FromUnit(end);
    warn("mesh",
         absl::StrFormat("no bone lies in a part of it that ends at %.*f, %.*f, %.*f and is "
                         "%.0f %% of its longest side long; if the skeleton has a joint "
                         "for it, give its place as a hint",
                         decimals, tip.x, decimals, tip.y, decimals, tip.z,
                         100 * length / fit::kLongestSide));
  }
  for (std::uint32_t k = 1; k < match.skeleton.joints.size(); ++k) {
    const fit::ReducedJoint& joint = match.skeleton.joints[k];
    const std::uint32_t root = match.skeleton.LimbRoot(k);
    const std::uint16_t sphere = match.embedding.spheres[k];
    const std::uint16_t above = match.embedding.spheres[root];
    if (!joint.leaf || Length(graph.centre[sphere] - graph.centre[above]) > graph.radius[above]) {
      continue;
    }
    const std::uint32_t parent = match.skeleton.joints[root].joint;
    warn(absl::StrCat("joints.", skeleton.joints[joint.joint].name),
         absl::StrCat("it lies within the thickness of the body at \"",
                      skeleton.joints[parent].name, "\"; the body may have no such limb"));
  }
  for (std::uint32_t j = 1; j < places.size(); ++j) {
    const TemplateJoint& joint = skeleton.joints[j];
    const Vec3d root = places[joint.parent];
    double depth = 0;
    for (int k = 0; k <= kProbes; ++k) {
      depth = std::min(depth,
                       body.Depth(root + (static_cast<double>(k) / kProbes) * (places[j] - root)));
    }
    if (depth < -kOutside) {
      warn(absl::StrCat("joints.", joint.name),
           absl::StrFormat("the bone to it leaves the body by %.1f %% of its longest side",
                           -100 * depth / fit::kLongestSide));
    }
    const auto length = [&](std::uint32_t b) {
      return Length(places[b] - places[skeleton.joints[b].parent]);
    };
    const double mine = length(j);
    if (mine < kNoLength * fit::kLongestSide) {
      warn(absl::StrCat("joints.", joint.name),
           absl::StrCat("its bone has no length: it is where \"",
                        skeleton.joints[joint.parent].name, "\" is"));
    }
    if (joint.partner == fit::kNone || joint.partner > j || joint.partner == 0) continue;
    const double its = length(joint.partner);
    if (std::min(mine, its) < kNoLength * fit::kLongestSide) continue;  // it has a warning
    if (std::max(mine, its) > kUnequal * std::min(mine, its) + kOutside) {
      warn(absl::StrCat("joints.", joint.name),
           absl::StrFormat("its bone is %.2f times as long as that of \"%s\"", mine / its,
                           skeleton.joints[joint.partner].name));
    }
  }
}

// In the cube around the body: nothing of it is known elsewhere.
absl::Status CheckPlaces(const Body& body, const std::vector<JointHint>& hints) {
  const Vec3d low = body.FromUnit({-0.5, -0.5, -0.5}), high = body.FromUnit({0.5, 0.5, 0.5});
  for (std::size_t h = 0; h < hints.size(); ++h) {
    const Vec3d& at = hints[h].place;
    const bool inside = at.x >= low.x && at.y >= low.y && at.z >= low.z && at.x <= high.x &&
                        at.y <= high.y && at.z <= high.z;
    if (inside) continue;
    return absl::InvalidArgumentError(absl::StrFormat(
        "hints[%d].place: got %g, %g, %g, need a place in the mesh: %g to %g, %g to %g, %g to %g",
        h, at.x, at.y, at.z, low.x, high.x, low.y, high.y, low.z, high.z));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckFitOptions(const SkeletonTemplate& skeleton, const FitOptions& options) {
  SINEW_RETURN_IF_ERROR(fit::CheckTemplate(skeleton));
  if (options.resolution < 64 || options.resolution > 384) {
    return absl::InvalidArgumentError(
        absl::StrCat("resolution: got ", options.resolution, ", need 64 to 384"));
  }
  if (!(options.scale >= 0.5 && options.scale <= 2)) {
    return absl::InvalidArgumentError(
        absl::StrCat("scale: got ", options.scale, ", need 0.5 to 2"));
  }
  for (std::size_t h = 0; h < options.hints.size(); ++h) {
    const JointHint& hint = options.hints[h];
    if (std::ranges::find(skeleton.joints, hint.joint, &TemplateJoint::name) ==
        skeleton.joints.end()) {
      std::vector<std::string> names;
      for (const TemplateJoint& joint : skeleton.joints) names.push_back(joint.name);
      return absl::InvalidArgumentError(absl::StrCat("hints[", h, "].joint: got \"", hint.joint,
                                                     "\", need one of ", absl::StrJoin(names, ", "),
                                                     DidYouMean(hint.joint, names)));
    }
    if (std::ranges::count(options.hints, hint.joint, &JointHint::joint) > 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("hints[", h, "].joint: got \"", hint.joint, "\" twice, need it once"));
    }
    for (const double x : {hint.place.x, hint.place.y, hint.place.z}) {
      if (std::isfinite(x)) continue;
      return absl::InvalidArgumentError(absl::StrCat("hints[", h, "].place: need finite numbers"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<SkeletonFit> FitSkeleton(const Mesh& mesh, const SkeletonTemplate& skeleton,
                                        const FitOptions& options, Task& task) {
  SINEW_RETURN_IF_ERROR(CheckFitOptions(skeleton, options));
  const DenormalGuard guard;
  task.SetTotal(1);
  SINEW_ASSIGN_OR_RETURN(const Body body, Body::Create(mesh, options.resolution, task));
  SINEW_RETURN_IF_ERROR(CheckPlaces(body, options.hints));
  task.Advance(0.4);
  SINEW_ASSIGN_OR_RETURN(const SphereGraph graph, fit::PackSpheres(body, task));
  task.Advance(0.1);
  const std::vector<std::uint32_t> hinted = Hinted(skeleton, options);
  absl::StatusOr<Matches> found = Search(skeleton, options, hinted, body, graph, task);
  const bool beside = absl::IsFailedPrecondition(found.status()) && DivideChains(skeleton, hinted);
  if (beside) found = Search(skeleton, options, {}, body, graph, task);
  SINEW_RETURN_IF_ERROR(found.status());
  const Matches& matches = *found;
  task.Advance(0.3);

  const Match& match = matches.best;
  std::vector<Vec3d> places = fit::PlacesOf(match.skeleton, graph, match.embedding);
  std::vector<Vec3d> bones(places.size());
  for (std::size_t j = 1; j < bones.size(); ++j) {
    bones[j] = match.skeleton.places[j] - match.skeleton.places[skeleton.joints[j].parent];
  }
  std::vector<std::uint8_t> fixed(places.size(), 0);
  for (const JointHint& hint : options.hints) {
    const std::uint32_t joint = JointOf(skeleton, hint);
    places[joint] = body.ToUnit(hint.place);
    fixed[joint] = 1;
  }
  places = fit::Refine(body, skeleton, bones, fixed, std::move(places));
  const Vec3d& side = match.orientation.side;
  const std::optional<fit::Mirror> mirror =
      fit::FindMirror(body, side, fit::SideOf(skeleton, places, side));
  if (mirror) fit::MakeSymmetric(body, skeleton, *mirror, fixed, places);
  std::vector<std::uint8_t> ended = fixed;
  fit::MoveToEnds(body, skeleton, places, ended);
  places = fit::Refine(body, skeleton, bones, ended, std::move(places));
  std::vector<std::uint32_t> far;
  if (mirror) far = fit::MakeSymmetric(body, skeleton, *mirror, fixed, places);
  task.Advance(0.1);

  SkeletonFit fitted;
  fitted.facing = FacingOf(match);
  if (matches.other) fitted.other = FacingOf(*matches.other);
  fitted.spheres = graph.count();
  Warn(skeleton, body, graph, match, places, fitted);
  if (beside) {
    fitted.warnings.push_back({Severity::kWarning, "hints",
                               "no fit was found that leads through all of them: joints within "
                               "limbs were put there afterwards"});
  }
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  SINEW_RETURN_IF_ERROR(CheckTurn(skeleton, options, body, graph, task, fitted));
  task.Advance(0.1);
  for (const std::uint32_t j : far) {
    fitted.warnings.push_back(
        {Severity::kWarning, absl::StrCat("joints.", skeleton.joints[j].name),
         absl::StrCat("the body is symmetric there, but it is far from where \"",
                      skeleton.joints[skeleton.joints[j].partner].name,
                      "\" would be on its side: one of them is in a wrong place")});
  }
  for (const Vec3d& place : places) fitted.places.push_back(body.FromUnit(place));
  return fitted;
}

}  // namespace sinew
