#include "client/bake/formats/manifest.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_replace.h>

#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "client/bake/formats/usda.h"
#include "core/base/bulk_checksum.h"
#include "core/base/status.h"

namespace sinew::bake {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kManifestVersion = 1;
constexpr double kMaxFrameNumber = 1e12;
constexpr std::size_t kHashDigits = 16;

absl::Status CheckPositive(const char* field, double value) {
  if (std::isfinite(value) && value > 0) return absl::OkStatus();
  return InvalidArgument("manifest.", field, ": ", value, ", need a finite number above 0");
}

absl::Status CheckMeshes(const Manifest& manifest) {
  std::uint64_t next = 0;
  for (const ManifestMesh& mesh : manifest.meshes) {
    // Compare with what is left, so that the sum cannot overflow.
    if (mesh.first_vertex != next || mesh.vertices > manifest.vertices - next) {
      return InvalidArgument("manifest.meshes: '", mesh.name, "' has ", mesh.vertices,
                             " vertices from ", mesh.first_vertex, ", need to start at ", next,
                             " and end by ", manifest.vertices);
    }
    next += mesh.vertices;
  }
  if (next != manifest.vertices) {
    return InvalidArgument("manifest.meshes: ", next, " vertices in all, need ", manifest.vertices);
  }
  return absl::OkStatus();
}

absl::Status CheckShutter(const Manifest& manifest) {
  if (!std::isfinite(manifest.velocity_step) || manifest.velocity_step < 0) {
    return InvalidArgument("manifest.velocity_step: ", manifest.velocity_step,
                           ", need a finite number, at least 0");
  }
  if (!manifest.shutter) return absl::OkStatus();
  const ManifestShutter& shutter = *manifest.shutter;
  if (std::isfinite(shutter.open) && std::isfinite(shutter.close) &&
      shutter.open <= shutter.close && shutter.samples >= 1) {
    return absl::OkStatus();
  }
  return InvalidArgument("manifest.shutter: ", shutter.samples, " samples from ", shutter.open,
                         " to ", shutter.close,
                         ", need at least 1 and a close that is not before the open");
}

absl::Status Check(const Manifest& manifest) {
  SINEW_RETURN_IF_ERROR(CheckPositive("fps", manifest.fps));
  SINEW_RETURN_IF_ERROR(CheckPositive("frame_step", manifest.frame_step));
  SINEW_RETURN_IF_ERROR(CheckPositive("units.meters_per_unit", manifest.meters_per_unit));
  if (!std::isfinite(manifest.first_frame)) {
    return InvalidArgument("manifest.first_frame: not finite, need a finite number");
  }
  if (manifest.up_axis != "Y" && manifest.up_axis != "Z" && !manifest.up_axis.empty()) {
    return InvalidArgument("manifest.units.up_axis: '", manifest.up_axis, "', need 'Y', 'Z' or ''");
  }
  if (manifest.frame_hashes.size() != manifest.frames) {
    return InvalidArgument("manifest.frame_hashes: ", manifest.frame_hashes.size(), ", need ",
                           manifest.frames, " (one per frame)");
  }
  if (std::abs(manifest.first_frame) > kMaxFrameNumber || manifest.frame_step > kMaxFrameNumber ||
      static_cast<double>(manifest.start_frame) > kMaxFrameNumber) {
    return InvalidArgument("manifest.first_frame, frame_step, start_frame: need at most ",
                           kMaxFrameNumber);
  }
  for (std::size_t k = 0; k < manifest.frame_numbers.size(); ++k) {
    const double number = manifest.frame_numbers[k];
    if (std::abs(number) <= kMaxFrameNumber && (k == 0 || number > manifest.frame_numbers[k - 1])) {
      continue;
    }
    return InvalidArgument("manifest.frame_numbers[", k, "]: ", number,
                           ", need rising numbers of at most ", kMaxFrameNumber);
  }
  if (!manifest.frame_numbers.empty() && manifest.frame_numbers.size() != manifest.frames) {
    return InvalidArgument("manifest.frame_numbers: ", manifest.frame_numbers.size(), ", need ",
                           manifest.frames, " (one per frame) or none");
  }
  if (!manifest.pose_hashes.empty() && manifest.pose_hashes.size() != manifest.frames) {
    return InvalidArgument("manifest.pose_hashes: ", manifest.pose_hashes.size(), ", need ",
                           manifest.frames, " (one per frame) or none");
  }
  for (const ManifestAttribute& attribute : manifest.attributes) {
    if (attribute.frame_hashes.size() == manifest.frames) continue;
    return InvalidArgument("manifest.attributes: '", attribute.name, "' has ",
                           attribute.frame_hashes.size(), " frame_hashes, need ", manifest.frames,
                           " (one per frame)");
  }
  if (const ManifestUsd& usd = manifest.usd;
      !usd.layout.empty() &&
      (!IsUsdPrimPath(usd.root) || (usd.layout != "mesh" && usd.layout != "over" &&
                                    (usd.layout != "clips" || usd.clip_samples == 0)))) {
    return InvalidArgument("manifest.usd: '", usd.layout, "' of ", usd.clip_samples,
                           " samples below '", usd.root,
                           "', need mesh, over, or clips of 1 or more, and a path of prims");
  }
  SINEW_RETURN_IF_ERROR(CheckShutter(manifest));
  return CheckMeshes(manifest);
}

// Calls visit(field, member) for every plain member, in the order of the file.
template <class M, class Visit>
void Fields(M& manifest, Visit&& visit) {
  visit("software_version", manifest.software_version);
  visit("format", manifest.format);
  visit("vertices", manifest.vertices);
  visit("frames", manifest.frames);
  visit("fps", manifest.fps);
  visit("first_frame", manifest.first_frame);
  visit("frame_step", manifest.frame_step);
  visit("units.meters_per_unit", manifest.meters_per_unit);
  visit("units.up_axis", manifest.up_axis);
  visit("rig", manifest.rig);
  visit("recipe.recipe_text", manifest.recipe);
  visit("recipe.digest", manifest.recipe_digest);
  visit("determinism_digest", manifest.determinism_digest);
  for (std::size_t k = 0; k < manifest.meshes.size(); ++k) {
    const std::string mesh = absl::StrCat("meshes[", k, "].");
    visit(mesh + "name", manifest.meshes[k].name);
    visit(mesh + "first_vertex", manifest.meshes[k].first_vertex);
    visit(mesh + "vertices", manifest.meshes[k].vertices);
  }
}

// Visits the members that earlier versions did not write.
template <class M, class Visit>
void LaterFields(M& manifest, Visit&& visit) {
  visit("source.name", manifest.source);
  visit("source.digest", manifest.source_digest);
  visit("clip.name", manifest.clip);
  visit("clip.source", manifest.clip_source);
  visit("clip.source_digest", manifest.clip_source_digest);
  visit("clip.poses_digest", manifest.poses_digest);
  visit("clip.controls_digest", manifest.controls_digest);
  visit("space", manifest.space);
  visit("layout_digest", manifest.layout_digest);
}

Json::json_pointer Pointer(const std::string& field) {
  return Json::json_pointer(
      absl::StrCat("/", absl::StrReplaceAll(field, {{".", "/"}, {"[", "/"}, {"]", ""}})));
}

absl::Status Wrong(const std::string& field, const char* need) {
  return InvalidArgument("manifest.", field, ": missing or of another type, need ", need);
}

template <class T>
absl::Status Read(const Json& json, const std::string& field, T& value) {
  const Json::json_pointer at = Pointer(field);
  const Json found = json.contains(at) ? json.at(at) : Json();
  if constexpr (std::is_same_v<T, std::string>) {
    if (!found.is_string()) return Wrong(field, "a string");
  } else if constexpr (std::is_same_v<T, double>) {
    if (!found.is_number()) return Wrong(field, "a number");
  } else {
    if (!found.is_number_unsigned()) return Wrong(field, "a whole number");
  }
  value = found.get<T>();
  return absl::OkStatus();
}

absl::StatusOr<std::uint64_t> ParseHash(const Json& json, const char* list, std::size_t frame) {
  std::uint64_t hash = 0;
  const std::string text = json.is_string() ? json.get<std::string>() : "";
  const auto result = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  if (text.size() != kHashDigits || result.ec != std::errc() ||
      result.ptr != text.data() + text.size()) {
    return InvalidArgument("manifest.", list, "[", frame, "]: need ", kHashDigits, " hex digits");
  }
  return hash;
}

absl::Status ReadHashes(const Json& json, const char* list, std::vector<std::uint64_t>& hashes) {
  if (!json.contains(list) || !json[list].is_array()) return Wrong(list, "an array");
  for (const Json& text : json[list]) {
    SINEW_ASSIGN_OR_RETURN(const std::uint64_t hash, ParseHash(text, list, hashes.size()));
    hashes.push_back(hash);
  }
  return absl::OkStatus();
}

Json HashTexts(const std::vector<std::uint64_t>& hashes) {
  Json texts = Json::array();
  for (const std::uint64_t hash : hashes) texts.push_back(absl::StrFormat("%016x", hash));
  return texts;
}

// Names that cannot lead out of the folder of the manifest.
bool IsInside(const std::string& name) {
  return !name.empty() && name.front() != '/' && name.find("..") == name.npos &&
         name.find('\0') == name.npos;
}

absl::Status ReadFiles(const Json& json, Manifest& manifest) {
  if (!json.contains("files")) return absl::OkStatus();
  if (!json["files"].is_array()) return Wrong("files", "an array");
  for (std::size_t k = 0; k < json["files"].size(); ++k) {
    ManifestFile& file = manifest.files.emplace_back();
    const std::string field = absl::StrCat("files[", k, "].");
    SINEW_RETURN_IF_ERROR(Read(json, field + "name", file.name));
    SINEW_RETURN_IF_ERROR(Read(json, field + "bytes", file.bytes));
    if (!IsInside(file.name)) {
      return InvalidArgument("manifest.", field, "name: '", file.name,
                             "', need a name in the folder of the manifest, without ..");
    }
    const Json& entry = json["files"][k];
    SINEW_ASSIGN_OR_RETURN(file.hash,
                           ParseHash(entry.contains("hash") ? entry["hash"] : Json(), "files", k));
  }
  return absl::OkStatus();
}

absl::Status ReadSampling(const Json& json, Manifest& manifest) {
  if (json.contains("shutter")) {
    ManifestShutter& shutter = manifest.shutter.emplace();
    SINEW_RETURN_IF_ERROR(Read(json, "shutter.open", shutter.open));
    SINEW_RETURN_IF_ERROR(Read(json, "shutter.close", shutter.close));
    SINEW_RETURN_IF_ERROR(Read(json, "shutter.samples", shutter.samples));
  }
  if (json.contains("usd")) {
    SINEW_RETURN_IF_ERROR(Read(json, "usd.layout", manifest.usd.layout));
    SINEW_RETURN_IF_ERROR(Read(json, "usd.root", manifest.usd.root));
    SINEW_RETURN_IF_ERROR(Read(json, "usd.clip_samples", manifest.usd.clip_samples));
  }
  SINEW_RETURN_IF_ERROR(ReadFiles(json, manifest));
  if (json.contains("velocity_step")) {
    SINEW_RETURN_IF_ERROR(Read(json, "velocity_step", manifest.velocity_step));
  }
  if (json.contains("start_frame")) {
    SINEW_RETURN_IF_ERROR(Read(json, "start_frame", manifest.start_frame));
  }
  if (!json.contains("attributes")) return absl::OkStatus();
  if (!json["attributes"].is_array()) return Wrong("attributes", "an array");
  for (std::size_t k = 0; k < json["attributes"].size(); ++k) {
    ManifestAttribute& attribute = manifest.attributes.emplace_back();
    SINEW_RETURN_IF_ERROR(Read(json, absl::StrCat("attributes[", k, "].name"), attribute.name));
    if (attribute.name != "normals" && attribute.name != "velocities") {
      return InvalidArgument("manifest.attributes[", k, "].name: '", attribute.name,
                             "', need normals or velocities");
    }
    SINEW_RETURN_IF_ERROR(
        ReadHashes(json["attributes"][k], "frame_hashes", attribute.frame_hashes));
  }
  return absl::OkStatus();
}

void WriteSampling(const Manifest& manifest, Json& json) {
  if (manifest.shutter) {
    json["shutter"] = {{"open", manifest.shutter->open},
                       {"close", manifest.shutter->close},
                       {"samples", manifest.shutter->samples}};
  }
  if (!manifest.usd.layout.empty()) {
    json["usd"] = {{"layout", manifest.usd.layout},
                   {"root", manifest.usd.root},
                   {"clip_samples", manifest.usd.clip_samples}};
  }
  for (const ManifestFile& file : manifest.files) {
    json["files"].push_back({{"name", file.name},
                             {"bytes", file.bytes},
                             {"hash", absl::StrFormat("%016x", file.hash)}});
  }
  if (manifest.velocity_step > 0) json["velocity_step"] = manifest.velocity_step;
  if (manifest.start_frame > 0) json["start_frame"] = manifest.start_frame;
  for (const ManifestAttribute& attribute : manifest.attributes) {
    json["attributes"].push_back(
        {{"name", attribute.name}, {"frame_hashes", HashTexts(attribute.frame_hashes)}});
  }
}

Json ToJson(const Manifest& manifest) {
  Json json;
  json["manifest_version"] = kManifestVersion;
  json["software"] = "sinew";
  Fields(manifest,
         [&](const std::string& field, const auto& value) { json[Pointer(field)] = value; });
  if (manifest.meshes.empty()) json["meshes"] = Json::array();
  LaterFields(manifest, [&](const std::string& field, const std::string& value) {
    if (!value.empty()) json[Pointer(field)] = value;
  });
  json["hash"] = "XXH3-64 of each frame's positions, little-endian float32, in rig order";
  if (!manifest.frame_numbers.empty()) json["frame_numbers"] = manifest.frame_numbers;
  json["frame_hashes"] = HashTexts(manifest.frame_hashes);
  if (!manifest.pose_hashes.empty()) json["pose_hashes"] = HashTexts(manifest.pose_hashes);
  WriteSampling(manifest, json);
  return json;
}

// What OriginDifference compares.
Json OriginOf(Manifest manifest) {
  manifest.format.clear();
  manifest.frames = 0;
  manifest.first_frame = manifest.frame_step = 0;
  manifest.frame_numbers.clear();
  manifest.frame_hashes.clear();
  manifest.pose_hashes.clear();
  manifest.files.clear();
  for (ManifestAttribute& attribute : manifest.attributes) attribute.frame_hashes.clear();
  // A file may have been renamed; one that is not a file has but a name.
  if (!manifest.source_digest.empty()) manifest.source.clear();
  manifest.clip_source.clear();
  return ToJson(manifest);
}

// For people: "/usd/layout" is "usd layout".
std::string OriginName(const std::string& path) {
  static const std::map<std::string, const char*> names = {
      {"/recipe/recipe_text", "recipe"},
      {"/source/name", "character"},
      {"/source/digest", "digest of the character file"},
      {"/clip/name", "clip"},
      {"/clip/source_digest", "digest of the clip's file"},
      {"/clip/poses_digest", "digest of the poses"},
      {"/clip/controls_digest", "digest of the controls"},
      {"/units/up_axis", "axis"},
      {"/fps", "frames a second"},
      {"/layout_digest", "digest of space and texture coordinates"}};
  const auto name = names.find(path);
  return name != names.end() ? name->second
                             : absl::StrReplaceAll(path.substr(1), {{"/", " "}, {"_", " "}});
}

// An entry of an object or array; null: it has none.
const Json& EntryOf(const Json& json, const std::string& key) {
  static const Json none;
  const Json::json_pointer at = Json::json_pointer() / key;
  return json.is_structured() && json.contains(at) ? json.at(at) : none;
}

std::optional<Difference> FirstDifference(const Json& a, const Json& b, const std::string& path) {
  if (a == b) return std::nullopt;
  for (const Json* side : {&a, &b}) {
    if (!side->is_structured()) continue;
    for (const auto& [key, value] : side->items()) {
      auto found = FirstDifference(EntryOf(a, key), EntryOf(b, key), absl::StrCat(path, "/", key));
      if (found) return found;
    }
  }
  const auto text = [](const Json& json) {
    return json.is_null() ? "none" : json.is_string() ? json.get<std::string>() : json.dump();
  };
  return Difference{OriginName(path), text(a), text(b)};
}

absl::StatusOr<Manifest> FromJson(const Json& json) {
  if (!json.is_object()) return InvalidArgument("manifest: need a JSON object");
  std::uint64_t version = 0;
  SINEW_RETURN_IF_ERROR(Read(json, "manifest_version", version));
  if (version != kManifestVersion) {
    return InvalidArgument("manifest.manifest_version: ", version, ", need ", kManifestVersion);
  }
  for (const char* list : {"meshes", "frame_hashes"}) {
    if (!json.contains(list) || !json[list].is_array()) return Wrong(list, "an array");
  }
  Manifest manifest;
  manifest.meshes.resize(json["meshes"].size());
  absl::Status status;
  Fields(manifest, [&](const std::string& field, auto& value) {
    if (status.ok()) status = Read(json, field, value);
  });
  SINEW_RETURN_IF_ERROR(status);
  if (json.contains("frame_numbers")) {
    for (const Json& number : json["frame_numbers"]) {
      if (!number.is_number()) return Wrong("frame_numbers", "numbers");
      manifest.frame_numbers.push_back(number.get<double>());
    }
  }
  LaterFields(manifest, [&](const std::string& field, std::string& value) {
    if (status.ok() && json.contains(Pointer(field))) status = Read(json, field, value);
  });
  SINEW_RETURN_IF_ERROR(status);
  SINEW_RETURN_IF_ERROR(ReadHashes(json, "frame_hashes", manifest.frame_hashes));
  if (json.contains("pose_hashes")) {
    SINEW_RETURN_IF_ERROR(ReadHashes(json, "pose_hashes", manifest.pose_hashes));
  }
  SINEW_RETURN_IF_ERROR(ReadSampling(json, manifest));
  SINEW_RETURN_IF_ERROR(Check(manifest));
  return manifest;
}

}  // namespace

std::uint64_t HashPositions(std::span<const float> positions) {
  return BulkChecksum({std::as_bytes(positions)});
}

std::uint64_t HashPose(std::span<const float> joint_transforms, std::span<const float> controls) {
  std::vector<float> pose(joint_transforms.begin(), joint_transforms.end());
  pose.insert(pose.end(), controls.begin(), controls.end());
  return HashPositions(pose);
}

std::uint64_t CombineHashes(std::span<const std::uint64_t> hashes) {
  return BulkChecksum({std::as_bytes(hashes)});
}

std::optional<Difference> OriginDifference(const Manifest& a, const Manifest& b) {
  return FirstDifference(OriginOf(a), OriginOf(b), "");
}

absl::StatusOr<std::string> EncodeManifest(const Manifest& manifest) {
  SINEW_RETURN_IF_ERROR(Check(manifest));
  return ToJson(manifest).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

absl::StatusOr<Manifest> ParseManifest(std::string_view json) {
  try {
    return FromJson(Json::parse(json));
  } catch (const Json::exception& e) {
    // nlohmann prefixes the text with "[json.exception.parse_error.101] ".
    const absl::string_view what = e.what();
    const std::size_t end = what.find("] ");
    return InvalidArgument("manifest: invalid JSON: ",
                           end == what.npos ? what : what.substr(end + 2));
  }
}

}  // namespace sinew::bake
