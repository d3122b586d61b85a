// recipe_json.cc - the JSON of a recipe: read by the client library, checked by the server.
#include "client/lib/codec/recipe_json.h"

#include <google/protobuf/util/json_util.h>

#include "client/bake/character/recipe_text.h"
#include "core/deform/engine/recipe_text.h"
#include "server/convert/recipe.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sinew;
  const std::string text(fuzz::Text(data, size));
  const absl::StatusOr<v1::Recipe> message = client::ParseRecipeJson(text);
  if (!message.ok()) {
    fuzz::RequireRefusal(message.status());
    (void)bake::RecipeText(text);  // takes any text
    return 0;
  }
  const absl::StatusOr<Recipe> recipe = server::ToRecipe(*message);
  if (!recipe.ok()) {
    fuzz::RequireRefusal(recipe.status());
    return 0;
  }
  // What the server answers with every default filled in, in protobuf's JSON, and as the client and
  // the command line see it.
  const v1::Recipe resolved = server::ToProto(*recipe);
  std::string json;
  fuzz::Require(google::protobuf::util::MessageToJsonString(resolved, &json).ok(), "JSON");
  for (const std::string& form : {json, client::RecipeJson(resolved)}) {
    const absl::StatusOr<v1::Recipe> again = client::ParseRecipeJson(form);
    fuzz::Require(again.ok() && again->SerializeAsString() == resolved.SerializeAsString(),
                  "JSON that is read back: " + form);
  }
  (void)bake::RecipeText(client::RecipeJson(resolved));
  return 0;
}
