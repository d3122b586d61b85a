#include "client/import/fbx_document.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "client/import/scene_graph.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

// Arrays are compressed, by up to a thousand to one: a small file can ask for any amount of memory.
constexpr std::size_t kFbxMemoryBytes = std::size_t{256} << 20;
constexpr std::size_t kFbxMemoryPerFileByte = 64;

// What ufbx repairs can change vertices, but for a few kinds.
Severity SeverityOf(ufbx_warning_type type) {
  switch (type) {
    case UFBX_WARNING_MISSING_EXTERNAL_FILE:
    case UFBX_WARNING_DUPLICATE_CONNECTION:
    case UFBX_WARNING_BAD_VERTEX_W_ATTRIBUTE:
    case UFBX_WARNING_BAD_UNICODE:
    case UFBX_WARNING_BAD_BASE64_CONTENT:
    case UFBX_WARNING_BAD_ELEMENT_CONNECTED_TO_ROOT:
    case UFBX_WARNING_EMPTY_FACE_REMOVED:
      return Severity::kInfo;
    default:
      return Severity::kWarning;
  }
}

// Whether clips do without the element.
bool IsOfMeshes(ufbx_element_type type) {
  switch (type) {
    case UFBX_ELEMENT_MESH:
    case UFBX_ELEMENT_SKIN_DEFORMER:
    case UFBX_ELEMENT_SKIN_CLUSTER:
    case UFBX_ELEMENT_BLEND_SHAPE:
    case UFBX_ELEMENT_MATERIAL:
    case UFBX_ELEMENT_TEXTURE:
    case UFBX_ELEMENT_VIDEO:
      return true;
    default:
      return false;
  }
}

// One problem for each kind and element.
void ReportRepairs(const ufbx_scene& scene, std::vector<Problem>& problems) {
  struct Repair {
    const ufbx_warning* warning;
    std::size_t count;
  };
  std::map<std::pair<std::string, std::string>, Repair> repairs;
  const auto element = [&](const ufbx_warning& warning) -> const ufbx_element* {
    const bool known = warning.element_id < scene.elements.count;
    return known ? scene.elements.data[warning.element_id] : nullptr;
  };
  for (const ufbx_warning& warning : scene.metadata.warnings) {
    const ufbx_element* of = element(warning);
    const std::pair key(ToString(warning.description),
                        of == nullptr ? std::string() : ToString(of->name));
    repairs.try_emplace(key, Repair{&warning, 0}).first->second.count +=
        std::max<std::size_t>(warning.count, 1);
  }
  for (const auto& [what, repair] : repairs) {
    const std::string times =
        repair.count > 1 ? absl::StrCat(" (", repair.count, " times)") : std::string();
    const ufbx_element* of = element(*repair.warning);
    problems.push_back({.severity = SeverityOf(repair.warning->type),
                        .message = absl::StrCat("ufbx: ", what.first, times),
                        .field = what.second.empty() ? "file" : absl::StrCat("'", what.second, "'"),
                        .of_meshes = of != nullptr && IsOfMeshes(of->type)});
  }
}

}  // namespace

std::string ToString(const ufbx_string& text) {
  return std::string(text.data, text.length);
}

AffineD FbxMatrix(const ufbx_matrix& m) {
  return {{m.m00, m.m01, m.m02, m.m03, m.m10, m.m11, m.m12, m.m13, m.m20, m.m21, m.m22, m.m23}};
}

std::string DescribeFbxError(const ufbx_error& error) {
  const absl::string_view info(error.info, error.info_length);
  if (error.type == UFBX_ERROR_UNSUPPORTED_VERSION) {
    return absl::StrCat("version ", info,
                        ", need 3000 to 7700 (FBX 3.0 to 7.7); export as FBX 2014"
                        " or later");
  }
  // What is damaged has no description of its own, only the place where ufbx gave up.
  constexpr absl::string_view kPrefix = "ufbxi_";
  if (error.type == UFBX_ERROR_UNKNOWN && error.stack_size > 0) {
    absl::string_view step(error.stack[0].function.data, error.stack[0].function.length);
    absl::ConsumePrefix(&step, kPrefix);
    return absl::StrCat("damaged or cut short, ufbx stopped in ", step);
  }
  std::string text = ToString(error.description);
  if (!text.empty()) text[0] = absl::ascii_tolower(static_cast<unsigned char>(text[0]));
  if (!info.empty()) absl::StrAppend(&text, ": ", info);
  return text.empty() ? "cannot be parsed" : text;
}

absl::StatusOr<FbxScene> LoadFbx(std::string_view bytes, std::vector<Problem>& problems) {
  ufbx_load_opts options = {};
  options.file_format = UFBX_FILE_FORMAT_FBX;
  options.ignore_embedded = true;
  options.node_depth_limit = kMaxNodeDepth;
  options.temp_allocator.memory_limit = kFbxMemoryBytes + kFbxMemoryPerFileByte * bytes.size();
  options.result_allocator.memory_limit = options.temp_allocator.memory_limit;
  ufbx_error error;
  ufbx_scene* scene = ufbx_load_memory(bytes.data(), bytes.size(), &options, &error);
  if (scene == nullptr) return InvalidArgument("FBX: ", DescribeFbxError(error));
  FbxScene owned(scene, [](const ufbx_scene* s) { ufbx_free_scene(const_cast<ufbx_scene*>(s)); });
  ReportRepairs(*owned, problems);
  return owned;
}

}  // namespace sinew::client
