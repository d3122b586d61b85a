// collada_target.h - what a COLLADA animation channel drives.
//
// Source: COLLADA 1.4.1, "Address Syntax": `node-id/sid.MEMBER`, `node-id/sid(i)(j)`, with more
// sids in between for nodes below. Indices of a matrix are column and row, as exporters write them.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <pugixml.hpp>
#include <string_view>
#include <vector>

#include "client/import/collada_document.h"

namespace sinew::client {

struct ColladaTarget {
  pugi::xml_node node;               // empty: no transform of a node, such as a light or a material
  std::size_t transform = 0;         // index into the node's transforms
  std::vector<std::size_t> numbers;  // those of the transform that the keys replace, in their order
  // kInvalidArgument: the node has nothing of that name, or the element no such number.
  absl::Status status;
};

ColladaTarget ResolveColladaTarget(const ColladaDocument& document, std::string_view address);

}  // namespace sinew::client
