// collada_nodes.h - the nodes of a COLLADA scene, and the elements that place them.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <pugixml.hpp>
#include <span>
#include <string>
#include <vector>

#include "client/import/collada_document.h"
#include "core/base/types.h"
#include "sinew/problem.h"

namespace sinew::client {

struct ColladaNode {
  pugi::xml_node element;  // several nodes share one that is instanced
  std::int32_t parent = -1;
};

// The nodes below the visual scene that the file shows, which is the first of them, in the order of
// Assimp: children, then nodes that are instanced. An instance of a node that is not in the file is
// reported as lost.
// kInvalidArgument: no scene; more nodes than `max_nodes`.
absl::StatusOr<std::vector<ColladaNode>> ReadColladaNodes(const ColladaDocument& document,
                                                          std::size_t max_nodes,
                                                          std::vector<Problem>& problems);

enum class ColladaTransformKind : std::uint8_t {
  kMatrix,     // 16 numbers, row-major, for column vectors
  kTranslate,  // 3
  kRotate,     // 4: axis of any length, degrees
  kScale,      // 3
  kLookAt      // 9: eye, point of interest, up
};

struct ColladaTransform {
  ColladaTransformKind kind = ColladaTransformKind::kMatrix;
  std::vector<double> numbers;  // as many as the kind has
};

// How many numbers a transform of that kind has.
std::size_t ColladaNumberCount(ColladaTransformKind kind);

// Nothing for other elements.
std::optional<ColladaTransformKind> ColladaTransformKindOf(pugi::xml_node element);

// Those of a <node>, in the order of the file. kInvalidArgument: too few or too many numbers.
absl::StatusOr<std::vector<ColladaTransform>> ReadColladaTransforms(pugi::xml_node node);

// Their product, from left to right: node to parent.
// Source: COLLADA 1.4.1, <node> and the elements of the kinds.
// kInvalidArgument: a rotation without axis, a <lookat> without direction, a matrix whose last row
// is not 0 0 0 1.
absl::StatusOr<AffineD> ComposeColladaTransforms(std::span<const ColladaTransform> transforms);

}  // namespace sinew::client
