#include "sinew/clip_files.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "client/import/appended_clips.h"
#include "client/import/motion.h"
#include "client/import/name_match.h"
#include "client/import/scene_graph.h"
#include "client/import/unweighted.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"
#include "core/base/vectors.h"

namespace sinew::client {
namespace {

// Smaller differences of rest poses come from how exporters round.
constexpr double kSameDegrees = 1, kSameRatio = 1.01;
constexpr double kSameLength = 1e-4;  // of the longest bone

// What becomes what, of all clips of a file.
struct Transfer {
  std::shared_ptr<const AnimatedScene> from;
  ScenePose rest;                      // of `from`
  std::vector<std::int32_t> source;    // [nodes] the node of `from`, or -1
  std::vector<std::int32_t> controls;  // [K] the control of `from`, or -1
};

// A clip of another scene.
class TransferredMotion final : public Motion {
 public:
  TransferredMotion(std::shared_ptr<const Transfer> transfer, std::shared_ptr<const Motion> motion)
      : transfer_(std::move(transfer)), motion_(std::move(motion)) {}

  absl::Status Evaluate(const AnimatedScene& scene, double seconds,
                        ScenePose& pose) const override {
    ScenePose source = transfer_->rest;
    SINEW_RETURN_IF_ERROR(motion_->Evaluate(*transfer_->from, seconds, source));
    for (const std::uint32_t n : scene.order) {
      const std::int32_t parent = scene.nodes[n].parent;
      if (const std::int32_t paired = transfer_->source[n]; paired >= 0) {
        pose.global[n] = source.global[static_cast<std::size_t>(paired)];
      } else if (parent >= 0) {
        pose.global[n] = Compose(pose.global[static_cast<std::size_t>(parent)], pose.local[n]);
      }
    }
    for (std::size_t k = 0; k < transfer_->controls.size(); ++k) {
      const std::int32_t paired = transfer_->controls[k];
      if (paired >= 0) pose.controls[k] = source.controls[static_cast<std::size_t>(paired)];
    }
    return absl::OkStatus();
  }

 private:
  const std::shared_ptr<const Transfer> transfer_;
  const std::shared_ptr<const Motion> motion_;
};

// The nodes that have names to pair: all, or only joints and the nodes above them.
std::vector<NamedNode> NamedNodes(const ImportedScene& scene, bool all) {
  const AnimatedScene& animation = *scene.animation;
  std::vector<NamedNode> named(animation.nodes.size());
  std::vector<bool> has_name(named.size(), all);
  for (const std::uint32_t joint : animation.joint_nodes) {
    named[joint].joint = true;
    has_name[joint] = true;
  }
  for (std::size_t i = animation.order.size(); i-- > 0;) {  // children first
    const std::uint32_t n = animation.order[i];
    if (!has_name[n]) continue;
    named[n].name = animation.nodes[n].name;
    const std::int32_t parent = animation.nodes[n].parent;
    if (parent >= 0) has_name[static_cast<std::size_t>(parent)] = true;
  }
  return named;
}

std::vector<std::int32_t> PairControls(const RigData& from, const RigData& to) {
  std::unordered_map<std::string, std::int32_t> index;
  for (const Control& control : from.controls) {
    index.emplace(control.name, static_cast<std::int32_t>(index.size()));
  }
  std::vector<std::int32_t> paired;
  for (const Control& control : to.controls) {
    const auto found = index.find(control.name);
    paired.push_back(found == index.end() ? -1 : found->second);
  }
  return paired;
}

// Column c of the linear part.
Vec3d Axis(const AffineD& a, std::size_t c) {
  return {a.m[c], a.m[4 + c], a.m[8 + c]};
}

// The angle between the axes of two transforms, whatever their scales; NaN if one has none.
double Degrees(const AffineD& a, const AffineD& b) {
  double trace = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    const Vec3d u = Axis(a, c), v = Axis(b, c);
    trace += Dot(u, v) / (Length(u) * Length(v));
  }
  return std::acos(std::clamp((trace - 1) / 2, -1.0, 1.0)) * 180 / std::numbers::pi;
}

double Distance(const AffineD& a, const AffineD& b) {
  return Length(Translation(b) - Translation(a));
}

// How much larger the larger one is; 1 if both are 0.
double Ratio(double a, double b) {
  return a == b ? 1 : std::max(a, b) / std::min(a, b);
}

// Compares the rest poses of paired joints and reports what differs.
class RestComparison {
 public:
  RestComparison(const ImportedScene& from, const ImportedScene& to, const Transfer& transfer)
      : from_(from), to_(to), transfer_(transfer), rest_(PoseAtRest(*to.animation, to.rig)) {
    const std::size_t joints = to.rig.joints.size();
    for (std::size_t j = 0; j < joints; ++j) {
      if (const auto above = Above(j))
        longest_ = std::max(longest_, Distance(OwnOf(*above), OwnOf(j)));
    }
    for (std::size_t j = 0; j < joints; ++j) {
      if (SourceOf(j) != nullptr) Compare(j);
    }
  }

  void Report(std::vector<Problem>& problems) const {
    const std::string& other = LabelOf(to_);
    const auto warn = [&](const std::string& message) {
      problems.push_back({Severity::kWarning, message, LabelOf(from_)});
    };
    if (turned_ > 0) {
      warn(
          absl::StrFormat("at rest %s turned against those of %s, by up to %.3g "
                          "degrees at '%s'; they move as in the clip's file",
                          CountedText(turned_, "joint is", "joints are"), other, angle_.most,
                          NameOf(angle_.joint)));
    }
    if (resized_ == 0) return;
    const double whole = own_sum_ > 0 && sum_ > 0 ? sum_ / own_sum_ : 0;
    warn(absl::StrCat("at rest ", CountedText(resized_, "joint has", "joints have"),
                      " another distance or scale than in ", other, ", the most at '",
                      NameOf(size_.joint), "'",
                      whole > 0 ? absl::StrFormat("; in all, bones are %.3g times as long", whole)
                                : std::string(),
                      UnitText(), "; joints have the distances of the clip's file"));
  }

 private:
  struct Worst {
    double most = 0;
    std::size_t joint = 0;
    void Add(double value, std::size_t at) {
      if (!(value > most)) return;
      most = value;
      joint = at;
    }
  };

  const AffineD& OwnOf(std::size_t joint) const {
    return rest_.global[to_.animation->joint_nodes[joint]];
  }
  const AffineD* SourceOf(std::size_t joint) const {
    const std::int32_t source = transfer_.source[to_.animation->joint_nodes[joint]];
    return source < 0 ? nullptr : &transfer_.rest.global[static_cast<std::size_t>(source)];
  }
  const std::string& NameOf(std::size_t joint) const { return to_.rig.joints[joint].name; }

  // The nearest paired joint above.
  std::optional<std::size_t> Above(std::size_t joint) const {
    for (std::int32_t up = to_.rig.joints[joint].parent; up >= 0;) {
      const auto above = static_cast<std::size_t>(up);
      if (SourceOf(above) != nullptr) return above;
      up = to_.rig.joints[above].parent;
    }
    return std::nullopt;
  }

  void Compare(std::size_t joint) {
    const AffineD &own = OwnOf(joint), &source = *SourceOf(joint);
    double resized = 1;
    for (std::size_t c = 0; c < 3; ++c) {
      resized = std::max(resized, Ratio(Length(Axis(own, c)), Length(Axis(source, c))));
    }
    AffineD own_turn = own, turn = source;
    if (const std::optional<std::size_t> above = Above(joint)) {
      const AffineD &own_above = OwnOf(*above), &source_above = *SourceOf(*above);
      own_turn = Compose(Inverse(own_above), own);
      turn = Compose(Inverse(source_above), source);
      const double own_length = Distance(own_above, own), length = Distance(source_above, source);
      own_sum_ += own_length;
      sum_ += length;
      if (std::abs(length - own_length) > kSameLength * longest_) {
        resized = std::max(resized, Ratio(own_length, length));
      }
    }
    const double degrees = Degrees(own_turn, turn);
    if (degrees > kSameDegrees) {
      ++turned_;
      angle_.Add(degrees, joint);
    }
    if (resized > kSameRatio) {
      ++resized_;
      size_.Add(resized, joint);
    }
  }

  std::string UnitText() const {
    const double own = to_.rig.meters_per_unit, unit = from_.rig.meters_per_unit;
    if (!(own > 0 && unit > 0) || Ratio(own, unit) <= kSameRatio) return {};
    return absl::StrFormat(" (the unit is %.3g m, not %.3g m)", unit, own);
  }

  const ImportedScene &from_, &to_;
  const Transfer& transfer_;
  const ScenePose rest_;
  std::size_t turned_ = 0, resized_ = 0;
  Worst angle_, size_;
  double longest_ = 0, own_sum_ = 0, sum_ = 0;  // of the lengths of bones
};

absl::Status NothingPaired(const ImportedScene& from, const ImportedScene& to,
                           const std::vector<std::string>& joints,
                           const std::vector<std::string>& ambiguous) {
  if (!ambiguous.empty()) {
    return InvalidArgument(LabelOf(from), ": several nodes have the name of a joint of ",
                           LabelOf(to), ": ", Quoted(ambiguous), "; need one node for each joint");
  }
  const AnimatedScene& animation = *from.animation;
  const bool has_joints = !animation.joint_nodes.empty();
  std::vector<std::string> names;
  for (const std::uint32_t n : has_joints ? animation.joint_nodes : animation.order) {
    if (!animation.nodes[n].name.empty()) names.push_back(animation.nodes[n].name);
  }
  const auto list = [](const char* kind, const std::vector<std::string>& all) {
    return all.empty() ? absl::StrCat("no ", kind, " with a name")
                       : absl::StrCat("the ", kind, " ", Quoted(all));
  };
  return InvalidArgument(LabelOf(from), ": has no joint of ", LabelOf(to), "; it has ",
                         list(has_joints ? "joints" : "nodes", names), ", ", LabelOf(to), " has ",
                         list("joints", joints));
}

// Reports the joints that keep their rest pose. kInvalidArgument: all of them do, and all controls.
absl::Status ReportUnpaired(const ImportedScene& from, const ImportedScene& to,
                            const NameMatch& match, const std::vector<std::int32_t>& controls,
                            std::vector<Problem>& problems) {
  std::vector<std::string> joints, missing, ambiguous;
  for (std::size_t j = 0; j < to.rig.joints.size(); ++j) {
    const std::uint32_t n = to.animation->joint_nodes[j];
    if (to.animation->nodes[n].path == kStillPath) continue;
    const std::string& name = to.rig.joints[j].name;
    joints.push_back(name);
    if (match.source[n] >= 0) continue;
    (std::ranges::binary_search(match.ambiguous, n) ? ambiguous : missing).push_back(name);
  }
  const bool no_joint = missing.size() + ambiguous.size() == joints.size();
  const bool no_control = std::ranges::all_of(controls, [](std::int32_t c) { return c < 0; });
  if (no_joint && no_control) return NothingPaired(from, to, joints, ambiguous);
  const auto report = [&](Severity severity, const std::string& message) {
    problems.push_back({severity, message, LabelOf(from)});
  };
  if (!ambiguous.empty()) {
    report(
        Severity::kWarning,
        absl::StrCat(ambiguous.size(), " of ", CountedText(joints.size(), "joint"),
                     ambiguous.size() == 1 ? " keeps its" : " keep their",
                     " rest pose, because several nodes have the same name: ", Quoted(ambiguous)));
  }
  if (!missing.empty()) {
    report(Severity::kWarning,
           absl::StrCat(
               missing.size(), " of ", CountedText(joints.size(), "joint"),
               missing.size() == 1 ? " is missing and keeps its" : " are missing and keep their",
               " rest pose: ", Quoted(missing)));
  }
  if (!match.rule.empty()) {
    report(Severity::kInfo, absl::StrCat("joints have the same names but for ", match.rule));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ImportedScene> ImportClips(const std::string& path) {
  return ImportFile(path, {.allow_no_skin = true, .clips_only = true});
}

absl::Status AddClips(const ImportedScene& from, ImportedScene& to) {
  SINEW_RETURN_IF_ERROR(CheckClips(from, to));
  NameMatch match = MatchNames(NamedNodes(to, /*all=*/false), NamedNodes(from, /*all=*/true));
  std::vector<std::int32_t> controls = PairControls(from.rig, to.rig);
  std::vector<Problem> problems;
  SINEW_RETURN_IF_ERROR(ReportUnpaired(from, to, match, controls, problems));
  const auto transfer =
      std::make_shared<const Transfer>(Transfer{.from = from.animation,
                                                .rest = PoseAtRest(*from.animation, from.rig),
                                                .source = std::move(match.source),
                                                .controls = std::move(controls)});
  RestComparison(from, to, *transfer).Report(problems);
  AppendClips(
      from, std::move(problems),
      [&](std::shared_ptr<const Motion> motion) {
        return std::make_shared<TransferredMotion>(transfer, std::move(motion));
      },
      to);
  return absl::OkStatus();
}

}  // namespace sinew::client
