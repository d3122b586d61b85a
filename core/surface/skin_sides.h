// skin_sides.h - where normals that follow the winding of faces point into the skin: faces turn
// over where a joint mirrors, while the skin's outside stays.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/types.h"

namespace sinew {

// -1 where a skin matrix mirrors, else 1.
inline float SideOf(const Affine& skin) {
  return Determinant(Linear(ToDouble(skin))) < 0 ? -1.0f : 1.0f;
}

// The same by bindings. Points that follow one another share their pivot as a rule.
class SkinSides {
 public:
  explicit SkinSides(std::span<const Affine> skin) : skin_(skin) {}
  float Of(std::uint16_t binding) {
    if (binding != last_) {
      last_ = binding;
      side_ = SideOf(skin_[binding]);
    }
    return side_;
  }

 private:
  std::span<const Affine> skin_;
  std::int32_t last_ = -1;
  float side_ = 1;
};

}  // namespace sinew
