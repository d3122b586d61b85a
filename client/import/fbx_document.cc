#include "client/import/fbx_document.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <absl/strings/string_view.h>
#include <absl/strings/strip.h>

#include <cstddef>

#include "core/base/status.h"

namespace sinew::client {
namespace {

// Arrays are compressed, by up to a thousand to one: a small file can ask for any amount of memory.
constexpr std::size_t kFbxMemoryBytes = std::size_t{256} << 20;
constexpr std::size_t kFbxMemoryPerFileByte = 64;
constexpr std::uint32_t kMaxNodeDepth = 4096;

void ReportRepairs(const ufbx_scene& scene, std::vector<Problem>& problems) {
  for (const ufbx_warning& warning : scene.metadata.warnings) {
    const std::string times = warning.count > 1 ? absl::StrCat(" (", warning.count, " times)") : "";
    const bool known = warning.element_id < scene.elements.count;
    problems.push_back(
        {Severity::kWarning, absl::StrCat("ufbx: ", ToString(warning.description), times),
         known ? absl::StrCat("'", ToString(scene.elements.data[warning.element_id]->name), "'")
               : "file"});
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
    return absl::StrCat("damaged: ufbx could not ", absl::StrReplaceAll(step, {{"_", " "}}));
  }
  std::string text = ToString(error.description);
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
