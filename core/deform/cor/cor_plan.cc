#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>

#include "core/base/rows.h"
#include "core/base/status.h"
#include "core/deform/cor/cor_centres.h"
#include "core/deform/cor/cor_kernel.h"
#include "core/rig/layout.h"

namespace sinew {
namespace {

constexpr double kMaxTerms = 4e9;              // about two seconds of one core
constexpr std::uint64_t kMaxPairs = 16 << 20;  // 0.8 GB of plan
constexpr double kCell = 1.0 / 16;      // largest change of the exponent's root within a cell
constexpr std::size_t kMaxCells = 512;  // along either weight: 12 MB of cells

constexpr double kTermWork = 0.5, kListWork = 15, kRowWork = 4, kCellWork = 20;  // nanoseconds

double PaddedUsers(const CorPair& pair) {
  return std::ceil(pair.users / static_cast<double>(kLanes)) * kLanes;
}

// The joints above j that share a vertex with j: number of vertices and largest weights.
class Partners {
 public:
  Partners(const CorSurface& surface, const Rig& rig) : surface_(surface) {
    const std::size_t joints = rig.bindings().size();
    top_.resize(joints);
    rows_ = CollectRows<Weight>(rig.vertices(), [&](auto add) {
      for (std::size_t j = 0; j < joints; ++j) {
        for (const CorUser& user : surface.users.row(j)) {
          add(user.vertex, Weight{static_cast<std::uint16_t>(j), user.weight});
          top_[j] = std::max(top_[j], user.weight);
        }
      }
    });
    found_.resize(joints);
  }

  // Appends j's pairs in ascending order.
  void Append(std::size_t j, std::vector<CorPair>& pairs) {
    touched_.clear();
    for (const CorUser& user : surface_.users.row(j)) {
      const auto row = rows_.row(user.vertex);
      for (auto entry = row.rbegin(); entry != row.rend(); ++entry) {
        const auto [k, weight] = *entry;
        if (k <= j) break;  // ascending by joint: scanned from the back down to j
        Found& found = found_[k];
        if (found.users++ == 0) touched_.push_back(k);
        found.reach2 = std::max(found.reach2, user.weight * user.weight + weight * weight);
      }
    }
    std::sort(touched_.begin(), touched_.end());
    for (const std::uint16_t k : touched_) {
      pairs.push_back({.j = static_cast<std::uint16_t>(j),
                       .k = k,
                       .users = found_[k].users,
                       .carriers = 0,
                       .pieces = 0,
                       .rows = 0,
                       .top = {top_[j], top_[k]},
                       .reach = std::sqrt(found_[k].reach2)});
      found_[k] = {};
    }
  }

 private:
  struct Found {
    std::uint32_t users = 0;
    float reach2 = 0;
  };
  struct Weight {
    std::uint16_t joint;
    float weight;
  };
  const CorSurface& surface_;
  std::vector<float> top_;    // [E]
  Rows<Weight> rows_;         // of each vertex
  std::vector<Found> found_;  // [E]
  std::vector<std::uint16_t> touched_;
};

// Counts triangles and pieces per pair by scanning the triangles of the lower joint.
class CarrierCount {
 public:
  explicit CarrierCount(const CorSurface& surface)
      : surface_(surface), slot_(surface.joints(), nullptr) {
    joints_ = CollectRows<std::uint16_t>(surface.corners.size(), [&](auto add) {
      for (std::size_t j = 0; j < surface.joints(); ++j) {
        for (const CorCarrier& carrier : surface.carriers.row(j)) {
          add(carrier.triangle, static_cast<std::uint16_t>(j));
        }
      }
    });
  }

  // pairs: all those with lower joint j.
  void Fill(std::size_t j, std::span<CorPair> pairs) {
    for (CorPair& pair : pairs) {
      slot_[pair.k] = &pair;
      pair.carriers = 0;
      pair.pieces = 0;
      pair.rows = CountRows(j) + CountRows(pair.k);
    }
    for (const CorCarrier& carrier : surface_.carriers.row(j)) {
      const std::uint32_t t = carrier.triangle;
      const auto row = joints_.row(t);
      for (auto k = row.rbegin(); k != row.rend(); ++k) {
        if (*k <= j) break;
        if (CorPair* pair = slot_[*k]; pair != nullptr) {
          ++pair->carriers;
          pair->pieces += surface_.piece_count[t];
        }
      }
    }
    for (const CorPair& pair : pairs) slot_[pair.k] = nullptr;
  }

 private:
  std::size_t CountRows(std::size_t j) const {
    return surface_.carriers.row(j).size() + surface_.users.row(j).size();
  }

  const CorSurface& surface_;
  Rows<std::uint16_t> joints_;  // of each triangle, rising
  std::vector<CorPair*> slot_;  // [E] of the present joint
};

}  // namespace

absl::Status CorPlan::CheckPairs(const Rig& rig, const CorParams& params) {
  const std::uint64_t joints = rig.bindings().size();
  std::uint64_t pairs = 0;
  for (std::size_t v = 0; v < rig.vertices(); ++v) {
    std::uint64_t k = rig.influences().bindings(v).size();
    if (params.max_influences > 0) k = std::min<std::uint64_t>(k, params.max_influences);
    pairs += k * (k - 1) / 2;
  }
  pairs = std::min(pairs, joints * (joints - 1) / 2);
  if (pairs <= kMaxPairs) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("cor.max_influences: got ", params.max_influences, ", which leaves up to ",
                   pairs, " pairs of joints that share a vertex, limit ", kMaxPairs));
}

absl::StatusOr<CorPlan> CorPlan::Create(const CorSurface& surface, const Rig& rig,
                                        const CorParams& params, const Task& task) {
  CorPlan plan;
  {
    Partners partners(surface, rig);
    for (std::size_t j = 0; j < surface.joints(); ++j) {
      SINEW_RETURN_IF_ERROR(task.CheckCancelled());
      partners.Append(j, plan.pairs);
    }
  }
  SINEW_RETURN_IF_ERROR(plan.CountPieces(surface, params, task));
  std::erase_if(plan.pairs, [](const CorPair& pair) { return pair.pieces == 0; });
  return plan;
}

absl::Status CorPlan::CountPieces(const CorSurface& surface, const CorParams& params,
                                  const Task& task) {
  CarrierCount carriers(surface);
  double terms = 0;
  for (std::size_t first = 0, end = 0; first < pairs.size(); first = end) {
    SINEW_RETURN_IF_ERROR(task.CheckCancelled());
    const std::uint16_t j = pairs[first].j;
    while (end < pairs.size() && pairs[end].j == j) ++end;
    const auto of_joint = std::span(pairs).subspan(first, end - first);
    carriers.Fill(j, of_joint);
    for (const CorPair& pair : of_joint)
      terms += PaddedUsers(pair) * static_cast<double>(pair.pieces);
  }
  grouped = terms > kMaxTerms;
  blur = 0;
  for (const CorPair& pair : pairs) {
    if (!grouped) break;
    if (pair.pieces == 0) continue;  // no surface is influenced by both
    const double step = CellsOf(pair, params.sigma).width * pair.reach / params.sigma;
    blur = std::max(blur, step * step / 12);  // variance of a cell, relative to 1/2
  }
  return absl::OkStatus();
}

CorPlan::Cells CorPlan::CellsOf(const CorPair& pair, double sigma) {
  const double top = std::max(pair.top[0], pair.top[1]);
  const double width = std::max(kCell * sigma / pair.reach, top / (kMaxCells - 1));
  const auto count = [&](double weight) { return static_cast<std::size_t>(weight / width) + 1; };
  return {width, {count(pair.top[0]), count(pair.top[1])}};
}

double CorPlan::ListWork(const CorPair& pair, double sigma) const {
  const double cells = grouped ? static_cast<double>(SamplesOf(pair, sigma)) : 0;
  return kListWork * static_cast<double>(pair.pieces) + kRowWork * static_cast<double>(pair.rows) +
         kCellWork * cells;
}

std::size_t CorPlan::SamplesOf(const CorPair& pair, double sigma) const {
  if (!grouped) return pair.pieces;
  const auto [width, count] = CellsOf(pair, sigma);
  return std::min<std::size_t>(pair.pieces, count[0] * count[1]);
}

double CorPlan::SumWork(const CorPair& pair, double sigma) const {
  return kTermWork * PaddedUsers(pair) * static_cast<double>(SamplesOf(pair, sigma));
}

double CorPlan::work(double sigma) const {
  double work = 0;
  for (const CorPair& pair : pairs) work += ListWork(pair, sigma) + SumWork(pair, sigma);
  return work;
}

std::size_t CorPlan::peak_bytes(std::size_t vertices, double sigma) const {
  std::size_t users = 0, carriers = 0, samples = 0, cells = 0;
  for (const CorPair& pair : pairs) {
    const auto [width, count] = CellsOf(pair, sigma);
    users = std::max<std::size_t>(users, pair.users);
    carriers = std::max<std::size_t>(carriers, pair.carriers);
    samples = std::max<std::size_t>(samples, pair.pieces);
    if (grouped) cells = std::max(cells, count[0] * count[1]);
  }
  // Sums, centres and vertices of equal weights; ids, places, two weights and sums of a pair's
  // users; its triangles, samples and cells.
  return vertices * (4 * sizeof(double) + sizeof(Vec3d) + 24) + (users + kLanes) * 48 +
         carriers * 3 * sizeof(std::uint64_t) + samples * sizeof(CorSample) +
         cells * (6 * sizeof(double) + sizeof(std::uint32_t));
}

}  // namespace sinew
