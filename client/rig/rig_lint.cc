#include "client/rig/rig_lint.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <span>

#include "client/rig/rig_units.h"

namespace sinew::cli {
namespace {

using Severity = LintFinding::Severity;
constexpr double kWeightTolerance = 1e-3;  // of a vertex's sum, as the server has it

class Linter {
 public:
  explicit Linter(const client::RigData& rig) : rig_(rig) {}

  std::vector<LintFinding> Run() {
    CheckJoints();
    if (rig_.vertices() == 0) Say(Severity::kError, "meshes: no vertex");
    for (const client::Mesh& mesh : rig_.meshes) {
      where_ = absl::StrCat("mesh '", mesh.name, "'");
      CheckValues(mesh);
      if (CheckFaces(mesh)) JudgeFaces(mesh);
      if (mesh.skin.empty()) {
        Say(Severity::kInfo, "no weights yet: `sinew weights` computes some");
      } else if (CheckSkin(mesh)) {
        CheckWeights(mesh);
        JudgeSeams(mesh);
        JudgeBind(mesh.skin);
      }
    }
    where_.clear();
    const std::string units = SuspiciousUnits(rig_);
    if (!units.empty()) Say(Severity::kWarning, units);
    SayWhatMovesShapes();
    return std::move(findings_);
  }

 private:
  void Say(Severity severity, const std::string& what) {
    findings_.push_back({severity, where_, what});
  }

  // A recipe does what it says and nothing else: morphs that a viewer would show need their stage.
  void SayWhatMovesShapes() {
    std::size_t targets = 0;
    for (const client::Mesh& mesh : rig_.meshes) {
      for (const client::Shape& shape : mesh.shapes) targets += shape.targets.size();
    }
    if (targets == 0) return;
    Say(Severity::kInfo,
        absl::StrCat(targets, targets == 1 ? " morph target moves" : " morph targets move",
                     " only if the recipe begins with shapes, as in 'shapes | lbs'"));
  }

  void CheckJoints() {
    if (rig_.joints.empty()) Say(Severity::kError, "joints: none");
    if (rig_.rest_local.size() != rig_.joints.size() * 12) {
      Say(Severity::kError,
          absl::StrCat("rest_local: got ", rig_.rest_local.size(), " values, need 12 for each of ",
                       rig_.joints.size(), " joints"));
    }
    std::set<std::string> names;
    for (std::size_t j = 0; j < rig_.joints.size(); ++j) {
      const client::Joint& joint = rig_.joints[j];
      if (!names.insert(joint.name).second) {
        Say(Severity::kError,
            absl::StrCat("joints[", j, "].name: '", joint.name, "' is there twice"));
      }
      if (joint.parent >= static_cast<std::int64_t>(j)) {
        Say(Severity::kError,
            absl::StrCat("joints[", j, "].parent: got ", joint.parent, ", need one before it"));
      }
    }
  }

  void CheckFinite(const char* name, std::span<const float> values) {
    const auto bad =
        std::count_if(values.begin(), values.end(), [](float v) { return !std::isfinite(v); });
    if (bad > 0) Say(Severity::kError, absl::StrCat(name, ": ", bad, " values are not finite"));
  }

  void CheckValues(const client::Mesh& mesh) {
    CheckFinite("positions", mesh.positions);
    CheckFinite("inverse_bind", mesh.skin.inverse_bind);
    CheckFinite("influence_weights", mesh.skin.influence_weights);
  }

  bool CheckFaces(const client::Mesh& mesh) {
    const std::uint64_t corners =
        std::accumulate(mesh.face_sizes.begin(), mesh.face_sizes.end(), std::uint64_t{0});
    const bool adds_up = mesh.face_sizes.empty() ? mesh.face_vertices.size() % 3 == 0
                                                 : corners == mesh.face_vertices.size();
    if (!adds_up) Say(Severity::kError, "face_sizes: do not add up to the number of face_vertices");
    const bool in_range = std::all_of(mesh.face_vertices.begin(), mesh.face_vertices.end(),
                                      [&](std::uint32_t v) { return v < mesh.vertices(); });
    if (!in_range) Say(Severity::kError, "face_vertices: an index is out of range");
    return adds_up && in_range;
  }

  void JudgeFaces(const client::Mesh& mesh) {
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
      Say(Severity::kWarning, absl::StrCat(repeated, " faces name a vertex twice"));
    }
    const auto loose = static_cast<std::uint64_t>(std::count(used.begin(), used.end(), false));
    if (loose > 0) Say(Severity::kInfo, absl::StrCat(loose, " vertices belong to no face"));
  }

  bool CheckSkin(const client::Mesh& mesh) {
    const client::Skin& skin = mesh.skin;
    const std::size_t before = findings_.size();
    const auto need = [&](const char* name, std::uint64_t got, std::uint64_t wanted) {
      if (got != wanted)
        Say(Severity::kError, absl::StrCat(name, ": got ", got, " values, need ", wanted));
    };
    need("influence_counts", skin.influence_counts.size(), mesh.vertices());
    const std::uint64_t entries = std::accumulate(skin.influence_counts.begin(),
                                                  skin.influence_counts.end(), std::uint64_t{0});
    need("influence_joints", skin.influence_joints.size(), entries);
    need("influence_weights", skin.influence_weights.size(), entries);
    need("inverse_bind", skin.inverse_bind.size(), skin.joints.size() * 12);
    for (const std::uint32_t binding : skin.influence_joints) {
      if (binding < skin.joints.size()) continue;
      Say(Severity::kError, absl::StrCat("influence_joints: got ", binding,
                                         ", need an index below ", skin.joints.size()));
      break;
    }
    for (const std::uint32_t joint : skin.joints) {
      if (joint < rig_.joints.size()) continue;
      Say(Severity::kError,
          absl::StrCat("skin.joints: got ", joint, ", need an index below ", rig_.joints.size()));
      break;
    }
    return findings_.size() == before;
  }

  void CheckWeights(const client::Mesh& mesh) {
    const client::Skin& skin = mesh.skin;
    std::size_t at = 0, bare = 0, off = 0, negative = 0, first_off = 0;
    double first_sum = 0;
    for (std::size_t v = 0; v < mesh.vertices(); ++v) {
      double sum = 0;
      for (std::uint32_t k = 0; k < skin.influence_counts[v]; ++k, ++at) {
        sum += skin.influence_weights[at];
        negative += skin.influence_weights[at] < 0 ? 1 : 0;
      }
      if (sum == 0) {
        ++bare;
      } else if (std::abs(sum - 1) > kWeightTolerance && off++ == 0) {
        first_off = v;
        first_sum = sum;
      }
    }
    if (negative > 0)
      Say(Severity::kError, absl::StrCat("influence_weights: ", negative, " are below 0"));
    if (off > 0) {
      Say(Severity::kError,
          absl::StrCat("influence_weights: ", off, " vertices do not sum to 1, the first is ",
                       first_off, " with ", absl::SixDigits(first_sum)));
    }
    if (bare > 0 && skin.fallback_joint) {
      Say(Severity::kInfo,
          absl::StrCat(bare, " vertices without weights follow the fallback joint"));
    } else if (bare > 0) {
      Say(Severity::kError,
          absl::StrCat(bare, " vertices have no weight, and the skin no fallback joint"));
    }
  }

  // Vertices of one place that move apart open a crack; equal weights keep it closed.
  void JudgeSeams(const client::Mesh& mesh) {
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
      if (std::isnan(place[0] + place[1] + place[2])) continue;  // a map cannot order it
      const auto [entry, is_new] = first.try_emplace(place, influences);
      split += !is_new && entry->second != influences ? 1 : 0;
    }
    if (split > 0) {
      Say(Severity::kWarning,
          absl::StrCat(split, " vertices share their place with one of other weights: ",
                       "such seams open when posed"));
    }
  }

  void JudgeBind(const client::Skin& skin) {
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
      Say(Severity::kInfo, absl::StrCat(mirrored, " joints have a mirrored bind matrix"));
    if (flat > 0)
      Say(Severity::kWarning, absl::StrCat(flat, " joints have a bind matrix without inverse"));
  }

  const client::RigData& rig_;
  std::string where_;
  std::vector<LintFinding> findings_;
};

}  // namespace

const char* SeverityName(LintFinding::Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "info";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      break;
  }
  return "error";
}

std::vector<LintFinding> Lint(const client::RigData& rig) {
  return Linter(rig).Run();
}

}  // namespace sinew::cli
