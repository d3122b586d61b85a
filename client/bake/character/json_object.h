// json_object.h - objects of JSON that people write, with the path of the first wrong member in
// errors: `muscles[2].via[0].at: got "up", need an array of 3 numbers`. Reads only, so that any
// thread may.
#pragma once

#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>

#include <array>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/status.h"

namespace sinew::bake {

// kInvalidArgument "PATH: WHAT".
absl::Status WrongMember(const std::string& path, const std::string& what);

// A value for people: "an array of 3", or its text, cut after 40 letters.
std::string ShownJson(const nlohmann::json& value);

// An object whose members are known by name. The JSON must outlive it.
// kInvalidArgument of all: "PATH: WHAT" for a member that is missing, unknown or of another type.
class JsonObject {
 public:
  // path: of the object, such as "joints[2]"; empty for the whole file. known: members it may have;
  // others are an error with a suggestion.
  static absl::StatusOr<JsonObject> Open(const nlohmann::json& json, const std::string& path,
                                         std::initializer_list<const char*> known);

  const std::string& path() const { return path_; }
  // The path of a member, whether or not it is there: "joints[2].parent".
  std::string PathOf(const char* name) const;
  // Null if there is no such member. Valid as long as the JSON.
  const nlohmann::json* Find(const char* name) const;
  // An error instead of null.
  absl::StatusOr<const nlohmann::json*> Need(const char* name) const;

  // These leave `value` as it is where there is no such member. A number that a float cannot hold
  // is an error for one. After an error some of an array's `values` may have changed.
  absl::Status Read(const char* name, float& value) const;
  absl::Status Read(const char* name, double& value) const;
  absl::Status Read(const char* name, bool& value) const;
  absl::Status Read(const char* name, std::string& value) const;
  template <class Number, std::size_t N>
  absl::Status Read(const char* name, std::array<Number, N>& values) const {
    const nlohmann::json* found = Find(name);
    if (found == nullptr) return absl::OkStatus();
    if (!found->is_array() || found->size() != N) {
      return WrongMember(PathOf(name), absl::StrCat("got ", ShownJson(*found),
                                                    ", need an array of ", N, " numbers"));
    }
    for (std::size_t i = 0; i < N; ++i) {
      SINEW_RETURN_IF_ERROR(
          ReadNumber((*found)[i], absl::StrCat(PathOf(name), "[", i, "]"), values[i]));
    }
    return absl::OkStatus();
  }
  // Reads it as Read does, but a missing member is an error.
  template <class T>
  absl::Status ReadNeeded(const char* name, T& value) const {
    SINEW_RETURN_IF_ERROR(Need(name).status());
    return Read(name, value);
  }

 private:
  JsonObject(const nlohmann::json& json, std::string path) : json_(&json), path_(std::move(path)) {}
  static absl::Status ReadNumber(const nlohmann::json& json, const std::string& path, float& value);
  static absl::Status ReadNumber(const nlohmann::json& json, const std::string& path,
                                 double& value);

  const nlohmann::json* json_;
  std::string path_;
};

}  // namespace sinew::bake
