#include "client/bake/character/muscle_file.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <absl/strings/strip.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "client/bake/base/errors.h"
#include "client/bake/character/joint_suggestion.h"
#include "client/bake/character/json_object.h"
#include "client/bake/character/json_text.h"
#include "client/bake/files/input_file.h"
#include "core/base/status.h"

namespace sinew::bake {
namespace {

using Json = nlohmann::json;
using Object = JsonObject;
constexpr std::uint64_t kMaxBytes = 64 << 20;

absl::Status ReadJoint(const Object& object, const client::RigData& rig, std::uint32_t& joint) {
  std::string name;
  SINEW_RETURN_IF_ERROR(object.ReadNeeded("joint", name));
  const absl::StatusOr<std::size_t> found = FindJoint(rig, name);
  if (!found.ok()) return Prefixed(object.PathOf("joint"), found.status());
  joint = static_cast<std::uint32_t>(*found);
  return absl::OkStatus();
}

absl::Status ReadPoint(const Json& json, const std::string& path, const client::RigData& rig,
                       client::MusclePoint& point) {
  SINEW_ASSIGN_OR_RETURN(const Object object, Object::Open(json, path, {"joint", "at"}));
  SINEW_RETURN_IF_ERROR(ReadJoint(object, rig, point.joint));
  return object.ReadNeeded("at", point.at);
}

absl::Status ReadWrap(const Json& json, const std::string& path, const client::RigData& rig,
                      client::MuscleWrap& wrap) {
  SINEW_ASSIGN_OR_RETURN(const Object object,
                         Object::Open(json, path, {"shape", "joint", "centre", "axis", "radius"}));
  std::string shape;
  SINEW_RETURN_IF_ERROR(object.ReadNeeded("shape", shape));
  if (shape != "cylinder" && shape != "sphere") {
    return WrongMember(object.PathOf("shape"),
                       absl::StrCat("got \"", shape, "\", need cylinder or sphere"));
  }
  SINEW_RETURN_IF_ERROR(ReadJoint(object, rig, wrap.joint));
  SINEW_RETURN_IF_ERROR(object.ReadNeeded("centre", wrap.centre));
  if (shape == "cylinder") {
    SINEW_RETURN_IF_ERROR(object.ReadNeeded("axis", wrap.axis));
  } else if (object.Find("axis") != nullptr) {
    return WrongMember(object.PathOf("axis"), "got one for a sphere, need none");
  }
  wrap.shape =
      shape == "sphere" ? client::MuscleWrap::Shape::kSphere : client::MuscleWrap::Shape::kCylinder;
  return object.ReadNeeded("radius", wrap.radius);
}

absl::Status ReadProfile(const Object& object, client::MuscleProfile& profile) {
  using enum client::MuscleProfile;
  std::string name = MuscleProfileName(kEllipsoid);
  SINEW_RETURN_IF_ERROR(object.Read("profile", name));
  for (const client::MuscleProfile each : {kEllipsoid, kSine, kRootSine, kParabola}) {
    if (name != MuscleProfileName(each)) continue;
    profile = each;
    return absl::OkStatus();
  }
  const std::vector<std::string> names = {"ellipsoid", "sine", "root_sine", "parabola"};
  return WrongMember(object.PathOf("profile"),
                     absl::StrCat("got \"", name, "\", need ellipsoid, sine, root_sine or parabola",
                                  DidYouMean(name, names)));
}

absl::Status ReadMuscle(const Json& json, const std::string& path, const client::RigData& rig,
                        client::Muscle& muscle) {
  SINEW_ASSIGN_OR_RETURN(
      const Object object,
      Object::Open(json, path,
                   {"name", "origin", "insertion", "via", "wrap", "tendons", "width", "depth",
                    "width_direction", "profile", "warp", "tension", "fat", "activation"}));
  SINEW_RETURN_IF_ERROR(object.ReadNeeded("name", muscle.name));
  SINEW_ASSIGN_OR_RETURN(const Json* const origin, object.Need("origin"));
  SINEW_RETURN_IF_ERROR(ReadPoint(*origin, object.PathOf("origin"), rig, muscle.origin));
  SINEW_ASSIGN_OR_RETURN(const Json* const insertion, object.Need("insertion"));
  SINEW_RETURN_IF_ERROR(ReadPoint(*insertion, object.PathOf("insertion"), rig, muscle.insertion));
  if (const Json* const via = object.Find("via")) {
    if (!via->is_array()) {
      return WrongMember(object.PathOf("via"),
                         absl::StrCat("got ", ShownJson(*via), ", need an array"));
    }
    for (std::size_t k = 0; k < via->size(); ++k) {
      SINEW_RETURN_IF_ERROR(ReadPoint((*via)[k], absl::StrCat(object.PathOf("via"), "[", k, "]"),
                                      rig, muscle.via.emplace_back()));
    }
  }
  if (const Json* const wrap = object.Find("wrap")) {
    SINEW_RETURN_IF_ERROR(ReadWrap(*wrap, object.PathOf("wrap"), rig, muscle.wrap.emplace()));
  }
  std::array<float, 2> tendons = {};
  SINEW_RETURN_IF_ERROR(object.Read("tendons", tendons));
  muscle.origin_tendon = tendons[0];
  muscle.insertion_tendon = tendons[1];
  SINEW_RETURN_IF_ERROR(object.ReadNeeded("width", muscle.width));
  SINEW_RETURN_IF_ERROR(object.ReadNeeded("depth", muscle.depth));
  if (object.Find("width_direction") != nullptr) {
    SINEW_RETURN_IF_ERROR(object.Read("width_direction", muscle.width_direction.emplace()));
  }
  SINEW_RETURN_IF_ERROR(ReadProfile(object, muscle.profile));
  SINEW_RETURN_IF_ERROR(object.Read("warp", muscle.warp));
  SINEW_RETURN_IF_ERROR(object.Read("tension", muscle.tension));
  if (object.Find("fat") != nullptr) {
    SINEW_RETURN_IF_ERROR(object.Read("fat", muscle.fat.emplace()));
  }
  return object.Read("activation", muscle.activation);
}

void AddControl(const std::string& name, client::RigData& rig) {
  for (const client::Control& control : rig.controls) {
    if (control.name == name) return;
  }
  rig.controls.push_back({.name = name, .minimum = 0.0f, .maximum = 1.0f, .default_value = 0});
}

}  // namespace

const char* MuscleProfileName(client::MuscleProfile profile) {
  switch (profile) {
    case client::MuscleProfile::kSine:
      return "sine";
    case client::MuscleProfile::kRootSine:
      return "root_sine";
    case client::MuscleProfile::kParabola:
      return "parabola";
    case client::MuscleProfile::kEllipsoid:
      break;
  }
  return "ellipsoid";
}

absl::Status ReadMuscles(std::string_view text, client::RigData& rig) {
  SINEW_ASSIGN_OR_RETURN(const Json json, ParseJson(text));
  SINEW_ASSIGN_OR_RETURN(const Object object, Object::Open(json, "", {"muscles"}));
  SINEW_ASSIGN_OR_RETURN(const Json* const list, object.Need("muscles"));
  if (!list->is_array()) {
    return WrongMember("muscles", absl::StrCat("got ", ShownJson(*list), ", need an array"));
  }
  std::vector<client::Muscle> muscles;
  for (std::size_t m = 0; m < list->size(); ++m) {
    SINEW_RETURN_IF_ERROR(
        ReadMuscle((*list)[m], absl::StrCat("muscles[", m, "]"), rig, muscles.emplace_back()));
  }
  rig.muscles = std::move(muscles);
  for (const client::Muscle& muscle : rig.muscles) {
    if (!muscle.activation.empty()) AddControl(muscle.activation, rig);
  }
  return absl::OkStatus();
}

namespace {

constexpr char kFieldDetails[] = "type.googleapis.com/google.rpc.BadRequest";

// The place in the file that a field of a request was read from: "rig.muscles[1].origin_tendon" was
// muscles[1].tendons[0]. Empty: not a field of muscles.
std::string PlaceOf(absl::string_view field) {
  if (!absl::StartsWith(field, "rig.muscles")) return {};
  return absl::StrReplaceAll(
      absl::StripPrefix(field, "rig."),
      {{".origin_tendon", ".tendons[0]"}, {".insertion_tendon", ".tendons[1]"}});
}

// `message` with the path of the file and the place in front, in place of the field.
std::string Placed(const std::string& path, absl::string_view message, absl::string_view field) {
  absl::ConsumePrefix(&message, field);
  absl::ConsumePrefix(&message, ": ");
  return absl::StrCat(path, ": ", PlaceOf(field), ": ", message);
}

}  // namespace

std::vector<client::Problem> PlacedInMuscleFile(const std::string& path,
                                                std::vector<client::Problem> problems) {
  for (client::Problem& each : problems) {
    if (path.empty() || PlaceOf(each.field).empty()) continue;
    each.message = Placed(path, each.message, each.field);
    each.field.clear();
  }
  return problems;
}

absl::Status PlacedInMuscleFile(const std::string& path, const absl::Status& status) {
  const std::string field = client::Details(status).field;
  if (path.empty() || PlaceOf(field).empty()) return status;
  absl::Status placed = Reworded(status, Placed(path, status.message(), field));
  placed.ErasePayload(kFieldDetails);  // the place is in the message now
  return placed;
}

absl::Status ReadMuscleFile(const std::string& path, client::RigData& rig) {
  SINEW_ASSIGN_OR_RETURN(const InputFile file, InputFile::Open(path, kMaxBytes, "muscles"));
  return Prefixed(path, ReadMuscles(file.text(), rig));
}

}  // namespace sinew::bake
