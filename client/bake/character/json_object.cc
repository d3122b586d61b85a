#include "client/bake/character/json_object.h"

#include <absl/strings/str_join.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "client/bake/character/joint_suggestion.h"

namespace sinew::bake {
namespace {

using Json = nlohmann::json;

std::string MemberPath(const std::string& path, const std::string& name) {
  return path.empty() ? name : absl::StrCat(path, ".", name);
}

}  // namespace

absl::Status WrongMember(const std::string& path, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(path.empty() ? "top level" : path, ": ", what));
}

std::string ShownJson(const Json& value) {
  if (value.is_array()) return absl::StrCat("an array of ", value.size());
  if (value.is_object()) return "an object";
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > 40) text = text.substr(0, 37) + "...";
  return text;
}

absl::StatusOr<JsonObject> JsonObject::Open(const Json& json, const std::string& path,
                                            std::initializer_list<const char*> known) {
  if (!json.is_object()) {
    return WrongMember(path, absl::StrCat("got ", ShownJson(json), ", need an object {...}"));
  }
  for (const auto& [name, value] : json.items()) {
    bool found = false;
    for (const char* each : known) found = found || name == each;
    if (!found) {
      return WrongMember(
          MemberPath(path, name),
          absl::StrCat("unknown member, need one of ", absl::StrJoin(known, ", "),
                       DidYouMean(name, std::vector<std::string>(known.begin(), known.end()))));
    }
  }
  return JsonObject(json, path);
}

std::string JsonObject::PathOf(const char* name) const {
  return MemberPath(path_, name);
}

const Json* JsonObject::Find(const char* name) const {
  const auto at = json_->find(name);
  return at == json_->end() ? nullptr : &*at;
}

absl::StatusOr<const Json*> JsonObject::Need(const char* name) const {
  const Json* found = Find(name);
  if (found == nullptr) return WrongMember(path_, absl::StrCat("has no \"", name, "\""));
  return found;
}

absl::Status JsonObject::Read(const char* name, float& value) const {
  const Json* found = Find(name);
  return found == nullptr ? absl::OkStatus() : ReadNumber(*found, PathOf(name), value);
}

absl::Status JsonObject::Read(const char* name, double& value) const {
  const Json* found = Find(name);
  return found == nullptr ? absl::OkStatus() : ReadNumber(*found, PathOf(name), value);
}

absl::Status JsonObject::Read(const char* name, bool& value) const {
  const Json* found = Find(name);
  if (found == nullptr) return absl::OkStatus();
  if (!found->is_boolean()) {
    return WrongMember(PathOf(name),
                       absl::StrCat("got ", ShownJson(*found), ", need true or false"));
  }
  value = found->get<bool>();
  return absl::OkStatus();
}

absl::Status JsonObject::Read(const char* name, std::string& value) const {
  const Json* found = Find(name);
  if (found == nullptr) return absl::OkStatus();
  if (!found->is_string()) {
    return WrongMember(PathOf(name), absl::StrCat("got ", ShownJson(*found), ", need a string"));
  }
  value = found->get<std::string>();
  return absl::OkStatus();
}

absl::Status JsonObject::ReadNumber(const Json& json, const std::string& path, double& value) {
  if (!json.is_number()) {
    return WrongMember(path, absl::StrCat("got ", ShownJson(json), ", need a number"));
  }
  value = json.get<double>();
  return absl::OkStatus();
}

absl::Status JsonObject::ReadNumber(const Json& json, const std::string& path, float& value) {
  double number = 0;
  SINEW_RETURN_IF_ERROR(ReadNumber(json, path, number));
  if (!(std::abs(number) <= std::numeric_limits<float>::max())) {
    return WrongMember(path, absl::StrCat("got ", ShownJson(json), ", which does not fit 32 bits"));
  }
  value = static_cast<float>(number);
  return absl::OkStatus();
}

}  // namespace sinew::bake
