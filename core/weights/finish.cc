#include "core/weights/finish.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/status.h"

namespace sinew::weights {
namespace {

constexpr std::size_t kGrain = 1024;  // points
constexpr double kNothing = 1e-30;    // sum below which a row is empty
constexpr std::size_t kCheckEvery = 1 << 16;

void SmoothColumn(const Adjacency& neighbours, std::uint32_t passes, const Task& task,
                  std::span<double> column, std::vector<double>& next) {
  next.resize(column.size());
  for (std::uint32_t pass = 0; pass < passes; ++pass) {
    for (std::size_t p = 0; p < column.size(); ++p) {
      if (p % kCheckEvery == 0 && task.cancelled()) return;
      const auto row = neighbours.row(p);
      double sum = 0;
      for (const std::uint32_t n : row) sum += column[n];
      next[p] = row.empty() ? column[p] : 0.5 * (column[p] + sum / static_cast<double>(row.size()));
    }
    std::ranges::copy(next, column.begin());
  }
}

void NormaliseRow(const Skin& skin, Columns& columns, std::size_t p) {
  double sum = 0;
  for (std::size_t j = 0; j < skin.joints.size(); ++j) {
    double& w = columns.of(j)[p];
    w = w > 0 && std::isfinite(w) ? w : 0;  // solvers may leave the range by rounding
    sum += w;
  }
  if (!(sum > kNothing)) {
    columns.of(skin.Nearest(skin.points[p]))[p] = sum = 1;
  }
  for (std::size_t j = 0; j < skin.joints.size(); ++j) columns.of(j)[p] /= sum;
}

using Row = std::vector<std::pair<double, std::uint32_t>>;  // weight, index into Skin::joints

// The weights of a point that are kept, strongest first; they sum to 1.
void KeepStrongest(const Columns& columns, std::size_t joints, const WeightOptions& options,
                   std::size_t p, Row& row) {
  row.clear();
  for (std::uint32_t j = 0; j < joints; ++j) {
    if (columns.of(j)[p] > 0) row.emplace_back(columns.of(j)[p], j);
  }
  std::ranges::sort(row, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::size_t kept = 1;
  const double least = options.prune;
  while (kept < std::min<std::size_t>(row.size(), options.max_influences) &&
         row[kept].first >= least) {
    ++kept;
  }
  row.resize(kept);
  double sum = 0;
  for (const auto& entry : row) sum += entry.first;
  for (auto& entry : row) entry.first /= sum;
}

}  // namespace

absl::StatusOr<InfluenceSource> Finish(const Skin& skin, const WeightOptions& options,
                                       Columns columns, const Progress& progress) {
  const Task& task = progress.task;
  const std::size_t points = skin.points.size(), joints = skin.joints.size();
  const auto for_points = [&](auto body) {
    task.For(points, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t p = begin; p < end; ++p) body(p);
    });
  };
  for_points([&](std::size_t p) { NormaliseRow(skin, columns, p); });
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  if (options.smooth > 0) {
    task.For(joints, 1, [&](std::size_t begin, std::size_t end) {
      std::vector<double> next;
      for (std::size_t j = begin; j < end; ++j) {
        SmoothColumn(skin.neighbours, options.smooth, task, columns.of(j), next);
        progress.Advance(0.5 / static_cast<double>(joints));
      }
    });
    SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  }
  const std::size_t most = std::min<std::size_t>(options.max_influences, joints);
  std::vector<std::uint8_t> counts(points);
  std::vector<std::pair<float, std::uint32_t>> kept(points * most);
  task.For(points, kGrain, [&](std::size_t begin, std::size_t end) {
    Row row;
    for (std::size_t p = begin; p < end; ++p) {
      KeepStrongest(columns, joints, options, p, row);
      counts[p] = static_cast<std::uint8_t>(row.size());
      for (std::size_t k = 0; k < row.size(); ++k) {
        kept[p * most + k] = {static_cast<float>(row[k].first), skin.joints[row[k].second]};
      }
    }
  });
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  progress.Advance(options.smooth > 0 ? 0.5 : 1);
  InfluenceSource influences;
  influences.offsets.push_back(0);
  for (const std::uint32_t p : skin.welded.point) {
    for (std::size_t k = 0; k < counts[p]; ++k) {
      influences.weights.push_back(kept[p * most + k].first);
      influences.bindings.push_back(kept[p * most + k].second);
    }
    influences.offsets.push_back(influences.bindings.size());
  }
  return influences;
}

std::size_t FinishBytes(const Skin& skin, const WeightOptions& options) {
  const std::size_t points = skin.points.size(), joints = skin.joints.size();
  const std::size_t most = std::min<std::size_t>(options.max_influences, joints);
  // One column for each thread that smooths.
  const std::size_t smoothing = options.smooth > 0 ? points * sizeof(double) * joints : 0;
  return points * (joints * sizeof(double) + 8 * most + 16) +
         skin.welded.point.size() * (16 * most + 16) + smoothing;
}

}  // namespace sinew::weights
