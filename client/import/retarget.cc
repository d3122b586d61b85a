// Clips of another skeleton, see sinew/clip_files.h.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "client/import/appended_clips.h"
#include "client/import/joint_roles.h"
#include "client/import/scene_graph.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"
#include "core/base/vectors.h"
#include "sinew/clip_files.h"

namespace sinew::client {
namespace {

constexpr std::size_t kLeastPairs = 3;  // that tell how one skeleton stands in the other's space
// Cosine between the places of paired joints of the two skeletons; below it their rest poses differ
// by more than bent limbs.
constexpr double kAlike = 0.8;

Mat3d FromColumns(const Vec3d& x, const Vec3d& y, const Vec3d& z) {
  return {{x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z}};
}
AffineD Placed(const Mat3d& a, const Vec3d& at) {
  const auto& m = a.m;
  return {{m[0], m[1], m[2], at.x, m[3], m[4], m[5], at.y, m[6], m[7], m[8], at.z}};
}
bool HasDirections(const AffineD& a) {
  return std::abs(Determinant(Linear(a))) > 0;
}
// Without scale and shear: right angles in the order x, y; z keeps its side. Unlike the nearest
// rotation, this keeps the axis along the bone.
Mat3d Rigid(const AffineD& a) {
  const auto& m = a.m;
  const Vec3d x = Unit({m[0], m[4], m[8]}), side{m[1], m[5], m[9]}, up{m[2], m[6], m[10]};
  const Vec3d y = Unit(side - Dot(side, x) * x), z = Cross(x, y);
  return FromColumns(x, y, Dot(z, up) < 0 ? -1 * z : z);
}

// The least rotation that turns unit vector a to unit vector b; none for a bone without length.
Mat3d LeastRotation(const Vec3d& a, const Vec3d& b) {
  if (Dot(a, a) == 0 || Dot(b, b) == 0) return {};
  const double cosine = Dot(a, b);
  if (cosine < -0.9999) return {};  // any axis would do: a bone that points backwards stays
  const Vec3d axis = Cross(a, b);
  const auto turn = [&](const Vec3d& v) {
    return cosine * v + Cross(axis, v) + (Dot(axis, v) / (1 + cosine)) * axis;
  };
  return FromColumns(turn({1, 0, 0}), turn({0, 1, 0}), turn({0, 0, 1}));
}

// The 24 rotations that map axes to axes.
std::vector<Mat3d> AxisRotations() {
  const Vec3d units[] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  std::vector<Mat3d> rotations;
  for (const Vec3d& x : units) {
    for (const Vec3d& y : units) {
      if (Dot(x, y) == 0) rotations.push_back(FromColumns(x, y, Cross(x, y)));
    }
  }
  return rotations;
}

// How paired joints follow, of all clips of a file.
struct Retarget {
  std::shared_ptr<const AnimatedScene> from;
  ScenePose rest;                    // of `from`
  std::vector<std::int32_t> source;  // [nodes] the node of `from`, or -1
  std::vector<Mat3d> unturned;       // [nodes] inverse rotation of the source at rest
  std::vector<Mat3d> at_rest;        // [nodes] of the joint, with its limb along the source's
  Mat3d to_own;                      // from the space of `from`
  double scale = 1;                  // of distances
  std::size_t carrier = 0;           // the node whose place follows its source
  Vec3d carrier_rest;
};

class RetargetedMotion final : public Motion {
 public:
  RetargetedMotion(std::shared_ptr<const Retarget> how, std::shared_ptr<const Motion> motion)
      : how_(std::move(how)), motion_(std::move(motion)) {}

  absl::Status Evaluate(const AnimatedScene& scene, double seconds,
                        ScenePose& pose) const override {
    ScenePose source = how_->rest;
    SINEW_RETURN_IF_ERROR(motion_->Evaluate(*how_->from, seconds, source));
    const auto source_of = [&](std::size_t n, const ScenePose& of) -> const AffineD& {
      return of.global[static_cast<std::size_t>(how_->source[n])];
    };
    const Mat3d to_source = Transpose(how_->to_own);
    for (const std::uint32_t n : scene.order) {
      const std::int32_t parent = scene.nodes[n].parent;
      if (parent >= 0) {
        pose.global[n] = Compose(pose.global[static_cast<std::size_t>(parent)], pose.local[n]);
      }
      if (how_->source[n] < 0) continue;
      const AffineD& now = source_of(n, source);
      if (!HasDirections(now)) continue;  // scaled to nothing to hide it: follows the joint above
      const Mat3d turn = Multiply(Rigid(now), how_->unturned[n]);
      pose.global[n] =
          Placed(Multiply(Multiply(Multiply(how_->to_own, turn), to_source), how_->at_rest[n]),
                 Translation(pose.global[n]));
    }
    const std::size_t carrier = how_->carrier;
    const Vec3d moved =
        Translation(source_of(carrier, source)) - Translation(source_of(carrier, how_->rest));
    const Vec3d shift = how_->carrier_rest + how_->scale * Multiply(how_->to_own, moved) -
                        Translation(pose.global[carrier]);
    for (AffineD& global : pose.global) {
      global.m[3] += shift.x;
      global.m[7] += shift.y;
      global.m[11] += shift.z;
    }
    return absl::OkStatus();
  }

 private:
  const std::shared_ptr<const Retarget> how_;
  const std::shared_ptr<const Motion> motion_;
};

// Joints in the order of the tree, or all nodes of a scene that has no joints.
struct Named {
  std::vector<std::uint32_t> nodes;
  std::vector<std::string> names;
  std::vector<JointRole> roles;

  explicit Named(const ImportedScene& scene) {
    const AnimatedScene& animation = *scene.animation;
    std::vector<bool> is_joint(animation.nodes.size(), animation.joint_nodes.empty());
    for (const std::uint32_t n : animation.joint_nodes) is_joint[n] = true;
    for (const std::uint32_t n : animation.order) {
      if (!is_joint[n] || animation.nodes[n].name.empty()) continue;
      nodes.push_back(n);
      names.push_back(animation.nodes[n].name);
    }
    roles = JointRoles(names);
  }
  // Whether no other joint is below.
  bool IsLeaf(std::size_t place, const AnimatedScene& scene) const {
    return std::ranges::none_of(nodes, [&](std::uint32_t n) {
      return scene.nodes[n].parent == static_cast<std::int32_t>(nodes[place]);
    });
  }
  // The place in these lists of the only joint of that name; their size if there is none.
  std::size_t Find(const std::string& name) const {
    const auto first = std::ranges::find(names, name);
    return std::find(first == names.end() ? first : first + 1, names.end(), name) == names.end()
               ? static_cast<std::size_t>(first - names.begin())
               : names.size();
  }
};

absl::StatusOr<std::size_t> FindOne(const ImportedScene& scene, const Named& named,
                                    const std::string& name) {
  const std::size_t found = named.Find(name);
  if (found < named.names.size()) return found;
  return InvalidArgument("joint_map: got '", name, "', need a joint that ", LabelOf(scene),
                         " has once; it has ", Quoted(named.names));
}

// [joints of `to`] the place of the source in `from`, or the size of `from`.
absl::StatusOr<std::vector<std::size_t>> PairJoints(
    const ImportedScene& from_scene, const Named& from, const ImportedScene& to_scene,
    const Named& to, const std::map<std::string, std::string>& joint_map) {
  const std::size_t none = from.names.size();
  std::vector<std::size_t> pairs(to.names.size(), none);
  std::vector<bool> taken(none + 1, false);
  const auto pair = [&](std::size_t t, std::size_t s) {
    if (s == none || taken[s] || pairs[t] != none) return;
    pairs[t] = s;
    taken[s] = true;
  };
  for (const auto& [own, source] : joint_map) {
    SINEW_ASSIGN_OR_RETURN(const std::size_t t, FindOne(to_scene, to, own));
    SINEW_ASSIGN_OR_RETURN(const std::size_t s, FindOne(from_scene, from, source));
    if (taken[s]) {
      return InvalidArgument("joint_map: got '", source, "' of ", LabelOf(from_scene),
                             " twice, need it for one joint");
    }
    pair(t, s);
  }
  for (std::size_t t = 0; t < to.names.size(); ++t) {
    if (to.roles[t].name.empty()) continue;
    const auto role = std::ranges::find(from.roles, to.roles[t].name, &JointRole::name);
    pair(t, static_cast<std::size_t>(role - from.roles.begin()));
  }
  for (std::size_t t = 0; t < to.names.size(); ++t) pair(t, from.Find(to.names[t]));
  return pairs;
}

// Unless joints at rest tell where they are.
absl::Status CheckRest(const ImportedScene& scene, const Named& named,
                       const std::vector<std::size_t>& places, const ScenePose& rest) {
  const auto at = [&](std::size_t place) { return Translation(rest.global[named.nodes[place]]); };
  const bool apart =
      std::ranges::any_of(places, [&](std::size_t place) { return at(place) != at(places[0]); });
  if (apart) return absl::OkStatus();
  return InvalidArgument(LabelOf(scene), ": its joints are at one place at rest, need a skeleton");
}

absl::Status TooFewPairs(const ImportedScene& from, const Named& named, const ImportedScene& to,
                         const Named& own, std::size_t pairs) {
  if (named.names.empty())
    return InvalidArgument(LabelOf(from), ": no joint has a name, need names");
  return InvalidArgument(LabelOf(from), ": ", CountedText(pairs, "joint"), " of ", LabelOf(to),
                         " can be told by their names, need ", kLeastPairs,
                         " or more; name them with joint_map: ", LabelOf(to), " has ",
                         Quoted(own.names), ", ", LabelOf(from), " has ", Quoted(named.names));
}

// Where paired joints are at rest, about their middle.
std::vector<Vec3d> AboutMiddle(std::vector<Vec3d> places) {
  Vec3d sum;
  for (const Vec3d& place : places) sum = sum + place;
  for (Vec3d& place : places) place = place - (1.0 / static_cast<double>(places.size())) * sum;
  return places;
}

double Inner(const std::vector<Vec3d>& a, const std::vector<Vec3d>& b, const Mat3d& turn) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += Dot(a[k], Multiply(turn, b[k]));
  return sum;
}

// The height of the carrier over the lowest joint.
double Height(const std::vector<Vec3d>& places, std::size_t carrier, const Vec3d& up) {
  double lowest = std::numeric_limits<double>::infinity();
  for (const Vec3d& place : places) lowest = std::min(lowest, Dot(place, up));
  return Dot(places[carrier], up) - lowest;
}

// Fills `to_own` and `scale` from the rest places of paired joints, [pairs] each. Returns how alike
// the two are, 1 at most.
double Stand(const std::vector<Vec3d>& own, const std::vector<Vec3d>& source, std::size_t carrier,
             UpAxis source_up, Retarget& how) {
  double best = -std::numeric_limits<double>::infinity();
  for (const Mat3d& turn : AxisRotations()) {
    const double inner = Inner(own, source, turn);
    if (inner <= best) continue;
    best = inner;
    how.to_own = turn;
  }
  const double own_size = std::sqrt(Inner(own, own, {}));
  const double source_size = std::sqrt(Inner(source, source, {}));
  how.scale = own_size / source_size;
  if (source_up != UpAxis::kUnspecified) {
    const Vec3d up = source_up == UpAxis::kZ ? Vec3d{0, 0, 1} : Vec3d{0, 1, 0};
    const double height = Height(source, carrier, up);
    const double own_height = Height(own, carrier, Multiply(how.to_own, up));
    // Legs tell best how far a step goes.
    if (height > 0.1 * source_size && own_height > 0.1 * own_size) how.scale = own_height / height;
  }
  return best / (own_size * source_size);
}

}  // namespace

absl::Status RetargetClips(const ImportedScene& from,
                           const std::map<std::string, std::string>& joint_map, ImportedScene& to) {
  SINEW_RETURN_IF_ERROR(CheckClips(from, to));
  const Named sources(from), own(to);
  SINEW_ASSIGN_OR_RETURN(const std::vector<std::size_t> pairs,
                         PairJoints(from, sources, to, own, joint_map));
  const auto how = std::make_shared<Retarget>();
  how->from = from.animation;
  how->rest = PoseAtRest(*from.animation, from.rig);
  const ScenePose rest = PoseAtRest(*to.animation, to.rig);
  std::vector<std::size_t> paired;  // places in `own`
  std::vector<std::string> missing, ends;
  std::vector<Problem> problems;
  std::string flat;  // the first joint without directions
  for (std::size_t t = 0; t < pairs.size(); ++t) {
    if (pairs[t] == sources.names.size()) {
      // The last joint of a limb only says where it ends.
      (own.IsLeaf(t, *to.animation) ? ends : missing).push_back(own.names[t]);
      continue;
    }
    const bool own_flat = !HasDirections(rest.global[own.nodes[t]]);
    if (own_flat || !HasDirections(how->rest.global[sources.nodes[pairs[t]]])) {
      const std::string text =
          absl::StrCat("joint '", own_flat ? own.names[t] : sources.names[pairs[t]], "' of ",
                       LabelOf(own_flat ? to : from), " has scale 0 at rest");
      if (flat.empty()) flat = text;
      problems.push_back(
          {own.IsLeaf(t, *to.animation) ? Severity::kInfo : Severity::kWarning,
           absl::StrCat(text, ", so joint '", own.names[t], "' follows the joint above"),
           LabelOf(from)});
      continue;
    }
    paired.push_back(t);
    problems.push_back(
        {Severity::kInfo,
         absl::StrCat("joint '", own.names[t], "' follows '", sources.names[pairs[t]], "'"),
         LabelOf(from)});
  }
  if (paired.size() < kLeastPairs) {
    if (!flat.empty()) return InvalidArgument(flat, ", need another one");
    return TooFewPairs(from, sources, to, own, paired.size());
  }

  std::vector<std::size_t> followed;  // places in `sources`
  for (const std::size_t t : paired) followed.push_back(pairs[t]);
  SINEW_RETURN_IF_ERROR(CheckRest(to, own, paired, rest));
  SINEW_RETURN_IF_ERROR(CheckRest(from, sources, followed, how->rest));
  const std::size_t nodes = to.animation->nodes.size();
  how->source.assign(nodes, -1);
  how->unturned.resize(nodes);
  how->at_rest.resize(nodes);
  std::vector<Vec3d> own_places, source_places;
  std::size_t carrier = 0;  // the pair whose source is the first of its tree
  for (std::size_t k = 0; k < paired.size(); ++k) {
    const std::size_t t = paired[k];
    const std::uint32_t n = own.nodes[t], s = sources.nodes[pairs[t]];
    how->source[n] = static_cast<std::int32_t>(s);
    how->unturned[n] = Transpose(Rigid(how->rest.global[s]));
    how->at_rest[n] = Linear(rest.global[n]);
    own_places.push_back(Translation(rest.global[n]));
    source_places.push_back(Translation(how->rest.global[s]));
    if (pairs[t] < pairs[paired[carrier]]) carrier = k;
  }
  how->carrier = own.nodes[paired[carrier]];
  how->carrier_rest = own_places[carrier];
  own_places = AboutMiddle(std::move(own_places));
  source_places = AboutMiddle(std::move(source_places));
  const double alike = Stand(own_places, source_places, carrier, from.rig.up_axis, *how);
  if (alike < kAlike) {
    problems.push_back(
        {Severity::kWarning,
         absl::StrFormat(
             "at rest its joints stand elsewhere than those of %s (likeness %.2f of 1); "
             "look at the result, and name joints with joint_map",
             LabelOf(to), alike),
         LabelOf(from)});
  }
  // A limb takes the direction that it has in the other rest pose, so that arms that hang follow
  // those of a T pose.
  for (std::size_t k = 0; k < paired.size(); ++k) {
    const std::uint32_t n = own.nodes[paired[k]];
    if (!own.roles[paired[k]].is_limb) continue;
    for (std::size_t child = 0; child < paired.size(); ++child) {
      std::int32_t up = to.animation->nodes[own.nodes[paired[child]]].parent;
      while (up >= 0 && how->source[static_cast<std::size_t>(up)] < 0) {
        up = to.animation->nodes[static_cast<std::size_t>(up)].parent;
      }
      if (up != static_cast<std::int32_t>(n)) continue;
      const Vec3d bone = Unit(own_places[child] - own_places[k]);
      const Vec3d other = Unit(Multiply(how->to_own, source_places[child] - source_places[k]));
      how->at_rest[n] = Multiply(LeastRotation(bone, other), how->at_rest[n]);
      break;
    }
  }
  for (const auto& [names, severity] :
       {std::pair(missing, Severity::kWarning), std::pair(ends, Severity::kInfo)}) {
    if (names.empty()) continue;
    problems.push_back(
        {severity,
         absl::StrCat(CountedText(names.size(), "joint"), " of ", LabelOf(to),
                      names.size() == 1 ? " has no counterpart and follows the joint above: "
                                        : " have no counterpart and follow the joints above: ",
                      Quoted(names)),
         LabelOf(from)});
  }
  AppendClips(
      from, std::move(problems),
      [&](std::shared_ptr<const Motion> motion) {
        return std::make_shared<RetargetedMotion>(how, std::move(motion));
      },
      to);
  return absl::OkStatus();
}

}  // namespace sinew::client
