#include "tests/reference/implicit_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "tests/reference/dqs_reference.h"
#include "tests/reference/move_smoothing_reference.h"

namespace sinew::reference {
namespace {

constexpr double kLean = 1, kSoft = 0.1, kLeastSoft = 0.01, kLeastSlope = 0.2;
constexpr double kTied = 4.5 / 255, kTrace = 0.02;  // weights
constexpr int kRounds = 3, kRoundsAgain = 2, kPassesAgain = 2;

double Length(const Vec3d& v) {
  return std::sqrt(Dot(v, v));
}
Vec3d Unit(const Vec3d& v) {
  return Length(v) > 0 ? (1 / Length(v)) * v : Vec3d{};
}
double Step(double x) {
  x = std::clamp(x, 0.0, 1.0);
  return x * x * (3 - 2 * x);
}

struct Level {
  std::size_t owner = 0;
  bool owned = false;
  double value = 0;  // this and all other lengths: relative to the size of the owner
  double size = 1;
  Vec3d inward;
};

// One point after a pass.
struct Outcome {
  Vec3d at, restored;  // restored: without contact
  double certainty = 1, nearness = 0;
};

class Projector {
 public:
  Projector(const Rig& rig, const LimbDistances& limbs,
            std::span<const std::int32_t> part_of_binding, bool contact)
      : rig_(rig), limbs_(limbs), part_of_binding_(part_of_binding), contact_(contact) {
    for (const AffineD& motion : limbs.motions) turn_.push_back(RotationBySvd(Linear(motion)));
  }

  // The size of the owner, in model space.
  double SizeOf(const Vec3d& rest, std::size_t v) const {
    return limbs_.unit * LevelOf(rest, v).size;
  }

  // From `start`. again: by its contact alone, up to the level it is on; returns: the longest
  // way back.
  Outcome Run(const MushMesh& mesh, std::size_t v, const Vec3d& skinned, const Vec3d& start,
              const Held& held, bool again, double nearness, double returns) const {
    const std::size_t p = mesh.point[v];
    const Level level = LevelOf(mesh.rest[p], v);
    if (!level.owned || (again && !(nearness > 0))) return {start, start};
    if (again && Alone(start, level)) return {start, start};
    const std::vector<double> trust = TrustOfParts(skinned);
    const double unit = limbs_.unit * level.size;
    const Vec3d d = Direction(mesh, p, v, level, trust);
    const Vec3d at_bind = Apply(Inverse(limbs_.motions[level.owner]), start);
    const double here = limbs_.from_bone(level.owner, at_bind) / level.size;
    const double lost = again ? 0 : limbs_.from_bone(level.owner, mesh.rest[p]) / level.size - here;
    const auto contact = [&] {
      double most = 0;
      for (std::size_t b = 0; contact_ && b < parts(); ++b) {
        if (b == level.owner) continue;
        const double lead = Posed(b, start, level.size).value -
                            Posed(level.owner, start, level.size).value +
                            Slack(mesh.rest[p], level, b);
        most =
            std::max(most, trust[b] * Fold(v, b, level) *
                               std::min(1.0, limbs_.size[b] / level.size) * (1.25 * kSoft - lead));
      }
      return most;
    };
    const double off = Posed(level.owner, start, level.size).value - level.value;
    const double back = returns > 0 ? Step(Nearness(start, v, level, trust)) * returns / unit : 0;
    const double shift = again ? off + std::clamp(-off, 0.0, back) : 0;
    const double moved = Length(start - skinned) / unit;
    const double to_axis = std::max(0.0, std::min(held.to_axis, 1.0) - moved);
    const double most_outward = again ? back : held.restore_share * std::max(0.0, lost);
    double most_inward = 0, in_contact = 0, restoring = 0;
    double t = 0, below = 0, above = 0, below_value = 0, above_value = 0;
    bool has_below = false, has_above = false;
    double first = 0, last = 0;
    for (int round = 0; round < (again ? kRoundsAgain : kRounds); ++round) {
      const auto [value, slope] =
          At(start + (t * unit) * d, t, d, mesh.rest[p], v, level, trust, shift);
      last = value;
      if (round == 0) {
        first = value;
        in_contact = std::min(to_axis, contact());
        restoring = std::min(to_axis, held.restore_share * std::max(0.0, -lost));
        most_inward = std::max(in_contact, restoring);
      }
      if (round == 0 && !again && std::abs(value) < 1e-4 && Alone(start, level))
        return {start, start};
      if (round == 0 && std::abs(value) < 1e-4) break;
      if (value < 0) {
        has_below = true;
        below = t;
        below_value = value;
      } else {
        has_above = true;
        above = t;
        above_value = value;
      }
      double next = t - value / std::max(slope, kLeastSlope);
      const bool between = next > std::min(below, above) && next < std::max(below, above);
      if (has_below && has_above && !between && std::abs(next - t) > 1e-7) {
        next = below + (above - below) * below_value / (below_value - above_value);
      }
      t = std::clamp(next, -std::min(most_outward, 1.0), most_inward);
      if (std::abs(value) < 1e-4) break;
    }
    const double k = 0.25 * in_contact;
    const double e = k > 0 ? std::max(0.0, 1 - std::abs(t - in_contact) / k) : 0;
    const double soft = std::min(t, in_contact) - k / 4 * e * e;
    const double way = held.move_share * (t < 0 ? t : std::max(soft, std::min(t, restoring)));
    const double left = std::max(0.0, -last) / (0.01 - first);
    const bool uncertain = first < 0;
    return {start + (way * unit) * d, start + (held.move_share * std::min(t, restoring) * unit) * d,
            uncertain ? 1 - Step(left / 0.5) : 1,
            again ? nearness : Nearness(start, v, level, trust)};
  }

 private:
  std::size_t parts() const { return limbs_.motions.size(); }

  // How far another limb is within the distance from which on it counts.
  double Nearness(const Vec3d& x, std::size_t v, const Level& level,
                  const std::vector<double>& trust) const {
    const double limit =
        std::max(Posed(level.owner, x, level.size).value, level.value) + 1.25 * kSoft;
    double nearness = 0;
    for (std::size_t b = 0; contact_ && b < parts(); ++b) {
      if (b == level.owner) continue;
      const double f = Posed(b, x, level.size).value;
      const double share = std::clamp((limit - f) / (1.25 * kSoft), 0.0, 1.0);
      nearness = std::max(nearness, trust[b] * Fold(v, b, level) * share);
    }
    return nearness;
  }

  double WeightOf(std::size_t v, std::size_t part) const {
    double sum = 0;
    for (std::size_t k = 0; k < rig_.influences().bindings(v).size(); ++k) {
      const auto of = part_of_binding_[rig_.influences().bindings(v)[k]];
      if (of == static_cast<std::int32_t>(part)) sum += double{rig_.influences().weights(v)[k]};
    }
    return sum;
  }

  static FieldValue Relative(FieldValue f, double size) { return {f.value / size, f.gradient}; }
  FieldValue AtBind(std::size_t part, const Vec3d& x, double size) const {
    return Relative(limbs_.bind(part, x), size);
  }
  FieldValue Posed(std::size_t part, const Vec3d& x, double size) const {
    return Relative(limbs_.posed(part, x), size);
  }

  std::vector<double> TrustOfParts(const Vec3d& start) const {
    std::vector<double> trust;
    for (std::size_t b = 0; b < parts(); ++b) {
      trust.push_back(limbs_.trust(b, Apply(Inverse(limbs_.motions[b]), start)));
    }
    return trust;
  }

  Level LevelOf(const Vec3d& rest, std::size_t v) const {
    Level level;
    const auto carried = [&](std::size_t b) {
      return limbs_.bind(b, rest).value < limbs_.reach[b] ? WeightOf(v, b) : 0;
    };
    double most = 0;
    for (std::size_t b = 0; b < parts(); ++b) most = std::max(most, carried(b));
    for (std::size_t b = parts(); b-- > 0;) {
      if (!(carried(b) > 0) || carried(b) < most - kTied) continue;
      level.owner = b;
      level.owned = true;
    }
    if (!level.owned) return level;
    level.size = limbs_.size[level.owner];
    const FieldValue own = AtBind(level.owner, rest, level.size);
    level.inward = -1 * Unit(own.gradient);
    level.value = own.value;
    return level;
  }

  double LeadAtRest(const Vec3d& rest, const Level& level, std::size_t part) const {
    return AtBind(part, rest, level.size).value - AtBind(level.owner, rest, level.size).value;
  }

  Vec3d Direction(const MushMesh& mesh, std::size_t p, std::size_t v, const Level& level,
                  const std::vector<double>& trust) const {
    Vec3d sum;
    for (std::size_t b = 0; b < parts(); ++b) {
      sum = sum + WeightOf(v, b) * Multiply(turn_[b], level.inward);
    }
    Vec3d d = Unit(sum);
    for (std::size_t b = 0; b < parts(); ++b) {
      if (b == level.owner) continue;
      const FieldValue f = limbs_.bind(b, mesh.rest[p]);
      const double near = 1 - Step(LeadAtRest(mesh.rest[p], level, b) / kLean);
      if (!(near > 0) || !(f.value < limbs_.reach[b])) continue;
      const Vec3d e = limbs_.centre[b] - limbs_.centre[level.owner];
      const Vec3d turned = Unit(Multiply(turn_[level.owner], e) + Multiply(turn_[b], e));
      d = d - (near * trust[b]) * turned;
    }
    return Unit(d);
  }

  // No other part can change T at x.
  bool Alone(const Vec3d& x, const Level& level) const {
    const double own = Posed(level.owner, x, level.size).value;
    for (std::size_t b = 0; b < parts(); ++b) {
      if (b == level.owner) continue;
      if (Posed(b, x, level.size).value < std::max(own, level.value) + 1.25 * kSoft) {
        return false;
      }
    }
    return true;
  }

  struct Value {
    double value, slope;
  };

  // Skin that two limbs share touches itself only where they turn it apart.
  double Fold(std::size_t v, std::size_t part, const Level& level) const {
    const double shared = Step(WeightOf(v, part) / kTrace);
    const double cosine =
        Dot(Multiply(turn_[level.owner], level.inward), Multiply(turn_[part], level.inward));
    return 1 - shared * (1 - Step((0.98 - cosine) / (0.98 - 0.85)));
  }

  double LeadOrInfinite(const Vec3d& rest, const Level& level, std::size_t b) const {
    return limbs_.bind(b, rest).value < limbs_.reach[b] ? LeadAtRest(rest, level, b)
                                                        : std::numeric_limits<double>::infinity();
  }
  double Slack(const Vec3d& rest, const Level& level, std::size_t b) const {
    const double lead = LeadOrInfinite(rest, level, b);
    return std::max(0.0, std::clamp(lead, kLeastSoft, kSoft) - lead);
  }

  Value At(const Vec3d& x, double t, const Vec3d& d, const Vec3d& rest, std::size_t v,
           const Level& level, const std::vector<double>& trust, double shift) const {
    const FieldValue own = Posed(level.owner, x, level.size);
    Value now = {level.value + shift - own.value, -Dot(own.gradient, d)};
    const double rise = t < 0 ? 0.3 : 0;
    for (std::size_t b = 0; contact_ && b < parts(); ++b) {
      if (b == level.owner) continue;
      const FieldValue f = Posed(b, x, level.size);
      const double k = std::clamp(LeadOrInfinite(rest, level, b), kLeastSoft, kSoft);
      const double lead = f.value - own.value + Slack(rest, level, b) + rise * t;
      const double lead_slope = Dot(f.gradient - own.gradient, d) + rise;
      const double e = std::max(0.0, 1 - std::abs(now.value - lead) / k);
      const double met = trust[b] * Fold(v, b, level);
      const double share = now.value <= lead ? e / 2 : 1 - e / 2;
      const double soft = std::min(now.value, lead) - k / 4 * e * e;
      now.slope += met * share * (lead_slope - now.slope);
      now.value += met * (soft - now.value);
    }
    return now;
  }

  const Rig& rig_;
  const LimbDistances& limbs_;
  const std::span<const std::int32_t> part_of_binding_;
  const bool contact_;
  std::vector<Mat3d> turn_;
};

}  // namespace

std::vector<WeightRow> MeanValueRows(const MushMesh& mesh) {
  std::vector<std::map<std::size_t, std::size_t>> after(mesh.points());  // next neighbour around p
  std::vector<Vec3d> normal(mesh.points());
  for (const auto& face : mesh.faces) {
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t a = face[c], b = face[(c + 1) % 3], d = face[(c + 2) % 3];
      after[a][b] = d;
      normal[a] = normal[a] + Cross(mesh.rest[b] - mesh.rest[a], mesh.rest[d] - mesh.rest[a]);
    }
  }
  std::vector<WeightRow> rows(mesh.points());
  for (std::size_t p = 0; p < rows.size(); ++p) {
    const auto& ring = after[p];
    const bool closed =
        std::ranges::all_of(ring, [&](const auto& edge) { return ring.contains(edge.second); });
    if (!closed || ring.empty()) continue;
    const Vec3d n = (1 / Length(normal[p])) * normal[p];
    const auto along = [&](std::size_t q) {
      const Vec3d e = mesh.rest[q] - mesh.rest[p];
      return e - Dot(e, n) * n;
    };
    std::map<std::size_t, double> weight;
    for (const auto& [a, b] : ring) {
      const Vec3d x = along(a), y = along(b);
      const double half = std::tan(0.5 * std::atan2(Dot(n, Cross(x, y)), Dot(x, y)));
      weight[a] += half / Length(x);
      weight[b] += half / Length(y);
    }
    double sum = 0;
    for (const auto& [q, w] : weight) sum += w;
    for (const auto& [q, w] : weight) rows[p].emplace_back(q, w / sum);
  }
  return rows;
}

std::vector<Vec3d> Project(const Rig& rig, const LimbDistances& limbs,
                           std::span<const std::int32_t> part_of_binding,
                           std::span<const Vec3d> posed, std::span<const Held> held, bool contact) {
  const MushMesh mesh(rig, true);
  const Projector projector(rig, limbs, part_of_binding, contact);
  const Points skinned = mesh.OfPoints(posed);
  std::vector<double> size, certainty(mesh.points()), nearness(mesh.points());
  std::vector<bool> spreads;
  for (std::size_t p = 0; p < mesh.points(); ++p) {
    size.push_back(projector.SizeOf(mesh.rest[p], mesh.first[p]));
    spreads.push_back(held[mesh.first[p]].spreads);
  }
  const MoveSmoother smoother(mesh, size, spreads, skinned);
  Points at = skinned, base = skinned;
  std::vector<double> smoothed(mesh.points());
  for (int pass = 0; pass <= (contact ? kPassesAgain : 0); ++pass) {
    for (std::size_t p = 0; p < mesh.points(); ++p) {
      const std::size_t v = mesh.first[p];
      certainty[p] = 1;
      if (held[v].move_share < 0) continue;
      const Outcome outcome = projector.Run(mesh, v, skinned[p], at[p], held[v], pass > 0,
                                            nearness[p], pass == 1 ? 12 * smoothed[p] : 0);
      at[p] = outcome.at;
      certainty[p] = outcome.certainty;
      if (pass == 0) base[p] = outcome.restored, nearness[p] = outcome.nearness;
    }
    if (pass == 0) smoother.Mend(base, at);
    smoothed = smoother.Spread(base, certainty, at);
    base = at;
  }
  smoother.Ease(nearness, at);
  return mesh.OfVertices(at);
}

}  // namespace sinew::reference
