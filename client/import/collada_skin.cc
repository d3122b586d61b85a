#include "client/import/collada_skin.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/status.h"

namespace sinew::client {
namespace {

using NodesBySid = std::unordered_map<std::string_view, pugi::xml_node>;

// The nodes in the skeletons of an <instance_controller> by their sids, the nearest first.
NodesBySid NodesOfSkeletons(const ColladaDocument& document, pugi::xml_node instance) {
  std::deque<pugi::xml_node> open;
  for (const pugi::xml_node skeleton : instance.children("skeleton")) {
    if (const pugi::xml_node root = document.Follow(skeleton.child_value())) open.push_back(root);
  }
  NodesBySid nodes;
  for (; !open.empty(); open.pop_front()) {
    nodes.emplace(open.front().attribute("sid").value(), open.front());
    for (const pugi::xml_node child : open.front().children("node")) open.push_back(child);
  }
  return nodes;
}

// The Name_array of the joints of a skin, empty if it has ids or none.
pugi::xml_node JointNames(const ColladaDocument& document, pugi::xml_node skin) {
  const pugi::xml_node input =
      skin.child("joints").find_child_by_attribute("input", "semantic", "JOINT");
  return document.Follow(input.attribute("source").value(), skin).child("Name_array");
}

// Replaces names by ids where the skeletons have a node for them.
std::string IdsOf(const std::vector<std::string>& names, const NodesBySid& nodes) {
  return absl::StrJoin(names, " ", [&](std::string* out, const std::string& name) {
    const auto node = nodes.find(name);
    const std::string_view id =
        node == nodes.end() ? "" : std::string_view(node->second.attribute("id").value());
    const bool word = !id.empty() && id.find_first_of(" \t\r\n") == std::string_view::npos;
    absl::StrAppend(out, word ? AbslView(id) : absl::string_view(name));
  });
}

}  // namespace

absl::Status NameColladaJointsById(ColladaDocument& document) {
  std::map<pugi::xml_node, std::string> ids_of_array;
  for (pugi::xml_node element = document.root(); element; element = NextColladaElement(element)) {
    if (std::string_view(element.name()) != "instance_controller") continue;
    const pugi::xml_node controller = document.Follow(element.attribute("url").value());
    const pugi::xml_node array = JointNames(document, controller.child("skin"));
    if (!array) continue;
    const std::string ids = IdsOf(ColladaWords(array), NodesOfSkeletons(document, element));
    const auto [known, added] = ids_of_array.try_emplace(array, ids);
    if (!added && known->second != ids) {
      return InvalidArgument("controller '", ShownText(controller.attribute("id").value()),
                             "': its instances have different skeletons, need one controller for "
                             "each");
    }
  }
  for (const auto& [array, ids] : ids_of_array) {
    pugi::xml_node changed = array;
    changed.remove_children();
    changed.append_child(pugi::node_pcdata).set_value(ids.c_str());
  }
  return absl::OkStatus();
}

}  // namespace sinew::client
