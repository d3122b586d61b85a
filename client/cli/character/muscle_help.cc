#include "client/cli/character/muscle_help.h"

#include <absl/strings/str_cat.h>

namespace sinew::cli {
namespace {

// The members that core/muscle/muscle.h checks; client/docs/muscles.md has the same table.
constexpr char kMembers[] =
    R"(--muscles FILE.json gives a character muscles, in place of those it has. The file holds
{"muscles": [{...}, ...]}, each with

member             unit    range                                 default       what
name               -       unique                                needed        what messages call it
origin, insertion  -       {joint, at}                           needed        its ends; origin's joint carries the belly
via                -       [{joint, at}, ...]                    []            points it passes, from origin to insertion
  joint            -       a name                                needed        of a joint of the character
  at               length  [x, y, z]                             needed        in the space of that joint
wrap               -       {...}                                 none          what it bends around instead of passing through
  shape            -       cylinder, sphere                      needed
  joint            -       a name                                needed
  centre           length  [x, y, z]                             needed        in the space of that joint
  axis             -       [x, y, z], not 0 0 0                  needed        of a cylinder; a sphere has none
  radius           length  > 0                                   needed
tendons            length  [>= 0, >= 0]                          [0, 0]        at origin and insertion; shorter than the path
width, depth       length  > 0                                   needed        semi-axes of the belly at rest
width_direction    -       [x, y, z]                             off the bone  of the width, in the space of origin's joint
profile            -       ellipsoid, sine, root_sine, parabola  ellipsoid     thickness along the belly
warp               -       0.1..10                               1             moves the thickest place; 1 for an ellipsoid
tension            -       0.25..4                               1.3           width / depth grows by this when it is fully tense
fat                length  >= 0                                  as at rest    between belly and skin
activation         -       a name                                never tense   control that tenses it, 0 to 1; added if missing

Lengths are in the character's unit (see `sinew inspect`), at most 1e9; width, depth, fat and radius are
at most as long as the diagonal of the character's bounding box, the belly at most twice.
Duplicate members are refused.
Muscles move the skin only if the recipe says so: see `sinew methods muscle` and `sinew methods implicit`.

Example, a file for model:arm:
)";
constexpr char kCommand[] =
    "  sinew render model:arm --muscles biceps.json --deformer 'dqs | implicit' --translucent "
    "--frame 24 --out arm.png\n";

}  // namespace

const char kMuscleExample[] = R"({"muscles": [{
  "name": "biceps",
  "origin": {"joint": "upper_arm", "at": [0, 0.03, 0.016]},
  "via": [{"joint": "upper_arm", "at": [0, 0.255, 0.028]}],
  "insertion": {"joint": "forearm", "at": [0, 0.03, 0.016]},
  "tendons": [0.04, 0.105], "width": 0.022, "depth": 0.02,
  "activation": "biceps_tension"
}]}
)";

std::string MuscleHelp() {
  return absl::StrCat(kMembers, kMuscleExample, kCommand);
}

}  // namespace sinew::cli
