// recipe.h - recipes between protobuf, text and core.
//
// Parameters map by name through reflection: a stage's message has the fields that the method's
// parameters have, and their enumerations have the choices, which a test compares.
#pragma once

#include <absl/status/statusor.h>

#include "core/deform/engine/params.h"
#include "server/base/config.h"
#include "sinew/v1/recipe.pb.h"
#include "sinew/v1/session_service.pb.h"

namespace sinew::server {

// kInvalidArgument: no stages, an unset or unknown method, an unknown field, a value out of range;
// with the path.
absl::StatusOr<Recipe> ToRecipe(const v1::Recipe& recipe);

// The recipe or text of a recipe. kInvalidArgument: neither is set, or as above;
// kResourceExhausted: the text, or the serialised recipe, is too long.
absl::StatusOr<Recipe> RecipeOf(const v1::SessionSource& source, const SessionConfig& limits);

// With every default filled in.
v1::Recipe ToProto(const Recipe& recipe);

}  // namespace sinew::server
