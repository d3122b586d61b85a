#include "client/import/gltf_document.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <utility>

#include "client/import/json_text.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

// Extensions that only touch what we leave out (materials, images, lights, metadata) or that the
// reader knows.
bool CanIgnoreOrRead(const std::string& extension) {
  static constexpr const char* kPrefixes[] = {
      "KHR_materials_", "KHR_texture_", "KHR_lights_",   "KHR_xmp",
      "EXT_texture_",   "EXT_lights_",  "MSFT_texture_", "KHR_animation_pointer"};
  return extension == "KHR_mesh_quantization" || extension == "KHR_techniques_webgl" ||
         std::ranges::any_of(
             kPrefixes, [&](const char* prefix) { return absl::StartsWith(extension, prefix); });
}

std::uint32_t LittleEndian32(const char* bytes) {
  std::uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// The JSON text of a GLB or of the file as it is.
absl::StatusOr<std::string_view> JsonText(const std::string& bytes, bool binary) {
  if (!binary) return bytes;
  if (bytes.size() < 20) {
    return InvalidArgument("glTF: truncated, ", bytes.size(), " bytes, need at least 20");
  }
  if (const std::uint32_t version = LittleEndian32(&bytes[4]); version != 2) {
    return InvalidArgument("glTF: binary container version ", version, ", need 2");
  }
  const std::uint64_t total = LittleEndian32(&bytes[8]), json = LittleEndian32(&bytes[12]);
  if (total > bytes.size() || 20 + json > total) {
    return InvalidArgument("glTF: truncated, the header promises ", std::max(total, 20 + json),
                           " bytes, the file has ", bytes.size());
  }
  return std::string_view(bytes).substr(20, json);
}

// Syntax, depth, keys (glTF 2.0, 2.7: unique within their object), version and extensions.
absl::Status CheckText(std::string_view text) {
  std::string version;
  std::vector<std::string> unsupported;
  const absl::Status valid =
      CheckJson(text, false, [&](const std::string& path, const std::string& value) {
        if (path == "asset.version") version = value;
        if (absl::StartsWith(path, "extensionsRequired[") && !CanIgnoreOrRead(value)) {
          unsupported.push_back(value);
        }
      });
  if (!valid.ok()) return InvalidArgument("glTF: ", valid.message());
  if (!absl::StartsWith(version, "2.")) {
    return InvalidArgument("glTF: asset.version is '", version, "', need 2.0");
  }
  if (unsupported.empty()) return absl::OkStatus();
  return InvalidArgument("extensionsRequired: ", unsupported.front(),
                         " is not supported; export without it");
}

// True if `file`, links followed, lies in `folder` or below.
bool LiesWithin(const std::filesystem::path& file, const std::filesystem::path& folder) {
  std::error_code code;
  const auto absolute = [&](const std::filesystem::path& path) {
    const auto full = std::filesystem::absolute(path.empty() ? "." : path, code);
    return code ? std::filesystem::path() : std::filesystem::weakly_canonical(full, code);
  };
  const auto inner = absolute(file), outer = absolute(folder);
  if (code || inner.empty() || outer.empty()) return false;
  const auto relative = inner.lexically_relative(outer);
  return !relative.empty() && relative.begin()->string() != "..";
}

// A file must not make us open others than those that came with it.
struct SideFiles {
  std::string folder;
  std::uint64_t max_bytes;

  // The URI, without its escapes, that tinygltf has joined to the folder.
  std::string UriOf(const std::string& path) const {
    const bool joined = !folder.empty() && absl::StartsWith(path, folder);
    return joined ? path.substr(std::min(folder.size() + 1, path.size())) : path;
  }
  bool Allows(const std::string& path) const {
    const std::string uri = UriOf(path);
    const std::filesystem::path file(uri);
    const std::size_t colon = uri.find(':');
    const bool scheme = colon != std::string::npos && colon < uri.find('/');
    const bool up = std::ranges::find(file, "..") != file.end();
    const bool odd = uri.find('\\') != std::string::npos || uri.find('\0') != std::string::npos;
    return !scheme && !up && !odd && !file.is_absolute() && LiesWithin(path, folder);
  }
};

// tinygltf looks into the working directory too. It reads what "exists", and then learns why not.
bool SideFileExists(const std::string& path, void* data) {
  const SideFiles& files = *static_cast<const SideFiles*>(data);
  return absl::StartsWith(path, files.folder) &&
         (!files.Allows(path) || tinygltf::FileExists(path, nullptr));
}

bool ReadSideFile(std::vector<unsigned char>* out, std::string* error, const std::string& path,
                  void* data) {
  const SideFiles& files = *static_cast<const SideFiles*>(data);
  if (!files.Allows(path)) {
    *error = absl::StrCat("uri: got \"", files.UriOf(path).substr(0, 200),
                          "\", need the name of a file in the folder of the glTF file or below it");
    return false;
  }
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code)) {
    *error = "not a regular file";
    return false;
  }
  const std::uintmax_t size = std::filesystem::file_size(path, code);
  if (code || size > files.max_bytes) {
    *error = code ? absl::StrCat("cannot read its size: ", code.message())
                  : absl::StrCat("got ", size, " bytes, need at most ", files.max_bytes);
    return false;
  }
  return tinygltf::ReadWholeFile(out, error, path, nullptr);
}

bool KeepNoImage(tinygltf::Image*, int, std::string*, std::string*, int, int, const unsigned char*,
                 int, void*) {
  return true;
}

}  // namespace

std::string GltfPath(const char* list, std::size_t index, const std::string& name) {
  return name.empty() ? absl::StrCat(list, "[", index, "]")
                      : absl::StrCat(list, "[", index, "] '", name, "'");
}

absl::StatusOr<tinygltf::Model> LoadGltfDocument(const std::string& bytes, const std::string& path,
                                                 std::uint64_t max_bytes,
                                                 std::vector<Problem>& problems) {
  const bool binary = absl::StartsWith(bytes, "glTF");
  SINEW_ASSIGN_OR_RETURN(const std::string_view text, JsonText(bytes, binary));
  SINEW_RETURN_IF_ERROR(CheckText(text));

  SideFiles side_files = {std::filesystem::path(path).parent_path().string(), max_bytes};
  tinygltf::TinyGLTF loader;
  loader.SetImageLoader(KeepNoImage, nullptr);
  loader.SetFsCallbacks({&SideFileExists, [](const std::string& file, void*) { return file; },
                         &ReadSideFile, &tinygltf::WriteWholeFile, &side_files});
  tinygltf::Model model;
  std::string error, warning;
  bool loaded = false;
  try {
    const auto size = static_cast<unsigned int>(bytes.size());
    loaded = binary
                 ? loader.LoadBinaryFromMemory(&model, &error, &warning,
                                               reinterpret_cast<const unsigned char*>(bytes.data()),
                                               size, side_files.folder)
                 : loader.LoadASCIIFromString(&model, &error, &warning, bytes.data(), size,
                                              side_files.folder);
  } catch (const std::exception& e) {
    error = e.what();
  }
  if (!loaded) {
    const absl::string_view reason = absl::StripSuffix(error, "\n");
    return InvalidArgument("glTF: ", reason.empty() ? "cannot be parsed" : reason);
  }
  // What the parser complains about but passes over is missing from the model.
  if (!error.empty()) {
    problems.push_back(Lost(std::string(absl::StripSuffix(error, "\n")), "file"));
  }
  if (!warning.empty()) {
    problems.push_back({Severity::kInfo, std::string(absl::StripSuffix(warning, "\n")), "file"});
  }
  return model;
}

}  // namespace sinew::client
