#include "client/import/gltf_document.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "client/import/json_text.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

constexpr std::size_t kMaxDepth = 64;  // extras may nest; real files stay below 10

// Walks JSON without building it or recursing: depth, syntax, keys (glTF 2.0, 2.7: unique within
// their object), the version and the required extensions.
class Scanner : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Scanner(absl::string_view text) : text_(text.data(), text.size()) {}

  bool null() override { return Value(); }
  bool boolean(bool) override { return Value(); }
  bool number_integer(number_integer_t) override { return Value(); }
  bool number_unsigned(number_unsigned_t) override { return Value(); }
  bool number_float(number_float_t, const string_t&) override { return Value(); }
  bool binary(binary_t&) override { return Value(); }
  bool string(string_t& value) override {
    if (depth_ == 2 && section_ == "extensionsRequired") required.push_back(value);
    if (depth_ == 2 && section_ == "asset" && key_ == "version") version = value;
    if (depth_ == 3 && section_ == "buffers" && key_ == "uri") buffer_uris.push_back(value);
    return Value();
  }
  bool start_object(std::size_t) override { return Open(false); }
  bool end_object() override { return Close(); }
  bool start_array(std::size_t) override { return Open(true); }
  bool end_array() override { return Close(); }
  bool key(string_t& value) override {
    key_ = value;
    if (depth_ == 1) section_ = value;
    keys_.Key(value);
    if (keys_.twice().empty()) return true;
    error = absl::StrCat(keys_.twice(), ": given twice, need it once");
    return false;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception&) override {
    error = absl::StrCat("JSON broken at ", PlaceInText(text_, position));
    return false;
  }

  std::vector<std::string> required, buffer_uris;
  std::string version, error;

 private:
  bool Value() {
    keys_.Value();
    return true;
  }
  bool Open(bool is_array) {
    keys_.Open(is_array);
    if (++depth_ <= kMaxDepth) return true;
    error = absl::StrCat("JSON nested deeper than ", kMaxDepth);
    return false;
  }
  bool Close() {
    keys_.Close();
    --depth_;
    return true;
  }

  std::string_view text_;
  KeyWatch keys_;
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

// A URI without its percent escapes.
std::string Unescaped(const std::string& uri) {
  std::string plain;
  for (std::size_t i = 0; i < uri.size(); ++i) {
    unsigned char byte = 0;
    const char* digits = uri.data() + i + 1;
    if (uri[i] == '%' && i + 2 < uri.size() &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      plain += static_cast<char>(byte);
      i += 2;
    } else {
      plain += uri[i];
    }
  }
  return plain;
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
absl::Status CheckBufferUri(const std::string& uri, const std::filesystem::path& folder) {
  if (absl::StartsWith(uri, "data:")) return absl::OkStatus();
  const std::string plain = Unescaped(uri);
  const std::filesystem::path file(plain);
  const std::size_t colon = plain.find(':');
  const bool scheme = colon != std::string::npos && colon < plain.find('/');
  const bool up = std::find(file.begin(), file.end(), "..") != file.end();
  const bool odd = plain.find('\\') != std::string::npos || plain.find('\0') != std::string::npos;
  if (!scheme && !up && !odd && !file.is_absolute() && LiesWithin(folder / file, folder)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("buffers.uri: got \"", uri.substr(0, 200),
                   "\", need the name of a file in the folder of the ", "glTF file or below it"));
}

absl::Status Scan(absl::string_view text, const std::filesystem::path& folder) {
  Scanner scanner(text);
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
  for (const std::string& uri : scanner.buffer_uris) {
    SINEW_RETURN_IF_ERROR(CheckBufferUri(uri, folder));
  }
  return absl::OkStatus();
}

struct SideFiles {
  std::string folder;
  std::uint64_t max_bytes;
};

// Files elsewhere are as if they did not exist; so are images outside the folder, which are no
// error because nothing here needs them.
bool SideFileExists(const std::string& path, void* data) {
  return LiesWithin(path, static_cast<const SideFiles*>(data)->folder) &&
         tinygltf::FileExists(path, nullptr);
}

bool ReadSideFile(std::vector<unsigned char>* out, std::string* error, const std::string& path,
                  void* data) {
  const SideFiles& allowed = *static_cast<const SideFiles*>(data);
  if (!LiesWithin(path, allowed.folder)) {
    *error = "not in the folder of the glTF file";
    return false;
  }
  std::error_code code;
  const std::filesystem::path file(path);
  const auto size =
      std::filesystem::is_regular_file(file, code) ? std::filesystem::file_size(file, code) : 0;
  if (code || size == 0 || size > allowed.max_bytes) {
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
                                                 std::vector<Problem>& problems) {
  const bool binary = absl::StartsWith(bytes, "glTF");
  SINEW_ASSIGN_OR_RETURN(const absl::string_view text, JsonText(bytes, binary));
  SideFiles side_files = {std::filesystem::path(path).parent_path().string(), max_bytes};
  SINEW_RETURN_IF_ERROR(Scan(text, side_files.folder));

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
    return absl::InvalidArgumentError(
        absl::StrCat("glTF: ", reason.empty() ? "cannot be parsed" : reason));
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
