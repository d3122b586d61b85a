// bound_cor.h - computes centres of rotation alone, and rigs with non-trivial weights.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/deform/cor/cor_centres.h"
#include "core/deform/cor/cor_surface.h"
#include "tests/support/random.h"
#include "tests/support/run_method.h"
#include "tests/support/tube.h"

namespace sinew::testing {

// In bind space.
inline std::vector<Vec3d> Centres(const Rig& rig, const CorParams& params = {},
                                  bool grouped = false) {
  Task task;
  CorSurface surface = ValueOrDie(CorSurface::Create(rig, params, task));
  if (!surface.AddPieces(rig, params, task).ok()) return {};
  CorPlan plan = ValueOrDie(CorPlan::Create(surface, rig, params, task));
  plan.grouped = plan.grouped || grouped;
  std::vector<Vec3d> centres = ValueOrDie(CorCentres(rig, surface, plan, params, task));
  for (Vec3d& p : centres) p = p + rig.mesh().centre();
  return centres;
}

// Replaces a tube's weights by weight(x, around, joint), normalised.
template <class Weight>
RigSource Weighted(const TubeOptions& options, Weight weight) {
  RigSource source = TubeSource(options);
  InfluenceSource rows{.offsets = {0}, .bindings = {}, .weights = {}};
  for (std::size_t v = 0; v < source.mesh.positions.size(); ++v) {
    std::vector<double> row;
    double sum = 0;
    for (std::size_t j = 0; j < options.joints; ++j) {
      row.push_back(weight(static_cast<double>(source.mesh.positions[v].x), v % options.around, j));
      sum += row.back();
    }
    for (std::size_t j = 0; j < options.joints; ++j) {
      if (row[j] <= 0) continue;
      rows.bindings.push_back(static_cast<std::uint32_t>(j));
      rows.weights.push_back(static_cast<float>(row[j] / sum));
    }
    rows.offsets.push_back(rows.bindings.size());
  }
  source.influences = std::move(rows);
  return source;
}

// Every vertex influenced by every joint, the nearest most.
inline RigSource BroadWeights(const TubeOptions& options) {
  return Weighted(options, [&](double x, std::size_t around, std::size_t j) {
    const double at =
        options.length * (static_cast<double>(j) / static_cast<double>(options.joints) - 0.5);
    const double d = (x - at) / options.length * 4 + 0.02 * static_cast<double>(around);
    return std::exp(-d * d);
  });
}

// Random, uncorrelated weights.
inline RigSource NoisyWeights(const TubeOptions& options) {
  Random random;
  return Weighted(options, [&](double, std::size_t around, std::size_t j) {
    const double w = random.Next();
    return w < 0.3 && j != around % options.joints ? 0.0 : w + 1e-3;
  });
}

}  // namespace sinew::testing
