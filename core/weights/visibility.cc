#include "core/weights/visibility.h"

#include <absl/strings/str_cat.h>
#include <embree3/rtcore.h>

#include <algorithm>

namespace sinew::weights {
namespace {

constexpr float kShortened = 1e-5f;  // of the ray, at both ends
constexpr double kTouches = 1e-9;    // unit space: closer than this nothing can be in between
constexpr double kBeyond = 8;        // unit space: no skin is farther away

// Rejects hits that do not block: faces around the start point, and back faces.
void Filter(const RTCFilterFunctionNArguments* args) {
  const Skin& skin = *static_cast<const Skin*>(args->geometryUserPtr);
  for (unsigned int k = 0; k < args->N; ++k) {
    if (args->valid[k] != -1) continue;
    const Triangle& corner = skin.triangles[RTCHitN_primID(args->hit, args->N, k)];
    const Vec3d direction = {RTCRayN_dir_x(args->ray, args->N, k),
                             RTCRayN_dir_y(args->ray, args->N, k),
                             RTCRayN_dir_z(args->ray, args->N, k)};
    const Vec3d normal = Cross(skin.points[corner[1]] - skin.points[corner[0]],
                               skin.points[corner[2]] - skin.points[corner[0]]);
    const std::uint32_t start = RTCRayN_id(args->ray, args->N, k);
    const bool own = std::ranges::find(corner, start) != corner.end();
    if (own || !(skin.side * Dot(normal, direction) < 0)) args->valid[k] = 0;
  }
}

}  // namespace

void Visibility::Release::operator()(RTCDeviceTy* device) const {
  rtcReleaseDevice(device);
}

void Visibility::Release::operator()(RTCSceneTy* scene) const {
  rtcReleaseScene(scene);
}

absl::StatusOr<Visibility> Visibility::Create(const Skin& skin) {
  Visibility sight(skin);
  for (const Vec3d& p : skin.points) sight.vertices_.push_back(ToFloat(p));
  sight.vertices_.emplace_back();
  sight.device_.reset(rtcNewDevice(nullptr));
  RTCDevice device = sight.device_.get();
  if (device == nullptr) return absl::InternalError("weights: Embree cannot create a device");
  sight.scene_.reset(rtcNewScene(device));
  RTCScene scene = sight.scene_.get();
  rtcSetSceneFlags(scene, RTC_SCENE_FLAG_ROBUST);
  if (!skin.triangles.empty()) {
    RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
    rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3,
                               sight.vertices_.data(), 0, sizeof(Vec3f), skin.points.size());
    rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3,
                               skin.triangles.data(), 0, sizeof(Triangle), skin.triangles.size());
    rtcSetGeometryUserData(geometry, const_cast<Skin*>(&skin));
    rtcSetGeometryOccludedFilterFunction(geometry, Filter);
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(scene, geometry);
    rtcReleaseGeometry(geometry);
  }
  rtcCommitScene(scene);
  switch (const RTCError error = rtcGetDeviceError(device)) {
    case RTC_ERROR_NONE:
      return sight;
    case RTC_ERROR_OUT_OF_MEMORY:
      return absl::ResourceExhaustedError("weights: out of memory for the ray tracer");
    default:
      return absl::InternalError(absl::StrCat("weights: Embree error ", static_cast<int>(error)));
  }
}

bool Visibility::Sees(std::uint32_t point, const Vec3d& target) const {
  const Vec3d& from = skin_->points[point];
  Vec3d way = target - from;
  const double length = Length(way);
  if (!(length > kTouches)) return true;
  if (length > kBeyond) way = (kBeyond / length) * way;
  const Vec3f origin = ToFloat(from), direction = ToFloat(way);
  RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  RTCRay ray{};
  ray.org_x = origin.x;
  ray.org_y = origin.y;
  ray.org_z = origin.z;
  ray.dir_x = direction.x;
  ray.dir_y = direction.y;
  ray.dir_z = direction.z;
  ray.tnear = kShortened;
  ray.tfar = 1 - kShortened;
  ray.mask = ~0u;
  ray.id = point;
  rtcOccluded1(scene_.get(), &context, &ray);
  return ray.tfar >= 0;
}

}  // namespace sinew::weights
