#include "client/import/gltf_document.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/cpp/status_macros.h"

namespace sinew::client {
namespace {

constexpr std::size_t kMaxDepth = 64;  // extras may nest; real files stay below 10

// Walks JSON without building it or recursing: depth, syntax, the version and the required
// extensions.
class Scanner : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool string(string_t& value) override {
    if (depth_ == 2 && section_ == "extensionsRequired") required.push_back(value);
    if (depth_ == 2 && section_ == "asset" && key_ == "version") version = value;
    return true;
  }
  bool start_object(std::size_t) override { return Open(); }
  bool end_object() override { return --depth_, true; }
  bool start_array(std::size_t) override { return Open(); }
  bool end_array() override { return --depth_, true; }
  bool key(string_t& value) override {
    key_ = value;
    if (depth_ == 1) section_ = value;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception&) override {
    error = absl::StrCat("JSON broken at byte ", position);
    return false;
  }

  std::vector<std::string> required;
  std::string version, error;

 private:
  bool Open() {
    if (++depth_ <= kMaxDepth) return true;
    error = absl::StrCat("JSON nested deeper than ", kMaxDepth);
    return false;
  }

  std::size_t depth_ = 0;
  std::string section_, key_;
};

// Extensions that only touch what we leave out (materials, images, lights, metadata) or that the
// reader knows.
bool CanIgnoreOrRead(const std::string& extension) {
  static constexpr std::array<const char*, 8> kPrefixes = {
      "KHR_materials_", "KHR_texture_", "KHR_lights_",   "KHR_xmp",
      "EXT_texture_",   "EXT_lights_",  "MSFT_texture_", "KHR_animation_pointer"};
  if (extension == "KHR_mesh_quantization" || extension == "KHR_techniques_webgl") return true;
  for (const char* prefix : kPrefixes) {
    if (absl::StartsWith(extension, prefix)) return true;
  }
  return false;
}

std::uint32_t LittleEndian32(const char* bytes) {
  std::uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// The JSON text of a GLB or of the file as it is.
absl::StatusOr<absl::string_view> JsonText(const std::string& bytes, bool binary) {
  if (!binary) return absl::string_view(bytes);
  if (bytes.size() < 20) {
    return absl::InvalidArgumentError(
        absl::StrCat("glTF: truncated, ", bytes.size(), " bytes, need at least 20"));
  }
  if (const std::uint32_t version = LittleEndian32(&bytes[4]); version != 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("glTF: binary container version ", version, ", need 2"));
  }
  const std::uint64_t total = LittleEndian32(&bytes[8]), json = LittleEndian32(&bytes[12]);
  if (total > bytes.size() || 20 + json > total) {
    return absl::InvalidArgumentError(absl::StrCat("glTF: truncated, the header promises ",
                                                   std::max(total, 20 + json),
                                                   " bytes, the file has ", bytes.size()));
  }
  return absl::string_view(bytes).substr(20, json);
}

absl::Status Scan(absl::string_view text) {
  Scanner scanner;
  const bool parsed = nlohmann::json::sax_parse(text.begin(), text.end(), &scanner);
  if (!parsed) return absl::InvalidArgumentError(absl::StrCat("glTF: ", scanner.error));
  if (!absl::StartsWith(scanner.version, "2.")) {
    return absl::InvalidArgumentError(
        absl::StrCat("glTF: asset.version is '", scanner.version, "', need 2.0"));
  }
  for (const std::string& extension : scanner.required) {
    if (CanIgnoreOrRead(extension)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("extensionsRequired: ", extension, " is not supported; export without it"));
  }
  return absl::OkStatus();
}

bool ReadSideFile(std::vector<unsigned char>* out, std::string* error, const std::string& path,
                  void* limit) {
  std::error_code code;
  const std::filesystem::path file(path);
  const auto size =
      std::filesystem::is_regular_file(file, code) ? std::filesystem::file_size(file, code) : 0;
  if (code || size == 0 || size > *static_cast<const std::uint64_t*>(limit)) {
    *error = "not a regular file of acceptable size";
    return false;
  }
  out->resize(size);
  std::ifstream in(file, std::ios::binary);
  in.read(reinterpret_cast<char*>(out->data()), static_cast<std::streamsize>(size));
  if (static_cast<std::uintmax_t>(in.gcount()) != size) {
    *error = "cannot be read";
    return false;
  }
  return true;
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
                                                 std::vector<Finding>& findings) {
  const bool binary = absl::StartsWith(bytes, "glTF");
  SINEW_ASSIGN_OR_RETURN(const absl::string_view text, JsonText(bytes, binary));
  SINEW_RETURN_IF_ERROR(Scan(text));

  tinygltf::TinyGLTF loader;
  loader.SetImageLoader(KeepNoImage, nullptr);
  loader.SetFsCallbacks({&tinygltf::FileExists, [](const std::string& file, void*) { return file; },
                         &ReadSideFile, &tinygltf::WriteWholeFile, &max_bytes});
  const std::string folder = std::filesystem::path(path).parent_path().string();
  tinygltf::Model model;
  std::string error, warning;
  bool loaded = false;
  try {
    const auto size = static_cast<unsigned int>(bytes.size());
    loaded = binary
                 ? loader.LoadBinaryFromMemory(&model, &error, &warning,
                                               reinterpret_cast<const unsigned char*>(bytes.data()),
                                               size, folder)
                 : loader.LoadASCIIFromString(&model, &error, &warning, bytes.data(), size, folder);
  } catch (const std::exception& e) {
    error = e.what();
  }
  if (!loaded) {
    const absl::string_view reason = absl::StripSuffix(error, "\n");
    return absl::InvalidArgumentError(
        absl::StrCat("glTF: ", reason.empty() ? "cannot be parsed" : reason));
  }
  // What the parser complains about but passes over is missing from the model.
  if (!error.empty()) {
    findings.push_back(
        {Finding::Severity::kLost, std::string(absl::StripSuffix(error, "\n")), "file"});
  }
  if (!warning.empty()) {
    findings.push_back(
        {Finding::Severity::kInfo, std::string(absl::StripSuffix(warning, "\n")), "file"});
  }
  return model;
}

}  // namespace sinew::client
