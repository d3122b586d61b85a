// light_buffer.h - a band of a picture between tracing and the final colours.
//
// Sixteen shadow rays a pixel leave grain. Shadow and occlusion are therefore kept apart from the
// light they dim, smoothed over neighbouring pixels that see the same smooth piece of surface, and
// only then multiplied in. This removes the grain and keeps edges and shading.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

namespace sinew::client {

// The light of those samples of a pixel that hit one kind of surface. A surface seen through
// another one contributes its share.
struct Layer {
  Eigen::Vector3f key = Eigen::Vector3f::Zero();      // linear light, dimmed by `visible`
  Eigen::Vector3f ambient = Eigen::Vector3f::Zero();  // linear light, dimmed by `open`
  float visible = 0;                                  // samples that saw the key light
  float open = 0;                                     // samples that saw the sky
  float samples = 0;
  Eigen::Vector3f point = Eigen::Vector3f::Zero();  // where the surface is, mean
  Eigen::Vector3f normal = Eigen::Vector3f::Zero();
};

struct LitPixel {
  Eigen::Vector3f plain = Eigen::Vector3f::Zero();  // linear light that nothing dims
  Layer mesh, inside, ground;                       // inside: seen through a translucent mesh
  float footprint = 0;                              // width of a pixel where the surface is
};

struct LightBuffer {
  std::int64_t width = 0, height = 0;
  std::vector<LitPixel> pixels;  // [height * width]

  LitPixel& At(std::int64_t x, std::int64_t y) {
    return pixels[static_cast<std::size_t>(y * width + x)];
  }
  const LitPixel& At(std::int64_t x, std::int64_t y) const {
    return pixels[static_cast<std::size_t>(y * width + x)];
  }
};

inline constexpr std::int64_t kSmoothingRadius = 3;  // pixels

// The final linear colour of one pixel. Reads pixels up to kSmoothingRadius away.
Eigen::Vector3f Resolve(const LightBuffer& buffer, std::int64_t x, std::int64_t y);

}  // namespace sinew::client
