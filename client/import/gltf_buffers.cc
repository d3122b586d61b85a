#include "client/import/gltf_buffers.h"

#include <absl/strings/ascii.h>
#include <absl/strings/escaping.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/status.h"

namespace sinew::client {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kQuoted = 100;  // characters of a URI in a message

// Null if `object` is none, or has no such member.
const Json* Member(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

bool IsMeshoptFallback(const Json& buffer) {
  const Json* at = &buffer;
  for (const char* key : {"extensions", "EXT_meshopt_compression", "fallback"}) {
    at = Member(*at, key);
    if (at == nullptr) return false;
  }
  return at->is_boolean() && at->get<bool>();
}

std::string PercentDecoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '%' && i + 2 < text.size() &&
                        absl::ascii_isxdigit(static_cast<unsigned char>(text[i + 1])) &&
                        absl::ascii_isxdigit(static_cast<unsigned char>(text[i + 2]));
    if (!escape) {
      out += text[i];
      continue;
    }
    out += absl::HexStringToBytes(AbslView(text.substr(i + 1, 2)));
    i += 2;
  }
  return out;
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
bool IsAllowed(const std::string& uri, const std::filesystem::path& folder) {
  const std::filesystem::path file(uri);
  const std::size_t colon = uri.find(':');
  const bool scheme = colon != std::string::npos && colon < uri.find('/');
  const bool up = std::ranges::find(file, "..") != file.end();
  return !uri.empty() && !scheme && !up && uri.find('\0') == std::string::npos &&
         !file.is_absolute() && LiesWithin(folder / file, folder);
}

struct Source {
  std::optional<std::string_view> bin;
  std::filesystem::path folder;
  std::uint64_t max_bytes;
};

// The first `wanted` bytes, or all.
using Wanted = std::optional<std::uint64_t>;

absl::StatusOr<std::vector<unsigned char>> ReadSideFile(const std::string& uri,
                                                        const Source& source, Wanted wanted) {
  std::string name = PercentDecoded(uri);
  std::ranges::replace(name, '\\', '/');
  const std::string quoted = absl::StrCat("uri: got \"", name.substr(0, kQuoted), "\"");
  if (!IsAllowed(name, source.folder)) {
    return InvalidArgument(quoted,
                           ", need the name of a file in the folder of the glTF file or below it");
  }
  const std::filesystem::path path = source.folder / name;
  std::error_code code;
  if (!std::filesystem::exists(path, code)) return InvalidArgument(quoted, ": no such file");
  if (!std::filesystem::is_regular_file(path, code)) {
    return InvalidArgument(quoted, ": not a regular file");
  }
  const std::uintmax_t size = std::filesystem::file_size(path, code);
  if (code) return InvalidArgument(quoted, ": ", code.message());
  if (size > source.max_bytes) {
    return InvalidArgument(quoted, ": ", size, " bytes, need at most ", source.max_bytes);
  }
  if (wanted && size < *wanted) {
    return InvalidArgument(quoted, ": the file has ", size, " bytes, byteLength says ", *wanted);
  }
  std::vector<unsigned char> bytes(wanted.value_or(size));
  std::ifstream in(path, std::ios::binary);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (static_cast<std::uint64_t>(in.gcount()) != bytes.size()) {
    return InvalidArgument(quoted, ": cannot be read");
  }
  return bytes;
}

absl::StatusOr<std::vector<unsigned char>> DecodeDataUri(std::string_view uri, Wanted wanted) {
  const std::size_t comma = uri.find(',');
  if (comma == std::string_view::npos ||
      !absl::EndsWithIgnoreCase(AbslView(uri.substr(0, comma)), ";base64")) {
    return InvalidArgument("uri: a data URI without \";base64,\", need one with it");
  }
  std::string decoded;
  std::string_view text = uri.substr(comma + 1);
  const std::string unescaped =
      text.find('%') == std::string_view::npos ? "" : PercentDecoded(text);
  if (!unescaped.empty()) text = unescaped;
  if (!absl::Base64Unescape(AbslView(text), &decoded)) {
    return InvalidArgument("uri: a data URI that is not base64");
  }
  const std::uint64_t size = wanted.value_or(decoded.size());
  if (decoded.size() < size) {
    return InvalidArgument("uri: a data URI of ", decoded.size(), " bytes, byteLength says ", size);
  }
  return std::vector<unsigned char>(decoded.begin(),
                                    decoded.begin() + static_cast<std::ptrdiff_t>(size));
}

absl::StatusOr<std::vector<unsigned char>> ReadUri(const std::string& uri, const Source& source,
                                                   Wanted wanted) {
  return absl::StartsWithIgnoreCase(uri, "data:") ? DecodeDataUri(uri, wanted)
                                                  : ReadSideFile(uri, source, wanted);
}

absl::StatusOr<tinygltf::Buffer> Load(const Json& buffer, const Source& source) {
  const Json* length = Member(buffer, "byteLength");
  if (length == nullptr || !length->is_number_unsigned()) {
    return InvalidArgument("byteLength: need a whole number");
  }
  const auto wanted = length->get<std::uint64_t>();
  tinygltf::Buffer out;
  if (IsMeshoptFallback(buffer)) return out;
  const Json* uri = Member(buffer, "uri");
  if (uri != nullptr && !uri->is_string()) return InvalidArgument("uri: need a string");
  if (uri != nullptr) {
    SINEW_ASSIGN_OR_RETURN(out.data, ReadUri(uri->get_ref<const std::string&>(), source, wanted));
    return out;
  }
  if (!source.bin) return InvalidArgument("no uri, and the file has no BIN chunk");
  if (wanted > source.bin->size()) {
    return InvalidArgument("byteLength: got ", wanted, ", the BIN chunk has ", source.bin->size(),
                           " bytes");
  }
  out.data.assign(source.bin->begin(), source.bin->begin() + static_cast<std::ptrdiff_t>(wanted));
  return out;
}

}  // namespace

absl::StatusOr<std::vector<tinygltf::Buffer>> LoadGltfBuffers(const Json& document,
                                                              std::optional<std::string_view> bin,
                                                              const std::string& folder,
                                                              std::uint64_t max_bytes) {
  std::vector<tinygltf::Buffer> out;
  const Json* list = Member(document, "buffers");
  if (list == nullptr) return out;
  if (!list->is_array()) return InvalidArgument("buffers: need an array");
  const Source source = {bin, folder, max_bytes};
  for (std::size_t b = 0; b < list->size(); ++b) {
    absl::StatusOr<tinygltf::Buffer> buffer = Load((*list)[b], source);
    if (!buffer.ok()) return InvalidArgument("buffers[", b, "]: ", buffer.status().message());
    out.push_back(*std::move(buffer));
  }
  return out;
}

absl::StatusOr<std::vector<unsigned char>> LoadGltfUri(const std::string& uri,
                                                       const std::string& folder,
                                                       std::uint64_t max_bytes) {
  return ReadUri(uri, {.bin = {}, .folder = folder, .max_bytes = max_bytes}, {});
}

}  // namespace sinew::client
