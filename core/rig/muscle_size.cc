#include "core/rig/muscle_size.h"

#include <absl/strings/str_cat.h>

namespace sinew {

absl::Status CheckMuscleSizes(std::span<const Muscle> muscles, const MuscleTables& tables,
                              double diagonal) {
  if (!(diagonal > 0)) return absl::OkStatus();
  for (std::size_t m = 0; m < muscles.size(); ++m) {
    const Muscle& muscle = muscles[m];
    const struct {
      const char *field, *what;
      double value, most;
    } lengths[] = {
        {".width", "", muscle.width, diagonal},
        {".depth", "", muscle.depth, diagonal},
        {".fat", "", muscle.fat.value_or(0), diagonal},
        {".wrap.radius", "", muscle.wrap.radius, diagonal},
        {".insertion", "a belly of ", tables.rows[m].belly, 2 * diagonal},  // two semi-axes
    };
    for (const auto& length : lengths) {
      if (length.value <= length.most) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("rig.muscles[", m, "]", length.field, ": got ", length.what, length.value,
                       ", need at most ", length.most, length.most > diagonal ? ", twice" : ",",
                       " the diagonal of the mesh's bounding box"));
    }
  }
  return absl::OkStatus();
}

}  // namespace sinew
