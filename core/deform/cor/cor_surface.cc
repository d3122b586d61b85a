#include "core/deform/cor/cor_surface.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/status.h"

namespace sinew {
namespace {

constexpr double kLongestSide = 0.1;  // of a piece, in weight space
constexpr double kTie = 1e-9;
constexpr int kCountedHalvings = 4;  // beyond, the number of pieces is estimated from the sides
constexpr std::size_t kSplitGrain = 4096;  // triangles: at most two million pieces

struct Row {
  std::span<const std::uint16_t> bindings;
  std::span<const double> weights;
  double sum;
};

Row KeptRow(const Influences& influences, const CorParams& params, std::size_t v) {
  Row row = {influences.bindings(v, params.max_influences),
             influences.weights(v, params.max_influences), 0};
  for (const double weight : row.weights) row.sum += weight;
  return row;
}

// The joints at a triangle's corners with their weights.
class CornerWeights {
 public:
  CornerWeights(const Rig& rig, const CorParams& params)
      : rig_(rig), params_(params), slot_(rig.bindings().size(), kNone) {}

  struct Entry {
    std::uint16_t binding;
    std::array<double, 3> weight;
  };

  std::span<const Entry> Of(const std::array<std::uint32_t, 3>& corners) {
    entries_.clear();
    for (std::size_t c = 0; c < 3; ++c) {
      const Row row = KeptRow(rig_.influences(), params_, corners[c]);
      for (std::size_t k = 0; k < row.bindings.size(); ++k) {
        std::uint32_t& slot = slot_[row.bindings[k]];
        if (slot == kNone) {
          slot = static_cast<std::uint32_t>(entries_.size());
          entries_.push_back({row.bindings[k], {}});
        }
        entries_[slot].weight[c] = row.weights[k] / row.sum;
      }
    }
    for (const Entry& entry : entries_) slot_[entry.binding] = kNone;
    return entries_;
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  const Rig& rig_;
  const CorParams& params_;
  std::vector<std::uint32_t> slot_;  // [E]
  std::vector<Entry> entries_;
};

std::array<double, 3> SquaredSides(std::span<const CornerWeights::Entry> entries) {
  std::array<double, 3> side2{};
  for (const auto& [binding, w] : entries) {
    for (std::size_t c = 0; c < 3; ++c) {
      const double d = w[(c + 1) % 3] - w[c];
      side2[c] += d * d;
    }
  }
  return side2;
}

void AddTriangles(const Mesh& mesh, CorSurface& surface) {
  double total = 0;
  ForEachTriangle(mesh, [&](const std::array<std::uint32_t, 3>& t) {
    const auto at = [&](std::size_t i) { return ToDouble(mesh.positions()[t[i]]); };
    const Vec3d normal = Cross(at(1) - at(0), at(2) - at(0));
    const double area = 0.5 * std::sqrt(Dot(normal, normal));
    if (!(area > 0)) return;
    surface.corners.push_back(t);
    surface.area.push_back(area);
    total += area;
  });
  for (double& area : surface.area) area /= total;
}

void AddUsers(const Rig& rig, const CorParams& params, const Task& task, CorSurface& surface) {
  surface.users = CollectChunks<CorUser>(
      rig.bindings().size(), rig.vertices(), task,
      [&](std::size_t begin, std::size_t end, auto add) {
        for (std::size_t v = begin; v < end; ++v) {
          const Row row = KeptRow(rig.influences(), params, v);
          for (std::size_t k = 0; k < row.bindings.size(); ++k) {
            add(row.bindings[k], CorUser{static_cast<std::uint32_t>(v),
                                         static_cast<float>(row.weights[k] / row.sum)});
          }
        }
      });
}

void AddCarriers(const Rig& rig, const CorParams& params, const Task& task, CorSurface& surface) {
  const std::size_t triangles = surface.corners.size();
  surface.first_piece.assign(triangles, 0);
  surface.piece_count.assign(triangles, 1);
  surface.carriers = CollectChunks<CorCarrier>(
      rig.bindings().size(), triangles, task, [&](std::size_t begin, std::size_t end, auto add) {
        CornerWeights weights(rig, params);
        for (std::size_t t = begin; t < end; ++t) {
          const auto entries = weights.Of(surface.corners[t]);
          if (params.refine) surface.piece_count[t] = MostCorPieces(SquaredSides(entries));
          for (const auto& [binding, w] : entries) {
            add(binding, CorCarrier{static_cast<std::uint32_t>(t),
                                    {static_cast<float>(w[0]), static_cast<float>(w[1]),
                                     static_cast<float>(w[2])}});
          }
        }
      });
  surface.pieces_needed = 1;
  for (const std::uint32_t most : surface.piece_count) {
    if (most > 1) surface.pieces_needed += most;
  }
}

struct Part {
  std::array<std::array<double, 3>, 3> corner;  // barycentric
  std::array<double, 3> side2;                  // 01, 12, 20
  double area;
};

// Splits a part along the line from the midpoint of side s to the opposite corner.
std::array<Part, 2> Halve(const Part& part, std::size_t s) {
  const std::size_t a = s, b = (s + 1) % 3, c = (s + 2) % 3;
  const double median2 =
      std::max(0.0, 0.5 * (part.side2[b] + part.side2[c]) - 0.25 * part.side2[a]);
  std::array<double, 3> middle{};
  for (std::size_t i = 0; i < 3; ++i) middle[i] = 0.5 * (part.corner[a][i] + part.corner[b][i]);
  const double half2 = 0.25 * part.side2[a];
  return {
      {{{part.corner[a], middle, part.corner[c]}, {half2, median2, part.side2[c]}, 0.5 * part.area},
       {{middle, part.corner[b], part.corner[c]},
        {half2, part.side2[b], median2},
        0.5 * part.area}}};
}

constexpr double kWhole2 = kLongestSide * kLongestSide * (1 + kTie);

double Longest(const Part& part) {
  return std::max({part.side2[0], part.side2[1], part.side2[2]});
}

// The side to split: the first of the longest.
std::size_t SideToHalve(const Part& part) {
  std::size_t s = 0;
  while (part.side2[s] < Longest(part) * (1 - kTie)) ++s;
  return s;
}

std::uint32_t MostPieces(const Part& part, int counted) {
  const double longest = Longest(part);
  if (longest <= kWhole2) return 1;
  if (counted == 0) {
    std::uint32_t most = 2;
    const double limit = kLongestSide * kLongestSide * (1 - 1e-6);
    // Squared sides in weight space are at most 2, so this ends after nine steps.
    for (bool odd = true; (odd ? 2 : 3) * longest > limit * most && most < 1024; odd = !odd) {
      most *= 2;
    }
    return most;
  }
  const auto halves = Halve(part, SideToHalve(part));
  return MostPieces(halves[0], counted - 1) + MostPieces(halves[1], counted - 1);
}

}  // namespace

std::uint32_t MostCorPieces(const std::array<double, 3>& side2) {
  return MostPieces({{}, side2, 1}, kCountedHalvings);
}

void SplitCorTriangle(const std::array<double, 3>& side2, std::vector<CorPiece>& pieces) {
  std::vector<Part> open = {{{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, side2, 1}};
  while (!open.empty()) {
    const Part part = open.back();
    open.pop_back();
    if (Longest(part) <= kWhole2) {
      CorPiece piece = {{}, static_cast<float>(part.area)};
      for (std::size_t i = 0; i < 3; ++i) {
        piece.corner[i] =
            static_cast<float>((part.corner[0][i] + part.corner[1][i] + part.corner[2][i]) / 3);
      }
      pieces.push_back(piece);
      continue;
    }
    const auto halves = Halve(part, SideToHalve(part));
    open.push_back(halves[1]);
    open.push_back(halves[0]);
  }
}

absl::StatusOr<CorSurface> CorSurface::Create(const Rig& rig, const CorParams& params,
                                              const Task& task) {
  CorSurface surface;
  AddTriangles(rig.mesh(), surface);
  AddUsers(rig, params, task, surface);
  AddCarriers(rig, params, task, surface);
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  return surface;
}

absl::Status CorSurface::AddPieces(const Rig& rig, const CorParams& params, const Task& task) {
  CornerWeights weights(rig, params);
  pieces.reserve(pieces_needed);
  SplitCorTriangle({0, 0, 0}, pieces);
  for (std::size_t t = 0; t < corners.size(); ++t) {
    if (t % kSplitGrain == 0) SINEW_RETURN_IF_ERROR(task.CheckCancelled());
    if (piece_count[t] == 1) continue;  // reuses piece 0
    first_piece[t] = pieces.size();
    SplitCorTriangle(SquaredSides(weights.Of(corners[t])), pieces);
    piece_count[t] = static_cast<std::uint32_t>(pieces.size() - first_piece[t]);
  }
  pieces_needed = pieces.size();
  return absl::OkStatus();
}

std::size_t CorSurface::bytes() const {
  const std::size_t triangle =
      sizeof corners[0] + sizeof(double) + sizeof(std::uint64_t) + sizeof(std::uint32_t);
  return 2 * corners.size() * triangle + pieces_needed * sizeof(CorPiece) +
         (users.offsets.size() + carriers.offsets.size()) * 2 * sizeof(std::uint64_t) +
         users.values.size() * sizeof(CorUser) + carriers.values.size() * sizeof(CorCarrier);
}

}  // namespace sinew
