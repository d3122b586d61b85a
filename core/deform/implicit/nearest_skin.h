// nearest_skin.h - nearest skin points for attached components (eyes, buttons, nails).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/types.h"

namespace sinew {

// Immutable; Find is thread-safe. Among equally distant points the smallest by x, y, z wins, so
// that the result does not depend on file order or on the search tree.
class NearestSkin {
 public:
  struct Place {
    Vec3d at;
    std::uint32_t point;
  };
  explicit NearestSkin(std::vector<Place> skin);
  ~NearestSkin();

  bool empty() const;
  // The point nearest to `at`; there must be at least one.
  std::uint32_t Find(const Vec3d& at) const;

 private:
  class Tree;
  std::unique_ptr<const Tree> tree_;
};

}  // namespace sinew
