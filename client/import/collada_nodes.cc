#include "client/import/collada_nodes.h"

#include <absl/strings/str_cat.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/base/counted_text.h"
#include "core/base/status.h"
#include "sinew/import.h"

namespace sinew::client {
namespace {

// Exporters write six digits.
constexpr double kLastRowPrecision = 1e-6;

struct KindTraits {
  const char* element;
  ColladaTransformKind kind;
  std::size_t numbers;
};
constexpr std::array<KindTraits, 5> kKinds = {{{"matrix", ColladaTransformKind::kMatrix, 16},
                                               {"translate", ColladaTransformKind::kTranslate, 3},
                                               {"rotate", ColladaTransformKind::kRotate, 4},
                                               {"scale", ColladaTransformKind::kScale, 3},
                                               {"lookat", ColladaTransformKind::kLookAt, 9}}};

const KindTraits* FindKind(pugi::xml_node element) {
  const std::string_view name = element.name();
  const auto* found = std::ranges::find(kKinds, name, &KindTraits::element);
  return found == kKinds.end() ? nullptr : found;
}

Eigen::Vector3d Vector(const double* v) {
  return {v[0], v[1], v[2]};
}

AffineD FromEigen(const Eigen::Matrix3d& linear, const Eigen::Vector3d& translation) {
  AffineD out;
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 3; ++column) {
      out.m[static_cast<std::size_t>(row * 4 + column)] = linear(row, column);
    }
    out.m[static_cast<std::size_t>(row * 4 + 3)] = translation[row];
  }
  return out;
}

absl::StatusOr<AffineD> MatrixOf(const double* n) {
  const double off =
      std::max({std::abs(n[12]), std::abs(n[13]), std::abs(n[14]), std::abs(n[15] - 1)});
  if (!(off <= kLastRowPrecision)) {
    return InvalidArgument("the last row of a matrix is ", n[12], " ", n[13], " ", n[14], " ",
                           n[15], ", need 0 0 0 1");
  }
  AffineD out;
  std::copy_n(n, 12, out.m.begin());
  return out;
}

absl::StatusOr<AffineD> RotationOf(const double* n) {
  const Eigen::Vector3d axis = Vector(n);
  if (n[3] == 0) return AffineD();
  if (!(axis.norm() > 0)) return InvalidArgument("the axis of a rotation is 0");
  const double angle = n[3] * std::numbers::pi / 180;
  return FromEigen(Eigen::AngleAxisd(angle, axis.stableNormalized()).toRotationMatrix(),
                   Eigen::Vector3d::Zero());
}

// A camera at the eye that looks along its negative z axis.
absl::StatusOr<AffineD> LookAtOf(const double* n) {
  const Eigen::Vector3d eye = Vector(n), back = eye - Vector(n + 3), up = Vector(n + 6);
  const Eigen::Vector3d right = up.stableNormalized().cross(back.stableNormalized());
  if (!(right.norm() > 0)) return InvalidArgument("a <lookat> has no direction, or up is along it");
  Eigen::Matrix3d axes;
  axes.col(0) = right.normalized();
  axes.col(2) = back.stableNormalized();
  axes.col(1) = axes.col(2).cross(axes.col(0));
  return FromEigen(axes, eye);
}

absl::StatusOr<AffineD> TransformOf(const ColladaTransform& transform) {
  const double* n = transform.numbers.data();
  switch (transform.kind) {
    case ColladaTransformKind::kMatrix:
      return MatrixOf(n);
    case ColladaTransformKind::kTranslate:
      return FromEigen(Eigen::Matrix3d::Identity(), Vector(n));
    case ColladaTransformKind::kRotate:
      return RotationOf(n);
    case ColladaTransformKind::kScale:
      return FromEigen(Vector(n).asDiagonal(), Eigen::Vector3d::Zero());
    case ColladaTransformKind::kLookAt:
      return LookAtOf(n);
  }
  return AffineD();
}

// Finds what <instance_node> refers to as Assimp does: nodes at the top of a library_nodes, then by
// id or name in the scene.
class InstanceFinder {
 public:
  InstanceFinder(const ColladaDocument& document, pugi::xml_node scene)
      : scene_(scene), library_(ColladaElementsById(document, "library_nodes", "node")) {}

  pugi::xml_node Find(std::string_view url) {
    if (url.substr(0, 1) != "#") return {};
    const std::string_view id = url.substr(1);
    const auto in_library = library_.find(id);
    if (in_library != library_.end()) return in_library->second;
    if (in_scene_.empty()) IndexScene();
    const auto in_scene = in_scene_.find(id);
    return in_scene == in_scene_.end() ? pugi::xml_node() : in_scene->second;
  }

 private:
  void IndexScene() {
    std::vector<pugi::xml_node> open = {scene_};
    while (!open.empty()) {
      const pugi::xml_node node = open.back();
      open.pop_back();
      in_scene_.emplace(node.attribute("id").value(), node);
      in_scene_.emplace(node.attribute("name").value(), node);
      for (pugi::xml_node child = node.last_child(); child; child = child.previous_sibling()) {
        if (std::string_view(child.name()) == "node") open.push_back(child);
      }
    }
  }

  const pugi::xml_node scene_;
  const std::unordered_map<std::string_view, pugi::xml_node> library_;
  std::unordered_map<std::string_view, pugi::xml_node> in_scene_;
};

}  // namespace

std::size_t ColladaNumberCount(ColladaTransformKind kind) {
  return std::ranges::find(kKinds, kind, &KindTraits::kind)->numbers;
}

std::optional<ColladaTransformKind> ColladaTransformKindOf(pugi::xml_node element) {
  const KindTraits* kind = FindKind(element);
  return kind == nullptr ? std::nullopt : std::optional(kind->kind);
}

absl::StatusOr<std::vector<ColladaTransform>> ReadColladaTransforms(pugi::xml_node node) {
  std::vector<ColladaTransform> out;
  for (const pugi::xml_node child : node.children()) {
    const KindTraits* kind = FindKind(child);
    if (kind == nullptr) continue;
    SINEW_ASSIGN_OR_RETURN(std::vector<double> numbers, ParseColladaNumbers(child));
    if (numbers.size() != kind->numbers) {
      return InvalidArgument("<", kind->element, "> of ", CountedText(numbers.size(), "number"),
                             ", need ", kind->numbers);
    }
    out.push_back({kind->kind, std::move(numbers)});
  }
  return out;
}

absl::StatusOr<AffineD> ComposeColladaTransforms(std::span<const ColladaTransform> transforms) {
  AffineD out;
  for (const ColladaTransform& transform : transforms) {
    SINEW_ASSIGN_OR_RETURN(const AffineD next, TransformOf(transform));
    out = Compose(out, next);
  }
  return out;
}

absl::StatusOr<std::vector<ColladaNode>> ReadColladaNodes(const ColladaDocument& document,
                                                          std::size_t max_nodes,
                                                          std::vector<Problem>& problems) {
  const pugi::xml_node scene = document.Follow(
      document.root().child("scene").child("instance_visual_scene").attribute("url").value());
  if (!scene) return InvalidArgument("scene: no visual scene is instanced");
  InstanceFinder instances(document, scene);
  std::vector<ColladaNode> nodes;
  std::vector<ColladaNode> open = {{.element = scene}};
  std::size_t lost = 0;
  std::vector<pugi::xml_node> below;
  while (!open.empty()) {
    const ColladaNode node = open.back();
    open.pop_back();
    if (nodes.size() == max_nodes) {
      return InvalidArgument("nodes: more than the ", max_nodes, " that Assimp reads");
    }
    below.clear();
    for (const pugi::xml_node child : node.element.children("node")) below.push_back(child);
    for (const pugi::xml_node child : node.element.children("instance_node")) {
      const pugi::xml_node instanced = instances.Find(child.attribute("url").value());
      instanced ? below.push_back(instanced) : void(++lost);
    }
    for (std::size_t i = below.size(); i-- > 0;) {
      open.push_back({.element = below[i], .parent = static_cast<std::int32_t>(nodes.size())});
    }
    nodes.push_back(node);
  }
  if (lost > 0) {
    problems.push_back(
        Lost(absl::StrCat(CountedText(lost, "instance"), " of nodes that the file does not have"),
             "nodes"));
  }
  return nodes;
}

}  // namespace sinew::client
