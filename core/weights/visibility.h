// visibility.h - whether a point of the skin sees a point of a bone through the body.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>

#include "core/base/types.h"
#include "core/weights/skin.h"

namespace sinew::weights {

// Rays through the skin's triangles. Only a face met from its front blocks, where the line would
// re-enter the body: leaving the body does not hide a bone that lies outside it, passing through
// the gap between two limbs does. The skin must outlive it.
class Visibility {
 public:
  // kResourceExhausted: the ray tracer has no memory.
  static absl::StatusOr<Visibility> Create(const Skin& skin);
  Visibility(Visibility&&) noexcept;
  Visibility& operator=(Visibility&&) noexcept;
  ~Visibility();

  // Faces around the point itself never block. Thread-safe; the answer does not depend on how the
  // search tree was built, because its tests are conservative and each triangle is tested alone.
  bool Sees(std::uint32_t point, const Vec3d& target) const;

  // Bytes for so many triangles.
  static std::size_t CostBytes(std::size_t triangles) {
    return (std::size_t{1} << 20) + 320 * triangles;
  }

 private:
  struct Rays;
  explicit Visibility(std::unique_ptr<Rays> rays);
  std::unique_ptr<Rays> rays_;
};

}  // namespace sinew::weights
