#include "core/fit/skeleton_template.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <array>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "core/base/closest_names.h"
#include "core/base/status.h"

namespace sinew::fit {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"human", "quadruped", "horse", "centaur"};

// Builds a template joint by joint; joints of the left side bring those of the right.
class Builder {
 public:
  explicit Builder(std::string_view name) { skeleton_.name = name; }

  Builder& Add(std::string_view name, std::string_view parent, Vec3d place, bool wide = false) {
    skeleton_.joints.push_back(
        {.name = std::string(name), .parent = Find(parent), .place = place, .wide = wide});
    return *this;
  }

  struct Link {
    std::string_view name;
    Vec3d place;
    bool foot = false;
  };
  // A chain of the left side below `parent`, then its mirror image of the right side.
  Builder& AddPair(std::string_view parent, std::initializer_list<Link> chain) {
    for (const bool left : {true, false}) {
      std::uint32_t above = Find(parent);
      for (const Link& link : chain) {
        const auto joint = static_cast<std::uint32_t>(skeleton_.joints.size());
        const auto length = static_cast<std::uint32_t>(chain.size());
        const Vec3d place = {left ? link.place.x : -link.place.x, link.place.y, link.place.z};
        skeleton_.joints.push_back(
            {.name = absl::StrCat(left ? "left_" : "right_", AbslView(link.name)),
             .parent = above,
             .place = place,
             .foot = link.foot,
             .partner = left ? joint + length : joint - length});
        above = joint;
      }
    }
    return *this;
  }

  SkeletonTemplate Take() { return std::move(skeleton_); }

 private:
  std::uint32_t Find(std::string_view name) const {
    for (std::uint32_t j = 0; j < skeleton_.joints.size(); ++j) {
      if (skeleton_.joints[j].name == name) return j;
    }
    return kNone;
  }
  SkeletonTemplate skeleton_;
};

// The proportions are those of Pinocchio's skeletons, but for the arms. Its head is `head_top`;
// neck and head are added, without which the head would turn with the chest. Its hand is
// `hand_end`, in the fingers; the hand is the wrist, as in other skeletons. Upper arm, forearm and
// hand are .186, .146 and .095 of the height, the hand without the radius of a finger (Drillis,
// Contini 1966).
SkeletonTemplate Human() {
  return Builder("human")
      .Add("chest", "", {0, 0.5, 0}, true)
      .Add("back", "chest", {0, 0.15, 0})
      .Add("hips", "back", {0, 0, 0}, true)
      .Add("neck", "chest", {0, 0.54, 0})
      .Add("head", "neck", {0, 0.59, 0})
      .Add("head_top", "head", {0, 0.7, 0})
      .AddPair("hips", {{"thigh", {0.1, 0, 0}},
                        {"knee", {0.15, -0.35, 0}},
                        {"ankle", {0.15, -0.8, 0}},
                        {"foot", {0.15, -0.8, 0.1}, true}})
      .AddPair("chest", {{"shoulder", {0.2, 0.5, 0}},
                         {"elbow", {0.374, 0.282, 0.065}},
                         {"hand", {0.511, 0.111, 0.117}},
                         {"hand_end", {0.6, 0, 0.15}}})
      .Take();
}

// Trunk, neck and head of an animal with four legs.
Builder Animal(std::string_view name) {
  Builder builder(name);
  builder.Add("chest", "", {0, 0, 0.5}, true)
      .Add("back", "chest", {0, 0, 0})
      .Add("hips", "back", {0, 0, -0.5}, true)
      .Add("neck", "chest", {0, 0.2, 0.63})
      .Add("head", "neck", {0, 0.2, 0.9}, true);
  return builder;
}

SkeletonTemplate Quadruped() {
  return Animal("quadruped")
      .AddPair("hips", {{"thigh", {0.15, 0, -0.5}},
                        {"hind_knee", {0.2, -0.4, -0.5}},
                        {"hind_foot", {0.2, -0.8, -0.5}, true}})
      .AddPair("chest", {{"shoulder", {0.2, 0, 0.5}},
                         {"fore_knee", {0.2, -0.4, 0.5}},
                         {"fore_foot", {0.2, -0.8, 0.5}, true}})
      .Add("tail", "hips", {0, 0, -0.7})
      .Take();
}

SkeletonTemplate Horse() {
  return Animal("horse")
      .AddPair("hips", {{"thigh", {0.15, 0, -0.5}},
                        {"hind_knee", {0.2, -0.2, -0.45}},
                        {"hind_heel", {0.2, -0.4, -0.5}},
                        {"hind_foot", {0.2, -0.8, -0.5}, true}})
      .AddPair("chest", {{"shoulder", {0.2, 0, 0.5}},
                         {"fore_knee", {0.2, -0.4, 0.5}},
                         {"fore_foot", {0.2, -0.8, 0.5}, true}})
      .Add("tail", "hips", {0, 0, -0.7})
      .Take();
}

SkeletonTemplate Centaur() {
  return Builder("centaur")
      .Add("chest", "", {0, 0, 0.5}, true)
      .Add("back", "chest", {0, 0, 0})
      .Add("hips", "back", {0, 0, -0.5}, true)
      .Add("human_back", "chest", {0, 0.25, 0.5})
      .Add("human_chest", "human_back", {0, 0.5, 0.5}, true)
      .Add("head", "human_chest", {0, 0.7, 0.5}, true)
      .AddPair("hips", {{"thigh", {0.15, 0, -0.5}},
                        {"hind_knee", {0.2, -0.4, -0.45}},
                        {"hind_foot", {0.2, -0.8, -0.5}, true}})
      .AddPair("chest", {{"fore_shoulder", {0.2, 0, 0.5}},
                         {"fore_knee", {0.2, -0.4, 0.5}},
                         {"fore_foot", {0.2, -0.8, 0.5}, true}})
      .AddPair("human_chest", {{"shoulder", {0.2, 0.5, 0.5}},
                               {"elbow", {0.374, 0.282, 0.565}},
                               {"hand", {0.511, 0.111, 0.617}},
                               {"hand_end", {0.6, 0, 0.65}}})
      .Add("tail", "hips", {0, 0, -0.7})
      .Take();
}

absl::Status Refused(const TemplateJoint& joint, const std::string& what) {
  return InvalidArgument("joint \"", joint.name, "\": ", what);
}

}  // namespace

absl::Status CheckTemplate(const SkeletonTemplate& skeleton) {
  const std::vector<TemplateJoint>& joints = skeleton.joints;
  if (joints.size() < 2 || joints.size() > kMaxTemplateJoints) {
    return InvalidArgument("joints: got ", joints.size(), ", need 2 to ", kMaxTemplateJoints);
  }
  std::set<std::string_view> names;
  for (std::uint32_t j = 0; j < joints.size(); ++j) {
    const TemplateJoint& joint = joints[j];
    if (joint.name.empty()) return InvalidArgument("joints[", j, "].name: got \"\", need a name");
    if (!names.insert(joint.name).second)
      return Refused(joint, "got the name twice, need each once");
    for (const double x : {joint.place.x, joint.place.y, joint.place.z}) {
      if (!(std::abs(x) <= 1e6)) return Refused(joint, "place: need finite numbers within 1e6");
    }
    if (j == 0 ? joint.parent != kNone : joint.parent >= j) {
      return Refused(joint, j == 0 ? "parent: the first joint has none"
                                   : "parent: need a joint that comes before");
    }
    if (j > 0 && joint.place == joints[joint.parent].place) {
      return Refused(joint, "place: equals that of its parent, need a bone with a length");
    }
    if (joint.partner == kNone) continue;
    if (j == 0) return Refused(joint, "partner: the first joint has none");
    if (joint.partner >= joints.size() || joint.partner == j ||
        joints[joint.partner].partner != j) {
      return Refused(joint, "partner: need two joints that name each other");
    }
  }
  return absl::OkStatus();
}

std::span<const std::string_view> BuiltInTemplates() {
  return kNames;
}

absl::StatusOr<SkeletonTemplate> BuiltInTemplate(std::string_view name) {
  if (name == kNames[0]) return Human();
  if (name == kNames[1]) return Quadruped();
  if (name == kNames[2]) return Horse();
  if (name == kNames[3]) return Centaur();
  const std::vector<std::string> names(kNames.begin(), kNames.end());
  return InvalidArgument("template: got \"", name, "\", need ", absl::StrJoin(names, ", "),
                         " or joints of your own", DidYouMean(name, names));
}

}  // namespace sinew::fit
