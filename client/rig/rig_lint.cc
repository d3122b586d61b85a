#include "client/rig/rig_lint.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <string>

#include "client/rig/rest_pose.h"
#include "client/rig/rig_units.h"
#include "client/rig/vertex_influences.h"
#include "core/base/counted_text.h"
#include "core/rig/point_weights.h"

namespace sinew::client {
namespace {

using client::Severity;

// Largest difference of a joint's weight between two vertices.
double Difference(std::span<const JointWeight> a, std::span<const JointWeight> b) {
  double largest = 0;
  for (std::size_t i = 0, k = 0; i < a.size() || k < b.size();) {
    const bool in_a = k == b.size() || (i < a.size() && a[i].joint <= b[k].joint);
    const bool in_b = i == a.size() || (k < b.size() && b[k].joint <= a[i].joint);
    const double of_a = in_a ? double{a[i].weight} : 0, of_b = in_b ? double{b[k].weight} : 0;
    largest = std::max(largest, std::abs(of_a - of_b));
    i += in_a ? 1 : 0;
    k += in_b ? 1 : 0;
  }
  return largest;
}

// How many inverse bind matrices have such a determinant.
template <class Predicate>
std::size_t CountBinds(const client::Skin& skin, const Predicate& is_counted) {
  std::size_t count = 0;
  for (std::size_t j = 0; j < skin.joints.size(); ++j) {
    count += is_counted(Determinant(Linear(MatrixAt(skin.inverse_bind, j)))) ? 1 : 0;
  }
  return count;
}

class Linter {
 public:
  std::vector<client::Problem> Run(const client::RigData& rig) {
    const RigInfluences influences = ReadInfluences(rig);
    std::size_t first = 0, targets = 0;
    for (const client::Mesh& mesh : rig.meshes) {
      where_ = absl::StrCat("mesh '", mesh.name, "'");
      CheckFaces(mesh);
      if (mesh.skin.empty()) {
        Add(Severity::kInfo, "no weights yet: `sinew weights` computes them");
      } else {
        CheckUnweighted(mesh.skin);
        CheckSeams(mesh, influences, first);
        CheckBind(mesh.skin);
      }
      first += mesh.vertices();
      for (const client::Shape& shape : mesh.shapes) targets += shape.targets.size();
    }
    where_.clear();
    const std::string units = SuspiciousUnits(rig);
    if (!units.empty()) Add(Severity::kWarning, units);
    // Viewers show morph targets without being asked; a recipe needs a stage for them.
    AddCount(Severity::kInfo, targets, "morph target moves", "morph targets move",
             " only if the recipe begins with shapes, as in 'shapes | lbs'");
    return std::move(problems_);
  }

 private:
  void Add(Severity severity, const std::string& message) {
    problems_.push_back({.severity = severity, .message = message, .field = where_});
  }
  // What is counted, with its verb: "joint is", "joints are".
  void AddCount(Severity severity, std::size_t count, absl::string_view one, absl::string_view more,
                absl::string_view what) {
    if (count > 0) Add(severity, absl::StrCat(CountedText(count, one, more), what));
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
    AddCount(Severity::kWarning, repeated, "face names", "faces name", " a vertex twice");
    AddCount(Severity::kInfo, static_cast<std::size_t>(std::ranges::count(used, false)),
             "vertex belongs", "vertices belong", " to no face");
  }

  void CheckUnweighted(const client::Skin& skin) {
    std::size_t at = 0, unweighted = 0;
    for (const std::uint32_t count : skin.influence_counts) {
      const auto weights = std::span(skin.influence_weights).subspan(at, count);
      unweighted += std::ranges::all_of(weights, [](float w) { return w == 0; }) ? 1 : 0;
      at += count;
    }
    AddCount(Severity::kInfo, unweighted, "vertex without weights follows",
             "vertices without weights follow", " the fallback joint");
  }

  // Coincident vertices with different weights move apart and open a crack. Smaller differences are
  // rounding: such vertices are one point. `begin`: the mesh's first vertex.
  void CheckSeams(const client::Mesh& mesh, const RigInfluences& influences, std::size_t begin) {
    std::map<std::array<float, 3>, std::size_t> first;
    std::size_t split = 0;
    for (std::size_t v = 0; v < mesh.vertices(); ++v) {
      const float* p = &mesh.positions[3 * v];
      const std::size_t other = first.try_emplace({p[0], p[1], p[2]}, v).first->second;
      const double difference = Difference(influences.Of(begin + v), influences.Of(begin + other));
      split += difference > kSameWeight ? 1 : 0;
    }
    AddCount(Severity::kWarning, split, "vertex coincides", "vertices coincide",
             " with one whose weights differ by more than 0.001: such seams open "
             "when posed");
  }

  void CheckBind(const client::Skin& skin) {
    const auto mirrors = [](double determinant) { return determinant < 0; };
    AddCount(Severity::kInfo, CountBinds(skin, mirrors), "joint has", "joints have",
             " a mirrored bind matrix");
    const std::string singular = SingularBindText(skin);
    if (!singular.empty()) Add(Severity::kWarning, singular);
  }

  std::string where_;
  std::vector<client::Problem> problems_;
};

}  // namespace

std::string SingularBindText(const client::Skin& skin) {
  const std::size_t count = CountBinds(skin, [](double determinant) { return determinant == 0; });
  return count == 0 ? ""
                    : absl::StrCat(CountedText(count, "joint has", "joints have"),
                                   " a singular inverse bind matrix");
}

std::vector<client::Problem> Lint(const client::RigData& rig) {
  return Linter().Run(rig);
}

}  // namespace sinew::client
