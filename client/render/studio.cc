#include "client/render/studio.h"

#include <absl/strings/str_cat.h>
#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

#include "core/base/status.h"

namespace sinew::client {
namespace {

using Eigen::Vector3d;
using Eigen::Vector3f;

const Vector3f kClay(0.54f, 0.475f, 0.41f);
const Vector3f kWire(0.03f, 0.035f, 0.045f);
const Vector3f kKeyLight(0.98f, 0.93f, 0.85f);
const Vector3f kFillLight(0.14f, 0.17f, 0.21f);
const Vector3f kRimLight(0.16f, 0.17f, 0.18f);
const Vector3f kSky(0.40f, 0.42f, 0.45f);
const Vector3f kEarth(0.25f, 0.23f, 0.21f);
constexpr float kGloss = 0.07f, kShine = 30;
constexpr float kInverted =
    -0.2f;  // cosine of a given normal and its face below which they disagree
constexpr float kGroundReach =
    3.2f;  // half diagonals from the mesh's centre to where shadows have faded
constexpr float kGroundShadow = 0.30f;  // part of the ground's light that the key makes
constexpr float kGroundOcclusion = 0.55f;
constexpr float kSkinOpacity = 0.34f, kOutlineOpacity = 0.95f;  // see-through: facing, and grazed
constexpr float kLift = 1e-4f;  // of shadow rays off their surface, against meeting it again

absl::Status Check(const Camera& camera) {
  const Vector3d eye(camera.eye.data()), target(camera.target.data()), up(camera.up.data());
  const bool finite =
      eye.allFinite() && target.allFinite() && up.allFinite() && std::isfinite(camera.ground);
  if (!finite) return absl::InvalidArgumentError("camera: a value is not finite");
  const Vector3d back = (eye - target).stableNormalized();
  if (!(back.cross(up.stableNormalized()).norm() > 1e-6)) {
    return absl::InvalidArgumentError(
        "camera: eye and target coincide, or up is parallel to the view direction");
  }
  return absl::OkStatus();
}

Vector3f Linear(Rgb colour) {
  const auto linear = [&](std::size_t c) { return ToLinear(static_cast<float>(colour[c]) / 255); };
  return {linear(0), linear(1), linear(2)};
}

float SmoothStep(float low, float high, float value) {
  const float t = std::clamp((value - low) / (high - low), 0.0f, 1.0f);
  return t * t * (3 - 2 * t);
}

}  // namespace

absl::StatusOr<Studio> Studio::Create(const Surface& surface, const Camera& camera,
                                      const RenderOptions& options) {
  SINEW_RETURN_IF_ERROR(Check(camera));
  Studio studio(options);
  const Vector3d up = Vector3d(camera.up.data()).stableNormalized();
  const Vector3d back =
      (Vector3d(camera.eye.data()) - Vector3d(camera.target.data())).stableNormalized();
  const Vector3d right = up.cross(back).normalized();
  const Vector3d level = right.cross(up);
  studio.wrong_side_ = Linear(kWrongSideColour);
  studio.eye_ = surface.ToLocal(camera.eye);
  studio.up_ = up.cast<float>();
  studio.back_ = back.cast<float>();
  studio.right_ = right.cast<float>();
  studio.top_ = back.cross(right).cast<float>();
  studio.key_direction_ = (-0.60 * right + 0.80 * up + 0.62 * level).normalized().cast<float>();
  studio.fill_direction_ = (0.85 * right + 0.10 * up + 0.50 * level).normalized().cast<float>();
  studio.rim_direction_ = (0.45 * right + 0.40 * up - 0.80 * level).normalized().cast<float>();
  studio.pixel_ = static_cast<float>(2 * std::tan(camera.field_of_view / 2) / options.height);
  studio.ground_ = static_cast<float>((camera.ground - up.dot(surface.centre)) * surface.scale);
  studio.ground_seen_ = options.ground && studio.up_.dot(studio.eye_) > studio.ground_;
  if (options.background.has_value()) {
    studio.background_ = Linear(*options.background);
  }
  // Embree ends the process for rays from farther than 1.8e18.
  constexpr float kFarthest = 1e18f;
  const float distance = std::max(studio.eye_.cwiseAbs().maxCoeff(), std::abs(studio.ground_));
  if (!studio.eye_.allFinite() || !(distance <= kFarthest)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "camera: got a distance of ", distance, " times the size of the mesh, need at most ",
        kFarthest, "; the mesh may be one point far from the origin"));
  }
  return studio;
}

Ray Studio::CameraRay(float x, float y) const {
  const float across = (x - static_cast<float>(options_.width) / 2) * pixel_;
  const float down = (y - static_cast<float>(options_.height) / 2) * pixel_;
  return {eye_, (across * right_ - down * top_ - back_).normalized()};
}

Vector3f Studio::Background(float y) const {
  if (background_.has_value()) return *background_;
  const Vector3f top(0.84f, 0.855f, 0.88f), bottom(0.72f, 0.735f, 0.76f);
  const float t = y / static_cast<float>(options_.height);
  return top + (bottom - top) * t;
}

Vector3f Studio::Albedo(const Surface& surface, const Hit& hit) const {
  const auto& corner = surface.triangles[hit.triangle];
  Vector3f albedo = kClay;
  if (!surface.albedo.empty()) {
    albedo.setZero();
    for (std::size_t k = 0; k < 3; ++k) albedo += hit.weights[k] * surface.albedo[corner[k]];
  }
  if (!options_.wire) return albedo;
  const auto point = [&](std::size_t k) -> const Vector3f& {
    return surface.points[corner[k % 3]];
  };
  const float twice_area = (point(1) - point(0)).cross(point(2) - point(0)).norm();
  for (std::size_t k = 0; k < 3; ++k) {
    const float height = twice_area / (point(k + 2) - point(k + 1)).norm();
    const bool edge = (surface.edges[hit.triangle] >> k & 1) != 0;
    if (edge && hit.weights[k] * height < 0.55f * Footprint(hit.distance))
      return 0.35f * albedo + 0.65f * kWire;
  }
  return albedo;
}

Sample Studio::AtHit(const Surface& surface, const Ray& ray, const Hit& hit) const {
  const auto& corner = surface.triangles[hit.triangle];
  const std::array<Vector3f, 3> points = {surface.points[corner[0]], surface.points[corner[1]],
                                          surface.points[corner[2]]};
  const auto& normals = surface.normals[hit.triangle];
  Sample sample;
  sample.point =
      hit.weights[0] * points[0] + hit.weights[1] * points[1] + hit.weights[2] * points[2];
  Vector3f face = (points[1] - points[0]).cross(points[2] - points[0]).stableNormalized();
  Vector3f normal =
      hit.weights[0] * normals[0] + hit.weights[1] * normals[1] + hit.weights[2] * normals[2];
  normal.stableNormalize();
  const bool back = face.dot(ray.direction) > 0;
  const bool inverted = normal.dot(face) < kInverted;
  if (back) face = -face;
  const float side = normal.dot(face) < 0 ? -1.0f : 1.0f;
  sample.normal = side * normal;
  // Shadow rays start on the smooth surface implied by the normals; otherwise the edge of the light
  // shows every triangle. Source: Hanika, Hacking the Shadow Terminator, 2021.
  sample.origin = sample.point + kLift * face;
  for (std::size_t k = 0; k < 3; ++k) {
    const Vector3f n = side * normals[k];
    const float below = std::min(0.0f, (sample.point - points[k]).dot(n));
    sample.origin -= hit.weights[k] * below * n;
  }
  sample.wrong_side = (back || inverted) && surface.albedo.empty();
  const Vector3f albedo = sample.wrong_side ? wrong_side_ : Albedo(surface, hit);
  const Vector3f& n = sample.normal;
  const float key = std::max(0.0f, n.dot(key_direction_));
  const float fill = std::max(0.0f, 0.6f * n.dot(fill_direction_) + 0.4f);
  const float facing = std::max(0.0f, -n.dot(ray.direction));
  const float rim = std::max(0.0f, n.dot(rim_direction_)) * (1 - facing);
  const Vector3f half = (key_direction_ - ray.direction).normalized();
  const float shine =
      kGloss * std::pow(std::max(0.0f, n.dot(half)), kShine) * (key > 0 ? 1.0f : 0.0f);
  const Vector3f sky = kEarth + (kSky - kEarth) * (0.5f + 0.5f * n.dot(up_));
  sample.key = (albedo * key + Vector3f::Constant(shine)).cwiseProduct(kKeyLight);
  sample.ambient = albedo.cwiseProduct(sky + kFillLight * fill + kRimLight * (3 * rim));
  return sample;
}

float Studio::Opacity(const Ray& ray, const Sample& skin) const {
  const float grazing = 1 - std::clamp(-skin.normal.dot(ray.direction), 0.0f, 1.0f);
  return kSkinOpacity + (kOutlineOpacity - kSkinOpacity) * grazing * grazing * grazing;
}

std::optional<Sample> Studio::AtGround(const Ray& ray, float y) const {
  const float fall = -up_.dot(ray.direction);
  if (!ground_seen_ || fall < 1e-4f) return std::nullopt;
  const Vector3f point = ray.origin + ray.direction * ((up_.dot(ray.origin) - ground_) / fall);
  const Vector3f across = point - up_ * up_.dot(point);
  const float shown = 1 - SmoothStep(0.4f * kGroundReach, kGroundReach, across.norm());
  if (shown <= 0) return std::nullopt;
  Sample sample;
  sample.point = point;
  sample.origin = point + kLift * up_;
  sample.normal = up_;
  const Vector3f light = Background(y);
  sample.key = light * (shown * kGroundShadow);
  sample.ambient = light * (shown * kGroundOcclusion);
  sample.plain = light - sample.key - sample.ambient;
  return sample;
}

}  // namespace sinew::client
