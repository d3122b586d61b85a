#include "client/rig/rig_lint.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <string>

#include "client/rig/rig_units.h"

namespace sinew::cli {
namespace {

using client::Severity;

class Linter {
 public:
  explicit Linter(const client::RigData& rig) : rig_(rig) {}

  std::vector<client::Problem> Run() {
    for (const client::Mesh& mesh : rig_.meshes) {
      where_ = absl::StrCat("mesh '", mesh.name, "'");
      CheckFaces(mesh);
      if (mesh.skin.empty()) {
        Add(Severity::kInfo, "no weights yet: `sinew weights` computes them");
        continue;
      }
      CheckUnweighted(mesh);
      CheckSeams(mesh);
      CheckBind(mesh.skin);
    }
    where_.clear();
    const std::string units = SuspiciousUnits(rig_);
    if (!units.empty()) Add(Severity::kWarning, units);
    CheckShapes();
    return std::move(problems_);
  }

 private:
  void Add(Severity severity, const std::string& message) {
    problems_.push_back({.severity = severity, .message = message, .field = where_});
  }

  void CheckFaces(const client::Mesh& mesh) {
    std::vector<bool> used(mesh.vertices());
    std::size_t repeated = 0, at = 0;
    const std::size_t faces =
        mesh.face_sizes.empty() ? mesh.face_vertices.size() / 3 : mesh.face_sizes.size();
    for (std::size_t f = 0; f < faces; ++f) {
      const std::size_t size = mesh.face_sizes.empty() ? 3 : mesh.face_sizes[f];
      const auto corners = std::span(mesh.face_vertices).subspan(at, size);
      std::set<std::uint32_t> distinct(corners.begin(), corners.end());
      repeated += distinct.size() < size ? 1 : 0;
      for (const std::uint32_t v : corners) used[v] = true;
      at += size;
    }
    if (repeated > 0) {
      Add(Severity::kWarning, absl::StrCat(repeated, " faces name a vertex twice"));
    }
    const auto loose = static_cast<std::uint64_t>(std::count(used.begin(), used.end(), false));
    if (loose > 0) Add(Severity::kInfo, absl::StrCat(loose, " vertices belong to no face"));
  }

  void CheckUnweighted(const client::Mesh& mesh) {
    std::size_t at = 0, unweighted = 0;
    for (const std::uint32_t count : mesh.skin.influence_counts) {
      const auto weights = std::span(mesh.skin.influence_weights).subspan(at, count);
      unweighted += std::ranges::all_of(weights, [](float w) { return w == 0; }) ? 1 : 0;
      at += count;
    }
    if (unweighted > 0) {
      Add(Severity::kInfo,
          absl::StrCat(unweighted, " vertices without weights follow the fallback joint"));
    }
  }

  // Coincident vertices with different weights move apart and open a crack.
  void CheckSeams(const client::Mesh& mesh) {
    const client::Skin& skin = mesh.skin;
    using Influences = std::map<std::uint32_t, float>;
    std::map<std::array<float, 3>, Influences> first;
    std::size_t at = 0, split = 0;
    for (std::size_t v = 0; v < mesh.vertices(); ++v) {
      Influences influences;
      for (std::uint32_t k = 0; k < skin.influence_counts[v]; ++k, ++at) {
        if (skin.influence_weights[at] != 0)
          influences[skin.influence_joints[at]] += skin.influence_weights[at];
      }
      const std::array<float, 3> place = {mesh.positions[3 * v], mesh.positions[3 * v + 1],
                                          mesh.positions[3 * v + 2]};
      const auto [entry, is_new] = first.try_emplace(place, influences);
      split += !is_new && entry->second != influences ? 1 : 0;
    }
    if (split > 0) {
      Add(Severity::kWarning,
          absl::StrCat(split, " vertices coincide with one of different weights: ",
                       "such seams open when posed"));
    }
  }

  void CheckBind(const client::Skin& skin) {
    std::size_t mirrored = 0, flat = 0;
    for (std::size_t j = 0; j < skin.joints.size(); ++j) {
      const float* m = &skin.inverse_bind[j * 12];
      const double det = double{m[0]} * (double{m[5]} * m[10] - double{m[6]} * m[9]) -
                         double{m[1]} * (double{m[4]} * m[10] - double{m[6]} * m[8]) +
                         double{m[2]} * (double{m[4]} * m[9] - double{m[5]} * m[8]);
      mirrored += det < 0 ? 1 : 0;
      flat += det == 0 ? 1 : 0;
    }
    if (mirrored > 0)
      Add(Severity::kInfo, absl::StrCat(mirrored, " joints have a mirrored bind matrix"));
    if (flat > 0)
      Add(Severity::kWarning, absl::StrCat(flat, " joints have a bind matrix without inverse"));
  }

  // Viewers show morph targets without being asked; a recipe needs a stage for them.
  void CheckShapes() {
    std::size_t targets = 0;
    for (const client::Mesh& mesh : rig_.meshes) {
      for (const client::Shape& shape : mesh.shapes) targets += shape.targets.size();
    }
    if (targets == 0) return;
    Add(Severity::kInfo,
        absl::StrCat(targets, targets == 1 ? " morph target moves" : " morph targets move",
                     " only if the recipe begins with shapes, as in 'shapes | lbs'"));
  }

  const client::RigData& rig_;
  std::string where_;
  std::vector<client::Problem> problems_;
};

}  // namespace

std::vector<client::Problem> Lint(const client::RigData& rig) {
  return Linter(rig).Run();
}

}  // namespace sinew::cli
