// name_match.h - pairs the nodes of two files by name, whatever namespace or prefix the names have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sinew::client {

struct NamedNode {
  std::string name;    // empty: never paired
  bool joint = false;  // a node without this mark gives way to a joint of its name
};

struct NameMatch {
  std::vector<std::int32_t> source;      // [wanted] the node of the other file, or -1
  std::vector<std::uint32_t> ambiguous;  // wanted joints that could mean several nodes, rising
  std::string rule;  // what was left out of names, for people; empty: they are equal as they are
};

// For each node of `wanted` the node of `found` that it means; no node is used twice. Equal names
// come first, then names that are equal behind their namespaces, which end at the last ':' or '|'.
// If no joint has a namesake by then, one prefix up to a '_' is left out on each side: on that of
// `wanted` the one that all its joints have, on that of `found` the one that pairs more joints than
// any other, and more than half of them.
// A name that several nodes have, on either side, pairs none of them. Cost O(total length of
// names).
NameMatch MatchNames(std::span<const NamedNode> wanted, std::span<const NamedNode> found);

}  // namespace sinew::client
