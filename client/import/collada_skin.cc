#include "client/import/collada_skin.h"

#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "client/import/collada_nodes.h"
#include "client/import/influences.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

using Elements = std::unordered_map<std::string_view, pugi::xml_node>;

constexpr std::size_t kMatrixNumbers = 16;
constexpr std::int64_t kBindShape = -1;  // the joint that stands for it

pugi::xml_node FindInput(pugi::xml_node element, const char* semantic) {
  return element.find_child_by_attribute("input", "semantic", semantic);
}

// The nodes in the skeletons of an <instance_controller> by their sids, the nearest first.
Elements NodesOfSkeletons(const ColladaDocument& document, pugi::xml_node instance) {
  std::deque<pugi::xml_node> open;
  for (const pugi::xml_node skeleton : instance.children("skeleton")) {
    if (const pugi::xml_node root = document.Follow(skeleton.child_value())) open.push_back(root);
  }
  Elements nodes;
  for (; !open.empty(); open.pop_front()) {
    nodes.emplace(open.front().attribute("sid").value(), open.front());
    for (const pugi::xml_node child : open.front().children("node")) open.push_back(child);
  }
  return nodes;
}

// Replaces names by ids where the skeletons have a node for them.
std::vector<std::string> IdsOf(std::vector<std::string> names, const Elements& nodes) {
  for (std::string& name : names) {
    const auto node = nodes.find(name);
    if (node == nodes.end()) continue;
    const std::string id = node->second.attribute("id").value();
    if (!id.empty() && id.find_first_of(" \t\r\n") == std::string::npos) name = id;
  }
  return names;
}

absl::Status CheckMatrix(const std::string& what, const double* numbers) {
  const ColladaTransform matrix{ColladaTransformKind::kMatrix, {numbers, numbers + kMatrixNumbers}};
  const absl::Status status = ComposeColladaTransforms({&matrix, 1}).status();
  return status.ok() ? status : InvalidArgument(what, ": ", status.message());
}

std::size_t OffsetOf(pugi::xml_node input) {
  return input.attribute("offset").as_uint();
}

bool IsArray(pugi::xml_node element) {
  const std::string_view name = element.name();
  return name == "float_array" || name == "Name_array" || name == "IDREF_array";
}

// Ids that several sources of the file, or several arrays, have. Assimp takes the last for all
// skins.
struct RepeatedIds {
  std::unordered_set<std::string_view> sources{}, arrays{};
};

RepeatedIds FindRepeatedIds(const ColladaDocument& document) {
  RepeatedIds known, repeated;
  const auto note = [](std::string_view id, std::unordered_set<std::string_view>& all,
                       std::unordered_set<std::string_view>& twice) {
    if (!id.empty() && !all.insert(id).second) twice.insert(id);
  };
  for (const char* library : {"library_geometries", "library_controllers"}) {
    for (const pugi::xml_node each : document.root().children(library)) {
      each.find_node([&](pugi::xml_node element) {
        const std::string_view id = element.attribute("id").value();
        if (std::string_view(element.name()) == "source") note(id, known.sources, repeated.sources);
        if (IsArray(element)) note(id, known.arrays, repeated.arrays);
        return false;
      });
    }
  }
  return repeated;
}

// A <vertex_weights>: counts[v] influences of vertex v, each of `stride` indices.
struct VertexWeights {
  pugi::xml_node element, joint, weight, counts_element, indices_element;
  std::vector<std::int64_t> counts, indices;
  std::size_t stride = 1;
};

// Sets or adds it.
void SetAttribute(pugi::xml_node element, const char* name, std::size_t value) {
  pugi::xml_attribute attribute = element.attribute(name);
  if (!attribute) attribute = element.append_attribute(name);
  attribute.set_value(static_cast<unsigned long long>(value));
}

// A <skin>, while it is checked and rewritten.
class SkinPreparer {
 public:
  SkinPreparer(const ColladaDocument& document, pugi::xml_node skin)
      : document_(document),
        skin_(skin),
        where_(
            absl::StrCat("controller '", ShownText(skin.parent().attribute("id").value()), "'")) {}

  // `instance`: an <instance_controller> of this skin.
  absl::Status NameJoints(pugi::xml_node instance) { return Placed(NameJointsById(instance)); }

  absl::Status Rewrite(const Elements& geometries, const RepeatedIds& repeated,
                       std::vector<Problem>& problems) {
    return Placed(RewriteAll(geometries, repeated, problems));
  }

 private:
  absl::Status Placed(const absl::Status& status) const {
    return status.ok() ? status : InvalidArgument(where_, ": ", status.message());
  }

  pugi::xml_node Source(const char* element, const char* semantic) const {
    const pugi::xml_node input = FindInput(skin_.child(element), semantic);
    return document_.Follow(input.attribute("source").value(), skin_);
  }

  absl::Status NameJointsById(pugi::xml_node instance) {
    const pugi::xml_node source = Source("joints", "JOINT");
    SINEW_ASSIGN_OR_RETURN(joints_, ReadColladaAccessor(document_, source));
    if (source.parent() != skin_ || joints_.array.parent() != source) {
      return InvalidArgument("its joints are named elsewhere, need names of its own");
    }
    SINEW_ASSIGN_OR_RETURN(std::vector<std::string> names, ReadColladaNames(document_, source));
    // What is in an IDREF_array are ids.
    if (std::string_view(joints_.array.name()) == "Name_array") {
      names = IdsOf(std::move(names), NodesOfSkeletons(document_, instance));
    }
    if (!names_.empty() && names_ != names) {
      return InvalidArgument(
          "its instances have different skeletons, need one controller for each");
    }
    names_ = std::move(names);
    return absl::OkStatus();
  }

  absl::Status CheckOwnIds(const RepeatedIds& repeated) const {
    for (const pugi::xml_node source :
         {Source("joints", "JOINT"), Source("joints", "INV_BIND_MATRIX"),
          Source("vertex_weights", "WEIGHT")}) {
      const std::string_view id = source.attribute("id").value();
      bool found = repeated.sources.contains(id);
      for (const pugi::xml_node child : source.children()) {
        found =
            found || (IsArray(child) && repeated.arrays.contains(child.attribute("id").value()));
      }
      if (!found) continue;
      return InvalidArgument("source '", ShownText(id),
                             "': it or its array has the id of another, need ids of their own");
    }
    return absl::OkStatus();
  }

  absl::Status RewriteAll(const Elements& geometries, const RepeatedIds& repeated,
                          std::vector<Problem>& problems) {
    SINEW_RETURN_IF_ERROR(CheckOwnIds(repeated));
    SetColladaText(joints_.array, absl::StrJoin(names_, " "));
    for (const pugi::xml_node element : {joints_.array, joints_.element}) {
      SetAttribute(element, "count", names_.size());
    }
    SetAttribute(joints_.element, "offset", 0);
    SetAttribute(joints_.element, "stride", 1);
    SINEW_RETURN_IF_ERROR(PrepareBindShape());
    SINEW_RETURN_IF_ERROR(CheckInverseBinds());
    SINEW_ASSIGN_OR_RETURN(const std::size_t vertices, CountVertices(geometries));
    return RewriteWeights(vertices, problems);
  }

  absl::Status PrepareBindShape() {
    const pugi::xml_node shape = skin_.child("bind_shape_matrix");
    if (!shape) {
      SetColladaText(skin_.prepend_child("bind_shape_matrix"), "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1");
      return absl::OkStatus();
    }
    SINEW_ASSIGN_OR_RETURN(const std::vector<double> numbers, ParseColladaNumbers(shape));
    if (numbers.size() != kMatrixNumbers) {
      return InvalidArgument("<bind_shape_matrix> of ", CountedText(numbers.size(), "number"),
                             ", need ", kMatrixNumbers);
    }
    return CheckMatrix("<bind_shape_matrix>", numbers.data());
  }

  absl::Status CheckInverseBinds() const {
    SINEW_ASSIGN_OR_RETURN(const ColladaAccessor accessor,
                           ReadColladaAccessor(document_, Source("joints", "INV_BIND_MATRIX")));
    if (accessor.stride < kMatrixNumbers || accessor.count < names_.size()) {
      return InvalidArgument(accessor.count, " inverse bind matrices of ", accessor.stride,
                             " numbers, need ", names_.size(), " of ", kMatrixNumbers);
    }
    SINEW_ASSIGN_OR_RETURN(const std::vector<double> all, ParseColladaNumbers(accessor.array));
    for (std::size_t j = 0; j < names_.size(); ++j) {
      SINEW_RETURN_IF_ERROR(
          CheckMatrix(absl::StrCat("inverse bind matrix of '", ShownText(names_[j]), "'"),
                      &all[accessor.offset + j * accessor.stride]));
    }
    return absl::OkStatus();
  }

  // Those of the geometry; none if it is no mesh.
  absl::StatusOr<std::size_t> CountVertices(const Elements& geometries) const {
    const std::string_view url = skin_.attribute("source").value();
    const auto geometry = geometries.find(url.substr(std::min<std::size_t>(url.size(), 1)));
    if (geometry == geometries.end()) {
      return InvalidArgument("no geometry '", ShownText(url), "' in the file");
    }
    const pugi::xml_node mesh = geometry->second.child("mesh");
    const pugi::xml_node input = FindInput(mesh.child("vertices"), "POSITION");
    if (!input) return std::size_t{0};
    SINEW_ASSIGN_OR_RETURN(
        const ColladaAccessor positions,
        ReadColladaAccessor(document_, document_.Follow(input.attribute("source").value(), mesh)));
    return positions.count;
  }

  absl::StatusOr<std::vector<double>> ReadWeights() const {
    const pugi::xml_node source = Source("vertex_weights", "WEIGHT");
    SINEW_ASSIGN_OR_RETURN(const ColladaAccessor accessor, ReadColladaAccessor(document_, source));
    if (accessor.columns != std::vector<std::size_t>{0}) {
      return InvalidArgument("source '", ShownText(source.attribute("id").value()),
                             "': need one weight at the beginning of each tuple");
    }
    SINEW_ASSIGN_OR_RETURN(ColladaNumbers weights, ReadColladaNumbers(document_, source));
    return std::move(weights.numbers);
  }

  absl::StatusOr<VertexWeights> ReadVertexWeights(std::size_t vertices) const {
    VertexWeights out;
    out.element = skin_.child("vertex_weights");
    out.joint = FindInput(out.element, "JOINT");
    out.weight = FindInput(out.element, "WEIGHT");
    out.counts_element = out.element.child("vcount");
    out.indices_element = out.element.child("v");
    if (!out.joint || !out.weight || !out.counts_element || !out.indices_element) {
      return InvalidArgument("<vertex_weights>: need JOINT, WEIGHT, <vcount> and <v>");
    }
    SINEW_ASSIGN_OR_RETURN(out.counts, ParseColladaIntegers(out.counts_element));
    SINEW_ASSIGN_OR_RETURN(out.indices, ParseColladaIntegers(out.indices_element));
    for (const pugi::xml_node input : out.element.children("input")) {
      out.stride = std::max(out.stride, OffsetOf(input) + 1);
    }
    if (out.counts.size() != out.element.attribute("count").as_uint() ||
        out.counts.size() < vertices) {
      return InvalidArgument("<vertex_weights> of ", out.element.attribute("count").as_uint(),
                             " vertices with ", out.counts.size(), " in <vcount>, need the ",
                             vertices, " of its geometry");
    }
    std::size_t influences = 0;
    for (const std::int64_t count : out.counts) {
      if (count < 0 || count > std::ssize(out.indices)) {
        return InvalidArgument(count, " joints in <vcount>, <v> has ",
                               CountedText(out.indices.size(), "number"));
      }
      influences += static_cast<std::size_t>(count);
    }
    if (influences * out.stride != out.indices.size()) {
      return InvalidArgument(CountedText(out.indices.size(), "number"), " in <v>, need ",
                             out.stride, " for each of ", CountedText(influences, "influence"));
    }
    return out;
  }

  absl::Status CheckInfluence(std::int64_t joint, std::int64_t weight, std::size_t weights,
                              std::size_t vertex) const {
    const auto names = [&](const char* what, std::int64_t index, const char* lowest,
                           std::size_t count) {
      return InvalidArgument("vertex ", vertex, " names ", what, " ", index, ", need ", lowest,
                             " to ", static_cast<std::int64_t>(count) - 1);
    };
    if (joint < kBindShape || joint >= std::ssize(names_)) {
      return names("joint", joint, "-1 (the bind shape)", names_.size());
    }
    if (weight < 0 || weight >= static_cast<std::int64_t>(weights)) {
      return names("weight", weight, "0", weights);
    }
    return absl::OkStatus();
  }

  absl::Status RewriteWeights(std::size_t vertices, std::vector<Problem>& problems) {
    SINEW_ASSIGN_OR_RETURN(const VertexWeights all, ReadVertexWeights(vertices));
    std::vector<double> weights;
    if (!all.indices.empty()) {
      SINEW_ASSIGN_OR_RETURN(weights, ReadWeights());
    }
    std::string counts, indices;
    NegativeWeights negative;
    const std::int64_t* influence = all.indices.data();
    for (std::size_t vertex = 0; vertex < all.counts.size(); ++vertex) {
      bool held_by_shape = false, held_by_joint = false;
      std::size_t kept = 0;
      for (std::int64_t i = 0; i < all.counts[vertex]; ++i, influence += all.stride) {
        const std::int64_t joint = influence[OffsetOf(all.joint)],
                           weight = influence[OffsetOf(all.weight)];
        SINEW_RETURN_IF_ERROR(CheckInfluence(joint, weight, weights.size(), vertex));
        const double value = weights[static_cast<std::size_t>(weight)];
        SINEW_RETURN_IF_ERROR(negative.Add(value, vertex));
        (joint == kBindShape ? held_by_shape : held_by_joint) |= value > 0;
        if (joint == kBindShape) continue;
        absl::StrAppend(&indices, joint, " ", weight, " ");
        ++kept;
      }
      if (held_by_shape && held_by_joint) {
        return InvalidArgument("vertex ", vertex,
                               " is held by joints and the bind shape (joint -1) together, need "
                               "one of the two");
      }
      absl::StrAppend(&counts, kept, " ");
    }
    negative.Report(where_, problems);
    SetAttribute(all.joint, "offset", 0);
    SetAttribute(all.weight, "offset", 1);
    SetColladaText(all.counts_element, counts);
    SetColladaText(all.indices_element, indices);
    return absl::OkStatus();
  }

  const ColladaDocument& document_;
  pugi::xml_node skin_;
  std::string where_;
  ColladaAccessor joints_;          // of their names
  std::vector<std::string> names_;  // as Assimp is to find them; none before NameJoints
};

}  // namespace

absl::Status PrepareColladaSkins(ColladaDocument& document, std::vector<Problem>& problems) {
  const Elements controllers = ColladaElementsById(document, "library_controllers", "controller"),
                 geometries = ColladaElementsById(document, "library_geometries", "geometry");
  std::vector<SkinPreparer> skins;  // that are instanced
  std::unordered_map<std::string_view, std::size_t> skin_of_url;
  for (pugi::xml_node element = document.root(); element; element = NextColladaElement(element)) {
    if (std::string_view(element.name()) != "instance_controller") continue;
    const std::string_view url = element.attribute("url").value();
    const auto controller = controllers.find(url.substr(std::min<std::size_t>(url.size(), 1)));
    if (controller == controllers.end() || !controller->second.child("skin")) continue;
    const auto [index, is_new] = skin_of_url.emplace(url, skins.size());
    if (is_new) skins.emplace_back(document, controller->second.child("skin"));
    SINEW_RETURN_IF_ERROR(skins[index->second].NameJoints(element));
  }
  const RepeatedIds repeated = FindRepeatedIds(document);
  for (SkinPreparer& skin : skins)
    SINEW_RETURN_IF_ERROR(skin.Rewrite(geometries, repeated, problems));
  return absl::OkStatus();
}

}  // namespace sinew::client
