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
  v1::SessionSource source;
  if (const absl::Status status = client::SetRecipe(text, source); !status.ok()) {
    fuzz::RequireRefusal(status);
    (void)bake::RecipeText(text);  // takes any text
    return 0;
  }
  const absl::StatusOr<Recipe> recipe =
      source.has_recipe() ? server::ToRecipe(source.recipe()) : ParseRecipe(source.recipe_text());
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
    v1::SessionSource again;
    fuzz::Require(client::SetRecipe(form, again).ok() &&
                      again.recipe().SerializeAsString() == resolved.SerializeAsString(),
                  "JSON that is read back: " + form);
  }
  (void)bake::RecipeText(client::RecipeJson(resolved));
  return 0;
}
