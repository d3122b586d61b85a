#include "core/metrics/bulge.h"

#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/median.h"
#include "core/rig/bones.h"
#include "core/solve/rotation.h"

namespace sinew::metrics {
namespace {

constexpr double kNothing = 1e-6;      // times the bounding-box diagonal: smaller radii are ignored
constexpr std::size_t kStations = 16;  // samples of the radius along a bone
constexpr double kShares = 0.25;       // minimum share of a point's weight
constexpr int kHalvings = 40;          // bisection steps for the rotation fraction
constexpr std::size_t kMaxSiblings = 64;
constexpr std::uint32_t kNone = 0xffffffff;

// Limb radius along its bone: at each station the median distance of the points within one limb
// radius of it.
class Radii {
 public:
  struct Sample {
    double station, distance;
  };
  explicit Radii(const std::vector<Sample>& samples) {
    std::vector<double> near;
    for (const Sample& s : samples) {
      near.push_back(s.distance);
      least_ = std::min(least_, s.station);
      largest_ = std::max(largest_, s.station);
    }
    const double whole = Median(near);
    const double window = std::max(whole, Step());
    for (std::size_t i = 0; i <= kStations; ++i) {
      const double station = least_ + static_cast<double>(i) * Step();
      near.clear();
      for (const Sample& s : samples) {
        if (std::abs(s.station - station) <= window) near.push_back(s.distance);
      }
      radius_[i] = near.empty() ? whole : Median(near);
    }
  }
  double At(double station) const {
    if (!(Step() > 0)) return radius_[0];
    const double place = (station - least_) / Step();
    const auto i = static_cast<std::size_t>(std::clamp(place, 0.0, kStations - 1.0));
    const double t = std::clamp(place - static_cast<double>(i), 0.0, 1.0);
    return (1 - t) * radius_[i] + t * radius_[i + 1];
  }

 private:
  double Step() const { return (largest_ - least_) / kStations; }
  double least_ = std::numeric_limits<double>::infinity();
  double largest_ = -std::numeric_limits<double>::infinity();
  double radius_[kStations + 1] = {};
};

// The rotation from a joint's parent to its child, as axis and angle.
struct Turn {
  Vec3d axis;
  double angle = 0;

  static Turn Of(const Mat3d& linear) {
    const Mat3d r = NearestRotation(linear).rotation;
    const Vec3d twice_sine = {r.m[7] - r.m[5], r.m[2] - r.m[6], r.m[3] - r.m[1]};
    const double sine = Length(twice_sine);
    if (sine < 1e-9) return {};  // none, or 180 degrees with an undetermined axis
    return {(1 / sine) * twice_sine, std::atan2(sine, r.m[0] + r.m[4] + r.m[8] - 1)};
  }
  Vec3d Apply(const Vec3d& v, double part) const {
    const double c = std::cos(part * angle), s = std::sin(part * angle);
    return c * v + s * Cross(axis, v) + (1 - c) * Dot(axis, v) * axis;
  }
  // Interpolates from `from` to `to` along the rotation, plus a linear part for the remaining
  // offset.
  Vec3d Between(const Vec3d& from, const Vec3d& to, double part) const {
    return Apply(from, part) + part * (to - Apply(from, 1));
  }
};

}  // namespace

// Maps one posed frame back to rest. Cases: see bulge.h.
class Bulge::Frame {
 public:
  Frame(const Bulge& bulge, std::span<const AffineD> skin)
      : bulge_(bulge), joints_(bulge.bones_.joints) {
    for (std::size_t e = 0; e < skin.size(); ++e) {
      usable_.push_back(bulge.bones_.bones[e].known && !Flattens(Linear(skin[e])));
      back_.push_back(usable_[e] ? Inverse(skin[e]) : AffineD());
    }
    for (const BoneJoint& joint : joints_) {
      turns_.push_back(Turn::Of(Linear(Compose(back_[joint.child], skin[joint.parent]))));
    }
  }

  // Distance of point p, posed at `at`, outside the rest skin. Absent: the matrix of its bone is
  // singular.
  std::optional<double> Excess(std::uint32_t p, const Vec3d& at) const {
    const std::uint32_t own = bulge_.bones_.strongest[p];
    if (!usable_[own]) return std::nullopt;
    Search search{.point = p, .at = at};
    Walk({own, kNone}, search);
    if (bulge_.above_[own] != kNone) TrySiblings(own, search);
    search.limb = search.shared = kNone;
    TryWeb(search);
    TryBefore(own, search);
    for (const std::uint32_t j : bulge_.joints_of_[own]) TryBefore(Other(j, own), search);
    search.strictly = true;
    TryOwnSkin(own, search);
    for (const std::uint32_t j : bulge_.joints_of_[own]) TryOwnSkin(Other(j, own), search);
    return std::isfinite(search.excess) ? std::optional(search.excess) : std::nullopt;
  }

 private:
  struct Search {
    std::uint32_t point;
    Vec3d at;
    // If not kNone, only skin of this binding counts, and that of adjacent bindings unless
    // `strictly`.
    std::uint32_t limb = kNone;
    bool strictly = false;
    std::uint32_t shared = kNone;  // skin of this binding also counts
    double excess = std::numeric_limits<double>::infinity();
  };

  bool Counts(std::uint32_t owner, const Search& search) const {
    if (search.limb == kNone || owner == search.limb || owner == search.shared) return true;
    const auto& joints = bulge_.joints_of_[owner];
    return !search.strictly && std::any_of(joints.begin(), joints.end(), [&](std::uint32_t j) {
      return joints_[j].parent == search.limb || joints_[j].child == search.limb;
    });
  }

  // `beside`: added to the distance of q.
  void Try(const Vec3d& q, Search& search, double beside = 0) const {
    const double reach = Length(q - bulge_.surface_.rest[search.point]);
    Solid::Nearest nearest{.corner = search.point};
    if (reach > 0) nearest = bulge_.solid_.Find(q, reach);
    if (Counts(bulge_.owner_[nearest.corner], search)) {
      search.excess = std::min(search.excess, beside + nearest.outside);
    }
  }

  void TryOwnSkin(std::uint32_t e, Search& search) const {
    if (!usable_[e] || !(search.excess > 0)) return;
    search.limb = e;
    Try(Apply(back_[e], search.at), search);
  }

  // Case 3, for binding e.
  void TryBefore(std::uint32_t e, Search& search) const {
    if (!usable_[e]) return;
    Vec3d q = Apply(back_[e], search.at);
    double behind = 0;
    for (const std::uint32_t j : bulge_.joints_of_[e]) {
      const Vec3d out = (joints_[j].parent == e ? 1.0 : -1.0) * joints_[j].normal;
      const double past = Dot(out, q - joints_[j].centre);
      if (past <= 0) continue;
      q = q - past * out;
      behind += past;
    }
    if (behind > 0 && behind < search.excess) Try(q, search, behind);
  }

  // Case 4.
  void TryWeb(Search& search) const {
    const Pair pair = bulge_.BetweenLimbs(search.point);
    if (!(pair.part > 0) || !usable_[pair.first] || !usable_[pair.second] || !(search.excess > 0)) {
      return;
    }
    const Vec3d centre = bulge_.bones_.bones[pair.first].from;
    const Turn turn = Turn::Of(Linear(Compose(back_[pair.second], Inverse(back_[pair.first]))));
    const Vec3d from = Apply(back_[pair.first], search.at) - centre;
    const Vec3d to = Apply(back_[pair.second], search.at) - centre;
    Try(centre + turn.Between(from, to, pair.part), search);
  }

  std::uint32_t Other(std::uint32_t j, std::uint32_t e) const {
    return joints_[j].parent == e ? joints_[j].child : joints_[j].parent;
  }

  // A binding and the joint through which it was reached (kNone: the point's own binding).
  struct Place {
    std::uint32_t binding, by;
  };
  using Open = absl::InlinedVector<Place, 16>;

  // Case 1. Terminates because the joints form a forest and the walk never goes up after going
  // down.
  void Walk(Place from, Search& search) const {
    Open open = {from};
    while (!open.empty() && search.excess > 0) {
      const auto [e, by] = open.back();
      open.pop_back();
      const Vec3d q = Apply(back_[e], search.at);
      bool over = true;
      for (const std::uint32_t j : bulge_.joints_of_[e]) {
        const bool down = joints_[j].parent == e;
        if (j == by || (by != kNone && !down && joints_[by].child == e)) continue;
        over = over && Past(j, down, q) <= 0;
        if (search.excess > 0) Cross(e, j, by == kNone, search, open);
      }
      if (over && search.excess > 0) Try(q, search);
    }
  }

  void TrySiblings(std::uint32_t own, Search& search) const {
    const std::uint32_t parent = joints_[bulge_.above_[own]].parent;
    const std::vector<std::uint32_t>& joints = bulge_.joints_of_[parent];
    if (!usable_[parent] || joints.size() > kMaxSiblings + 1) return;
    for (const std::uint32_t j : joints) {
      const std::uint32_t sibling = joints_[j].child;
      if (joints_[j].parent != parent || sibling == own || !(search.excess > 0)) continue;
      search.limb = sibling;
      search.shared = bulge_.WeightOf(search.point, sibling) >= kShares ? own : kNone;
      Open open;
      Cross(parent, j, true, search, open);
      if (!open.empty()) Walk(open.front(), search);
    }
  }

  // Crosses joint j from binding e: adds the next bone to `open` if the point is beyond the plane
  // of both, or tests the joint section if it is beyond the end of e only.
  void Cross(std::uint32_t e, std::uint32_t j, bool may_fold, Search& search, Open& open) const {
    const bool down = joints_[j].parent == e;
    const std::uint32_t next = down ? joints_[j].child : joints_[j].parent;
    if (!usable_[next]) return;
    const Vec3d q = Apply(back_[e], search.at), r = Apply(back_[next], search.at);
    const bool leaves = Past(j, down, q) > 0, arrives = Past(j, down, r) >= 0;
    if (arrives && (leaves || may_fold)) {
      open.push_back({next, j});
    } else if (leaves) {
      Try(Section(j, down ? q : r, down ? r : q), search);
    }
  }

  // Signed distance of q beyond joint j's plane, in bind space.
  double Past(std::uint32_t j, bool down, const Vec3d& q) const {
    return (down ? 1 : -1) * Dot(joints_[j].normal, q - joints_[j].centre);
  }

  // The point between the two bones of joint j, at the fraction of the rotation that brings it into
  // the joint's plane, by bisection. `parent` and `child`: the posed point mapped back by each
  // bone.
  Vec3d Section(std::uint32_t j, const Vec3d& parent, const Vec3d& child) const {
    const BoneJoint& joint = joints_[j];
    const Turn& turn = turns_[j];
    const Vec3d from = parent - joint.centre, to = child - joint.centre;
    double low = 0, high = 1;
    Vec3d v = from;
    for (int k = 0; k < kHalvings; ++k) {
      const double part = 0.5 * (low + high);
      v = turn.Between(from, to, part);
      (Dot(joint.normal, v) > 0 ? low : high) = part;
    }
    return joint.centre + v;
  }

  const Bulge& bulge_;
  const std::span<const BoneJoint> joints_;
  std::vector<bool> usable_;   // [E]
  std::vector<AffineD> back_;  // [E] posed model space to bind space
  std::vector<Turn> turns_;    // one per joint
};

Bulge::Bulge(const Rig& rig, const BindingBones& bones, const Surface& surface,
             const EnclosedVolume& volume)
    : rig_(rig),
      bones_(bones),
      surface_(surface),
      order_(rig.skeleton()),
      joints_of_(bones.bones.size()),
      above_(bones.bones.size(), kNone),
      owner_(bones.strongest),
      solid_(volume.triangles(), volume.Closed(surface.rest)) {
  LinkJoints();
  MeasureRadii(volume);
}

void Bulge::LinkJoints() {
  for (std::uint32_t j = 0; j < bones_.joints.size(); ++j) {
    joints_of_[bones_.joints[j].parent].push_back(j);
    joints_of_[bones_.joints[j].child].push_back(j);
    above_[bones_.joints[j].child] = j;
  }
}

void Bulge::MeasureRadii(const EnclosedVolume& volume) {
  const std::size_t points = surface_.rest.size();
  std::vector<bool> encloses(points);
  for (const Triangle& t : volume.triangles()) {
    // The centre of a fan is always the last corner. It takes the owner of a border point.
    if (t[2] >= owner_.size()) owner_.push_back(owner_[t[0]]);
    for (const std::uint32_t p : t) {
      if (p < points) encloses[p] = true;
    }
  }
  std::vector<std::vector<std::uint32_t>> carried(bones_.bones.size());
  for (std::uint32_t p = 0; p < points; ++p) {
    if (encloses[p]) carried[bones_.strongest[p]].push_back(p);
  }
  for (std::size_t e = 0; e < carried.size(); ++e) {
    const BindingBone& bone = bones_.bones[e];
    if (carried[e].empty() || !bone.known) continue;
    std::vector<Radii::Sample> samples;
    for (const std::uint32_t p : carried[e]) {
      samples.push_back({bone.Station(surface_.rest[p]), bone.DistanceFromAxis(surface_.rest[p])});
    }
    const Radii radii(samples);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const double radius = radii.At(samples[i].station);
      if (radius > kNothing * surface_.diagonal) measured_.push_back({carried[e][i], radius});
    }
  }
}

double Bulge::WeightOf(std::uint32_t p, std::uint32_t binding) const {
  const std::uint32_t vertex = surface_.welded.first[p];
  const auto bindings = rig_.influences().bindings(vertex);
  const auto at = std::ranges::find(bindings, binding) - bindings.begin();
  const auto weights = rig_.influences().weights(vertex);
  return at < std::ssize(bindings) ? double{weights[static_cast<std::size_t>(at)]} : 0;
}

Bulge::Pair Bulge::BetweenLimbs(std::uint32_t p) const {
  const std::uint16_t joint = rig_.bindings()[bones_.strongest[p]].joint;
  Pair pair{.first = bones_.strongest[p]};
  double second = 0;
  for (const std::uint32_t other : rig_.influences().bindings(surface_.welded.first[p])) {
    const double weight = WeightOf(p, other);
    if (weight <= second || order_.AreInLine(rig_.bindings()[other].joint, joint)) continue;
    second = weight;
    pair.second = other;
  }
  if (second > 0) pair.part = second / (WeightOf(p, pair.first) + second);
  return pair;
}

std::optional<double> Bulge::Measure(std::span<const Vec3d> points, std::span<const AffineD> skin,
                                     const Task& task) const {
  if (measured_.empty()) return std::nullopt;
  const Frame frame(*this, skin);
  return SumOver<double, 256>(
      task, measured_.size(),
      [&](std::size_t i, double& part) {
        if (task.cancelled()) return;
        const auto& [p, radius] = measured_[i];
        const std::optional<double> excess = frame.Excess(p, points[p]);
        if (excess) part = std::max(part, *excess / radius);
      },
      [](double& all, double part) { all = std::max(all, part); });
}

}  // namespace sinew::metrics
