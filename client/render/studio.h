// studio.h - lights, clay and ground: the light of a visible point before shadows.
#pragma once

#include <Eigen/Core>

#include "client/render/render.h"
#include "client/render/surface.h"
#include "client/render/tracer.h"

namespace sinew::client {

// One visible point with its unshadowed light.
struct Sample {
  Eigen::Vector3f point;   // local units
  Eigen::Vector3f origin;  // where its shadow rays start
  Eigen::Vector3f normal;  // unit, towards the viewer
  Eigen::Vector3f plain = Eigen::Vector3f::Zero();
  Eigen::Vector3f key = Eigen::Vector3f::Zero();
  Eigen::Vector3f ambient = Eigen::Vector3f::Zero();
  bool wrong_side = false;  // drawn so: a back face, or a normal that points inwards
};

// Fixed for one picture; lights turn with the camera, so that all views look alike. Thread-safe.
class Studio {
 public:
  // For pictures of `surface` and of other surfaces in its units. kInvalidArgument: a camera
  // without direction, or values that are not finite.
  static absl::StatusOr<Studio> Create(const Surface& surface, const Camera& camera,
                                       const RenderOptions& options);

  // The ray through the picture at (x, y) in pixels from the upper left corner.
  Ray CameraRay(float x, float y) const;

  // Width of a pixel at `distance` along a camera ray.
  float Footprint(float distance) const { return pixel_ * distance; }

  // The sample at a hit on `surface`: the one this studio was made for, or another in its units.
  Sample AtHit(const Surface& surface, const Ray& ray, const Hit& hit) const;

  // Opacity of translucent skin at a hit: higher at grazing angles, so that its outline is
  // visible.
  float Opacity(const Ray& ray, const Sample& skin) const;

  // The ground where `ray` meets it, if the ground is drawn and near enough to show a shadow.
  std::optional<Sample> AtGround(const Ray& ray, float y) const;

  // Whether `ray` hits the ground from above within its length.
  bool MeetsGround(const Ray& ray) const {
    return ground_seen_ && up_.dot(ray.origin) > ground_ &&
           up_.dot(ray.origin + ray.length * ray.direction) < ground_;
  }

  // Linear colour of the background; `y` in pixels.
  Eigen::Vector3f Background(float y) const;

  const Eigen::Vector3f& key_direction() const { return key_direction_; }

 private:
  explicit Studio(const RenderOptions& options) : options_(options) {}

  Eigen::Vector3f Albedo(const Surface& surface, const Hit& hit) const;

  RenderOptions options_;
  Eigen::Vector3f wrong_side_;  // linear
  Eigen::Vector3f eye_, right_, top_, back_, up_;
  Eigen::Vector3f key_direction_, fill_direction_, rim_direction_;
  std::optional<Eigen::Vector3f> background_;  // linear; unset = the gradient
  float pixel_ = 0;                            // width of a pixel at distance 1
  float ground_ = 0;                           // height along up_
  bool ground_seen_ = false;
};

}  // namespace sinew::client
