// recipe_text.cc - recipe text, as requests and the command line hold it.
#include "core/deform/engine/recipe_text.h"

#include "core/deform/engine/deformer.h"
#include "server/convert/recipe.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sinew;
  const absl::StatusOr<Recipe> recipe = ParseRecipe(fuzz::Text(data, size));
  if (!recipe.ok()) {
    fuzz::RequireRefusal(recipe.status());
    return 0;
  }
  const std::string text = FormatRecipe(*recipe);
  const absl::StatusOr<Recipe> again = ParseRecipe(text);
  fuzz::Require(again.ok() && FormatRecipe(*again) == text, "text that is read back: " + text);
  const absl::StatusOr<Recipe> converted = server::ToRecipe(server::ToProto(*recipe));
  fuzz::Require(converted.ok() && FormatRecipe(*converted) == text,
                "a message that is read back: " + text);
  fuzz::Require(DeterminismDigest(*again) == DeterminismDigest(*recipe), "the same digest");
  return 0;
}
