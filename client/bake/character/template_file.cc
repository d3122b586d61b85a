#include "client/bake/character/template_file.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "client/bake/base/errors.h"
#include "client/bake/character/joint_suggestion.h"
#include "client/bake/character/json_object.h"
#include "client/bake/character/json_text.h"
#include "client/bake/files/input_file.h"
#include "core/base/status.h"
#include "sinew/client.h"

namespace sinew::bake {
namespace {

constexpr std::uint64_t kMaxBytes = 1 << 20;

bool IsFile(const std::string& name) {
  return absl::EndsWithIgnoreCase(name, ".json");
}

// The number of the joint that a member names.
absl::Status ReadIndex(const JsonObject& object, const char* member,
                       const std::vector<std::string>& names, std::optional<std::uint32_t>& index) {
  std::string name;
  SINEW_RETURN_IF_ERROR(object.Read(member, name));
  if (object.Find(member) == nullptr) return absl::OkStatus();
  for (std::uint32_t j = 0; j < names.size(); ++j) {
    if (names[j] == name) index = j;
  }
  if (index) return absl::OkStatus();
  return WrongMember(
      object.PathOf(member),
      absl::StrCat("got \"", name, "\", need the name of a joint", DidYouMean(name, names)));
}

}  // namespace

absl::StatusOr<std::vector<client::TemplateJoint>> ParseTemplate(const std::string& text) {
  SINEW_ASSIGN_OR_RETURN(const nlohmann::json json, ParseJson(text));
  SINEW_ASSIGN_OR_RETURN(const JsonObject whole, JsonObject::Open(json, "", {"joints"}));
  SINEW_ASSIGN_OR_RETURN(const nlohmann::json* const list, whole.Need("joints"));
  if (!list->is_array()) {
    return WrongMember("joints", absl::StrCat("got ", ShownJson(*list), ", need an array"));
  }
  std::vector<JsonObject> objects;
  std::vector<std::string> names;
  for (std::size_t j = 0; j < list->size(); ++j) {
    SINEW_ASSIGN_OR_RETURN(JsonObject object,
                           JsonObject::Open((*list)[j], absl::StrCat("joints[", j, "]"),
                                            {"name", "parent", "at", "wide", "foot", "partner"}));
    std::string name;
    SINEW_RETURN_IF_ERROR(object.ReadNeeded("name", name));
    if (std::ranges::count(names, name) > 0) {
      return WrongMember(object.PathOf("name"),
                         absl::StrCat("got \"", name, "\" twice, need it once"));
    }
    names.push_back(name);
    objects.push_back(std::move(object));
  }
  std::vector<client::TemplateJoint> joints(objects.size());
  for (std::size_t j = 0; j < objects.size(); ++j) {
    client::TemplateJoint& joint = joints[j];
    joint.name = names[j];
    SINEW_RETURN_IF_ERROR(objects[j].ReadNeeded("at", joint.place));
    SINEW_RETURN_IF_ERROR(objects[j].Read("wide", joint.wide));
    SINEW_RETURN_IF_ERROR(objects[j].Read("foot", joint.foot));
    SINEW_RETURN_IF_ERROR(ReadIndex(objects[j], "parent", names, joint.parent));
    SINEW_RETURN_IF_ERROR(ReadIndex(objects[j], "partner", names, joint.partner));
  }
  return joints;
}

absl::StatusOr<std::vector<client::TemplateJoint>> ReadTemplateFile(const std::string& path) {
  SINEW_ASSIGN_OR_RETURN(const InputFile file, InputFile::Open(path, kMaxBytes, "template"));
  absl::StatusOr<std::vector<client::TemplateJoint>> joints =
      ParseTemplate(std::string(file.text()));
  if (!joints.ok()) return Prefixed(path, joints.status());
  if (joints->size() < 2 || joints->size() > 64) {
    return InvalidArgument(path, ": joints: got ", joints->size(), ", need 2 to 64");
  }
  return joints;
}

absl::Status ChooseTemplate(const std::string& name, client::FitRequest& request) {
  if (!IsFile(name)) {
    request.built_in = name;
    return absl::OkStatus();
  }
  SINEW_ASSIGN_OR_RETURN(request.skeleton, ReadTemplateFile(name));
  return absl::OkStatus();
}

absl::Status OfTemplate(const std::string& name, const absl::Status& status) {
  constexpr absl::string_view kNoName = "\"skeleton\" ";  // the server's, of joints of one's own
  if (!IsFile(name)) return status;
  for (const absl::string_view field : {"template: ", "skeleton: "}) {
    absl::string_view message = status.message();
    if (!absl::ConsumePrefix(&message, field)) continue;
    const bool named = absl::ConsumePrefix(&message, kNoName);
    return Reworded(status, absl::StrCat(field, name, named ? " " : ": ", message));
  }
  return status;
}

absl::Status PrepareForFit(std::optional<double> meters_per_unit, CharacterFile& character) {
  client::RigData& rig = character.rig;
  if (rig.vertices() == 0) {
    return InvalidArgument(character.label, ": no mesh, need one");
  }
  for (const client::Mesh& mesh : rig.meshes) {
    if (mesh.skin.empty()) continue;
    return InvalidArgument(character.label, ": mesh \"", mesh.name,
                           "\" has a skin, need meshes without, such as an .obj");
  }
  if (rig.meters_per_unit == 0) {
    rig.meters_per_unit = meters_per_unit.value_or(1);
  } else if (meters_per_unit) {
    return InvalidArgument("meters_per_unit: got ", *meters_per_unit, " for ", character.label,
                           ", which names its unit, ", rig.meters_per_unit, " m; need none");
  }
  // The clips of the file are of other joints.
  character.kind = CharacterFile::Kind::kSerialised;
  character.clips.clear();
  character.clip_files.clear();
  character.scene.reset();
  rig.joints = {{.name = "root"}};
  rig.rest_local = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  SINEW_ASSIGN_OR_RETURN(character.rig_bytes, client::EncodeRig(rig));
  return absl::OkStatus();
}

}  // namespace sinew::bake
