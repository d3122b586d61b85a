// skin_sides.h - the side of posed faces: a mirroring joint flips their normals, but not the
// outside of the skin.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/types.h"

namespace sinew {

// -1 if a skin matrix mirrors, else 1.
inline float SideOf(const Affine& skin) {
  return Determinant(Linear(ToDouble(skin))) < 0 ? -1.0f : 1.0f;
}

// By binding, cached: consecutive points usually share their pivot.
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
