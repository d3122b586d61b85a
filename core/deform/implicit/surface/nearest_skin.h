// nearest_skin.h - the nearest point of the skin to points of islands (eyes, buttons, nails).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/types.h"

namespace sinew {

// Immutable; Find is thread-safe. Among points at the same distance the least by x, y, z wins, so
// that neither the order of the file nor the search decides; points at one place are alike.
class NearestSkin {
 public:
  struct Place {
    Vec3d at;
    std::uint32_t point;
  };
  explicit NearestSkin(std::vector<Place> skin);
  ~NearestSkin();

  bool empty() const;
  // The point nearest to `at`; there must be one.
  std::uint32_t Find(const Vec3d& at) const;

 private:
  class Tree;
  std::unique_ptr<const Tree> tree_;
};

}  // namespace sinew
