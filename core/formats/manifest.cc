#include "core/formats/manifest.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <xxhash.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/status.h"
#include "core/formats/byte_order.h"

namespace sinew {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kManifestVersion = 1;
constexpr std::size_t kHashDigits = 16;

absl::Status CheckPositive(const char* field, double value) {
  if (std::isfinite(value) && value > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("manifest.", field, ": ", value, ", need a finite number above 0"));
}

absl::Status CheckMeshes(const Manifest& manifest) {
  std::uint64_t next = 0;
  for (const ManifestMesh& mesh : manifest.meshes) {
    // Compare with what is left, so that the sum cannot overflow.
    if (mesh.first_vertex != next || mesh.vertices > manifest.vertices - next) {
      return absl::InvalidArgumentError(absl::StrCat(
          "manifest.meshes: '", mesh.name, "' has ", mesh.vertices, " vertices from ",
          mesh.first_vertex, ", need to start at ", next, " and end by ", manifest.vertices));
    }
    next += mesh.vertices;
  }
  if (next != manifest.vertices) {
    return absl::InvalidArgumentError(
        absl::StrCat("manifest.meshes: ", next, " vertices in all, need ", manifest.vertices));
  }
  return absl::OkStatus();
}

absl::Status Check(const Manifest& manifest) {
  SINEW_RETURN_IF_ERROR(CheckPositive("fps", manifest.fps));
  SINEW_RETURN_IF_ERROR(CheckPositive("frame_step", manifest.frame_step));
  SINEW_RETURN_IF_ERROR(CheckPositive("units.meters_per_unit", manifest.meters_per_unit));
  if (!std::isfinite(manifest.first_frame)) {
    return absl::InvalidArgumentError("manifest.first_frame: not finite, need a finite number");
  }
  if (manifest.up_axis != "Y" && manifest.up_axis != "Z" && !manifest.up_axis.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("manifest.units.up_axis: '", manifest.up_axis, "', need 'Y', 'Z' or ''"));
  }
  if (manifest.frame_hashes.size() != manifest.frames) {
    return absl::InvalidArgumentError(
        absl::StrCat("manifest.frame_hashes: ", manifest.frame_hashes.size(), ", need ",
                     manifest.frames, " (one per frame)"));
  }
  return CheckMeshes(manifest);
}

// Finds members by name and type. The path prefixes every message.
class Reader {
 public:
  Reader(const Json& json, std::string path) : json_(json), path_(std::move(path)) {}

  absl::Status Read(const char* key, std::string& value) const {
    return ReadIf(key, "a string", value, [](const Json& j) { return j.is_string(); });
  }
  absl::Status Read(const char* key, double& value) const {
    return ReadIf(key, "a number", value, [](const Json& j) { return j.is_number(); });
  }
  absl::Status Read(const char* key, std::uint64_t& value) const {
    return ReadIf(key, "a whole number", value,
                  [](const Json& j) { return j.is_number_unsigned(); });
  }
  absl::StatusOr<Reader> Object(const char* key) const {
    SINEW_ASSIGN_OR_RETURN(const Json* json, Find(key, "an object"));
    if (!json->is_object()) return Wrong(key, "an object");
    return Reader(*json, absl::StrCat(path_, key, "."));
  }
  absl::StatusOr<const Json*> Array(const char* key) const {
    SINEW_ASSIGN_OR_RETURN(const Json* json, Find(key, "an array"));
    if (!json->is_array()) return Wrong(key, "an array");
    return json;
  }

 private:
  absl::Status Wrong(const char* key, const char* need) const {
    return absl::InvalidArgumentError(
        absl::StrCat(path_, key, ": missing or of another type, need ", need));
  }
  absl::StatusOr<const Json*> Find(const char* key, const char* need) const {
    const auto found = json_.find(key);
    if (found == json_.end()) return Wrong(key, need);
    return &*found;
  }
  template <class T, class Is>
  absl::Status ReadIf(const char* key, const char* need, T& value, Is is) const {
    SINEW_ASSIGN_OR_RETURN(const Json* json, Find(key, need));
    if (!is(*json)) return Wrong(key, need);
    value = json->get<T>();
    return absl::OkStatus();
  }

  const Json& json_;
  std::string path_;
};

absl::StatusOr<std::uint64_t> ParseHash(const Json& json, std::size_t frame) {
  std::uint64_t hash = 0;
  const std::string text = json.is_string() ? json.get<std::string>() : "";
  const auto result = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  if (text.size() != kHashDigits || result.ec != std::errc() ||
      result.ptr != text.data() + text.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("manifest.frame_hashes[", frame, "]: need ", kHashDigits, " hex digits"));
  }
  return hash;
}

absl::StatusOr<Manifest> FromJson(const Json& json) {
  if (!json.is_object()) return absl::InvalidArgumentError("manifest: need a JSON object");
  const Reader reader(json, "manifest.");
  std::uint64_t version = 0;
  SINEW_RETURN_IF_ERROR(reader.Read("manifest_version", version));
  if (version != kManifestVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat("manifest.manifest_version: ", version, ", need ", kManifestVersion));
  }
  Manifest manifest;
  SINEW_RETURN_IF_ERROR(reader.Read("software_version", manifest.software_version));
  SINEW_RETURN_IF_ERROR(reader.Read("format", manifest.format));
  SINEW_RETURN_IF_ERROR(reader.Read("vertices", manifest.vertices));
  SINEW_RETURN_IF_ERROR(reader.Read("frames", manifest.frames));
  SINEW_RETURN_IF_ERROR(reader.Read("fps", manifest.fps));
  SINEW_RETURN_IF_ERROR(reader.Read("first_frame", manifest.first_frame));
  SINEW_RETURN_IF_ERROR(reader.Read("frame_step", manifest.frame_step));
  SINEW_ASSIGN_OR_RETURN(const Reader units, reader.Object("units"));
  SINEW_RETURN_IF_ERROR(units.Read("meters_per_unit", manifest.meters_per_unit));
  SINEW_RETURN_IF_ERROR(units.Read("up_axis", manifest.up_axis));
  SINEW_RETURN_IF_ERROR(reader.Read("rig", manifest.rig));
  SINEW_ASSIGN_OR_RETURN(const Reader recipe, reader.Object("recipe"));
  SINEW_RETURN_IF_ERROR(recipe.Read("recipe_text", manifest.recipe));
  SINEW_RETURN_IF_ERROR(recipe.Read("digest", manifest.recipe_digest));
  SINEW_RETURN_IF_ERROR(reader.Read("determinism_digest", manifest.determinism_digest));
  SINEW_ASSIGN_OR_RETURN(const Json* meshes, reader.Array("meshes"));
  for (std::size_t k = 0; k < meshes->size(); ++k) {
    const std::string path = absl::StrCat("manifest.meshes[", k, "].");
    if (!(*meshes)[k].is_object()) return absl::InvalidArgumentError(path + ": need an object");
    const Reader mesh((*meshes)[k], path);
    ManifestMesh& read = manifest.meshes.emplace_back();
    SINEW_RETURN_IF_ERROR(mesh.Read("name", read.name));
    SINEW_RETURN_IF_ERROR(mesh.Read("first_vertex", read.first_vertex));
    SINEW_RETURN_IF_ERROR(mesh.Read("vertices", read.vertices));
  }
  SINEW_ASSIGN_OR_RETURN(const Json* hashes, reader.Array("frame_hashes"));
  for (std::size_t k = 0; k < hashes->size(); ++k) {
    SINEW_ASSIGN_OR_RETURN(const std::uint64_t hash, ParseHash((*hashes)[k], k));
    manifest.frame_hashes.push_back(hash);
  }
  SINEW_RETURN_IF_ERROR(Check(manifest));
  return manifest;
}

}  // namespace

std::uint64_t HashPositions(std::span<const float> positions) {
  return XXH3_64bits(positions.data(), positions.size_bytes());
}

absl::StatusOr<std::string> EncodeManifest(const Manifest& manifest) {
  SINEW_RETURN_IF_ERROR(Check(manifest));
  Json json;
  json["manifest_version"] = kManifestVersion;
  json["software"] = "sinew";
  json["software_version"] = manifest.software_version;
  json["format"] = manifest.format;
  json["vertices"] = manifest.vertices;
  json["frames"] = manifest.frames;
  json["fps"] = manifest.fps;
  json["first_frame"] = manifest.first_frame;
  json["frame_step"] = manifest.frame_step;
  json["units"] = {{"meters_per_unit", manifest.meters_per_unit}, {"up_axis", manifest.up_axis}};
  json["rig"] = manifest.rig;
  json["recipe"] = {{"recipe_text", manifest.recipe}, {"digest", manifest.recipe_digest}};
  json["determinism_digest"] = manifest.determinism_digest;
  Json& meshes = json["meshes"] = Json::array();
  for (const ManifestMesh& mesh : manifest.meshes) {
    meshes.push_back(
        {{"name", mesh.name}, {"first_vertex", mesh.first_vertex}, {"vertices", mesh.vertices}});
  }
  json["hash"] = "XXH3-64 of each frame's positions, little-endian float32, in rig order";
  Json& hashes = json["frame_hashes"] = Json::array();
  for (std::uint64_t hash : manifest.frame_hashes) {
    hashes.push_back(absl::StrFormat("%016x", hash));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

absl::StatusOr<Manifest> ParseManifest(std::string_view json) {
  try {
    return FromJson(Json::parse(json));
  } catch (const Json::exception& e) {
    // nlohmann prefixes the text with "[json.exception.parse_error.101] ".
    const absl::string_view what = e.what();
    const std::size_t end = what.find("] ");
    return absl::InvalidArgumentError(
        absl::StrCat("manifest: invalid JSON: ", end == what.npos ? what : what.substr(end + 2)));
  }
}

}  // namespace sinew
