#include "core/deform/cor/cor_centres.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/aligned.h"
#include "core/base/status.h"
#include "core/deform/cor/cor_kernel.h"
#include "core/rig/layout.h"

namespace sinew {
namespace {

// Relative to the area of the whole surface, which is 1.
constexpr double kRegulariser = 1e-12 / 16;
constexpr std::size_t kChunkTerms = 1 << 20;
constexpr std::size_t kListGrain = 4096;

struct Sums {
  double mass = 0, x = 0, y = 0, z = 0;
};

// Compares vertices by the weights that are kept of them.
struct KeptHash {
  const Influences* influences;
  std::uint32_t most;
  std::size_t operator()(std::uint32_t v) const {
    const auto bindings = influences->bindings(v, most);
    const auto weights = influences->weights(v, most);
    return absl::HashOf(absl::MakeConstSpan(bindings.data(), bindings.size()),
                        absl::MakeConstSpan(weights.data(), weights.size()));
  }
};
struct KeptEqual {
  const Influences* influences;
  std::uint32_t most;
  bool operator()(std::uint32_t a, std::uint32_t b) const {
    return std::ranges::equal(influences->bindings(a, most), influences->bindings(b, most)) &&
           std::ranges::equal(influences->weights(a, most), influences->weights(b, most));
  }
};

// [V] the lowest vertex with the same weights: such vertices have the same sums.
std::vector<std::uint32_t> EqualWeights(const Rig& rig, std::uint32_t most) {
  const Influences& influences = rig.influences();
  absl::flat_hash_set<std::uint32_t, KeptHash, KeptEqual> seen(0, KeptHash{&influences, most},
                                                               KeptEqual{&influences, most});
  std::vector<std::uint32_t> lowest(rig.vertices());
  for (std::uint32_t v = 0; v < lowest.size(); ++v) lowest[v] = *seen.insert(v).first;
  return lowest;
}

// A triangle influenced by both joints.
struct Match {
  const CorCarrier* j;
  const CorCarrier* k;
  std::uint64_t first;  // of its pieces in the pair's list
};

// Integrates one pair after another in order, reusing its buffers.
class Integrator {
 public:
  Integrator(const Rig& rig, const CorSurface& surface, const CorPlan& plan,
             const CorParams& params, Task& task)
      : rig_(rig),
        surface_(surface),
        plan_(plan),
        sigma_(params.sigma),
        length_(std::max(rig.mesh().diagonal(), 1e-300)),
        task_(task),
        sums_(rig.vertices()),
        equal_(EqualWeights(rig, params.max_influences)),
        slot_(rig.vertices(), kNone) {
    std::size_t users = 0, carriers = 0, samples = 0, cells = 0;
    for (const CorPair& pair : plan.pairs) {
      users = std::max<std::size_t>(users, pair.users);
      carriers = std::max<std::size_t>(carriers, pair.carriers);
      samples = std::max(samples, plan.SamplesOf(pair, sigma_));
      const auto [width, count] = CorPlan::CellsOf(pair, sigma_);
      if (plan.grouped) cells = std::max(cells, count[0] * count[1]);
    }
    matches_.reserve(carriers);
    samples_.reserve(samples);
    cells_.resize(cells);
    filled_.reserve(std::min(cells, samples));
    vertices_.reserve(users);
    slots_.reserve(users);
    sums_of_slot_.reserve(users);
    weights_j_.reserve(users + kLanes);
    weights_k_.reserve(users + kLanes);
  }

  void AddPair(const CorPair& pair) {
    MatchCarriers(pair);
    if (plan_.grouped) {
      GroupSamples(pair);
    } else {
      ListSamples(pair);
    }
    task_.Advance(plan_.pace * plan_.ListWork(pair, sigma_));
    MatchUsers(pair);
    SumSamples(pair);
  }

  std::span<const Sums> sums() const { return sums_; }

 private:
  Vec3d Position(std::uint32_t vertex) const {
    return ToDouble(rig_.mesh().positions()[vertex]) - rig_.mesh().centre();
  }

  void MatchCarriers(const CorPair& pair) {
    const auto a = surface_.carriers.row(pair.j), b = surface_.carriers.row(pair.k);
    matches_.clear();
    std::uint64_t pieces = 0;
    for (std::size_t i = 0, n = 0; i < a.size() && n < b.size();) {
      const std::uint32_t s = a[i].triangle, t = b[n].triangle;
      if (s == t) {
        matches_.push_back({&a[i], &b[n], pieces});
        pieces += surface_.piece_count[s];
      }
      i += s <= t;
      n += t <= s;
    }
    origin_ = Position(surface_.corners[matches_.front().j->triangle][0]);
  }

  // Calls add(index in the list, w_j, w_k, mass, moment) for the pieces of one triangle.
  template <class Add>
  void VisitPieces(const Match& match, Add add) const {
    const std::uint32_t t = match.j->triangle;
    Vec3d corner[3];
    for (std::size_t c = 0; c < 3; ++c) {
      corner[c] = (1 / length_) * (Position(surface_.corners[t][c]) - origin_);
    }
    for (std::uint32_t i = 0; i < surface_.piece_count[t]; ++i) {
      const CorPiece& piece = surface_.pieces[surface_.first_piece[t] + i];
      double j = 0, k = 0;
      Vec3d centroid;
      for (std::size_t c = 0; c < 3; ++c) {
        const double part = piece.corner[c];
        j += part * match.j->weight[c];
        k += part * match.k->weight[c];
        centroid = centroid + part * corner[c];
      }
      const double mass = j * k * piece.area * surface_.area[t];
      add(match.first + i, j, k, mass, mass * centroid);
    }
  }

  static CorSample Sample(double j, double k, double mass, const Vec3d& moment) {
    const Vec3f m = ToFloat(moment);
    return {static_cast<float>(j), static_cast<float>(k), static_cast<float>(mass), m.x, m.y, m.z};
  }

  void ListSamples(const CorPair& pair) {
    samples_.resize(pair.pieces);
    task_.For(matches_.size(), kListGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        VisitPieces(matches_[i],
                    [&](std::uint64_t at, double j, double k, double mass, const Vec3d& moment) {
                      samples_[at] = Sample(j, k, mass, moment);
                    });
      }
    });
  }

  // One sample per occupied cell, at the mean of its pieces. Only occupied cells are visited: a
  // pair may have a quarter of a million cells and few pieces.
  void GroupSamples(const CorPair& pair) {
    const auto cells = CorPlan::CellsOf(pair, sigma_);
    filled_.clear();
    const auto at = [&](double w, std::size_t axis) {
      return std::min(static_cast<std::size_t>(w / cells.width), cells.count[axis] - 1);
    };
    for (const Match& match : matches_) {
      VisitPieces(match, [&](std::uint64_t, double j, double k, double mass, const Vec3d& moment) {
        if (!(mass > 0)) return;
        const std::size_t index = at(j, 0) * cells.count[1] + at(k, 1);
        Cell& cell = cells_[index];
        if (cell.mass == 0) filled_.push_back(static_cast<std::uint32_t>(index));
        cell.j += mass * j;
        cell.k += mass * k;
        cell.mass += mass;
        cell.moment = cell.moment + moment;
      });
      if (task_.cancelled()) return;
    }
    samples_.clear();
    std::sort(filled_.begin(), filled_.end());
    for (const std::uint32_t index : filled_) {
      Cell& cell = cells_[index];
      samples_.push_back(Sample(cell.j / cell.mass, cell.k / cell.mass, cell.mass, cell.moment));
      cell = {};
    }
  }

  void MatchUsers(const CorPair& pair) {
    const auto a = surface_.users.row(pair.j), b = surface_.users.row(pair.k);
    for (const std::uint32_t v : vertices_) slot_[equal_[v]] = kNone;
    vertices_.clear();
    slots_.clear();
    weights_j_.clear();
    weights_k_.clear();
    for (std::size_t i = 0, n = 0; i < a.size() && n < b.size();) {
      const std::uint32_t s = a[i].vertex, t = b[n].vertex;
      if (s == t) {
        std::uint32_t& slot = slot_[equal_[s]];
        if (slot == kNone) {
          slot = static_cast<std::uint32_t>(weights_j_.size());
          weights_j_.push_back(a[i].weight);
          weights_k_.push_back(b[n].weight);
        }
        vertices_.push_back(s);
        slots_.push_back(slot);
      }
      i += s <= t;
      n += t <= s;
    }
    const std::size_t lanes = (weights_j_.size() + kLanes - 1) / kLanes * kLanes;
    sums_of_slot_.resize(weights_j_.size());
    weights_j_.resize(lanes);
    weights_k_.resize(lanes);
  }

  void SumSamples(const CorPair& pair) {
    const std::size_t groups = weights_j_.size() / kLanes;
    const double group_work =
        plan_.pace * plan_.SumWork(pair, sigma_) / static_cast<double>(groups);
    const std::size_t grain =
        std::max<std::size_t>(1, kChunkTerms / (kLanes * samples_.size() + 1));
    // The kernel squares this difference and uses it as an exponent of two.
    const auto scale = static_cast<float>(std::sqrt(std::numbers::log2e) / sigma_);
    task_.For(groups, grain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t g = begin; g < end; ++g) SumGroup(g, scale);
      task_.Advance(group_work * static_cast<double>(end - begin));
    });
    task_.For(vertices_.size(), kListGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) AddSums(vertices_[i], slots_[i]);
    });
  }

  void SumGroup(std::size_t group, float scale) {
    alignas(kAlignment) float j[kLanes], k[kLanes];
    for (std::size_t i = 0; i < kLanes; ++i) {
      j[i] = weights_j_[group * kLanes + i] * scale;
      k[i] = weights_k_[group * kLanes + i] * scale;
    }
    double sums[4 * kLanes] = {};
    CorKernel(
        {.samples = samples_.data(), .count = samples_.size(), .aj = j, .ak = k, .sums = sums});
    const std::size_t lanes = std::min(kLanes, sums_of_slot_.size() - group * kLanes);
    for (std::size_t i = 0; i < lanes; ++i) {
      sums_of_slot_[group * kLanes + i] = {sums[i], sums[kLanes + i], sums[2 * kLanes + i],
                                           sums[3 * kLanes + i]};
    }
  }

  void AddSums(std::uint32_t vertex, std::uint32_t slot) {
    const double weight = static_cast<double>(weights_j_[slot]) * weights_k_[slot];
    const auto [mass, x, y, z] = sums_of_slot_[slot];
    Sums& sum = sums_[vertex];
    sum.mass += weight * mass;
    sum.x += weight * (length_ * x + origin_.x * mass);
    sum.y += weight * (length_ * y + origin_.y * mass);
    sum.z += weight * (length_ * z + origin_.z * mass);
  }

  struct Cell {
    double j = 0, k = 0, mass = 0;
    Vec3d moment;
  };

  const Rig& rig_;
  const CorSurface& surface_;
  const CorPlan& plan_;
  double sigma_, length_;
  Task& task_;
  std::vector<Sums> sums_;  // [V]
  const std::vector<std::uint32_t> equal_;
  static constexpr std::uint32_t kNone = 0xffffffff;
  // State of the current pair:
  Vec3d origin_;  // a point of its surface; samples are relative to it
  std::vector<Match> matches_;
  std::vector<CorSample> samples_;
  std::vector<Cell> cells_;                   // empty between pairs
  std::vector<std::uint32_t> filled_;         // occupied cells of the current pair
  std::vector<std::uint32_t> vertices_;       // users
  std::vector<std::uint32_t> slots_;          // which of the different weights is theirs
  std::vector<std::uint32_t> slot_;           // [V] of a lowest vertex, or none
  std::vector<float> weights_j_, weights_k_;  // different ones, padded to whole packs
  std::vector<Sums> sums_of_slot_;
};

}  // namespace

absl::StatusOr<std::vector<Vec3d>> CorCentres(const Rig& rig, const CorSurface& surface,
                                              const CorPlan& plan, const CorParams& params,
                                              Task& task) {
  Integrator integrator(rig, surface, plan, params, task);
  for (const CorPair& pair : plan.pairs) {
    integrator.AddPair(pair);
    SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  }
  std::vector<Vec3d> centres;
  centres.reserve(rig.vertices());
  for (std::size_t v = 0; v < rig.vertices(); ++v) {
    const Sums& sum = integrator.sums()[v];
    Vec3d p = ToDouble(rig.mesh().positions()[v]) - rig.mesh().centre();
    if (sum.mass > 0) {
      p = (1 / (sum.mass + kRegulariser)) * (Vec3d{sum.x, sum.y, sum.z} + kRegulariser * p);
    }
    centres.push_back(p);
  }
  return centres;
}

}  // namespace sinew
