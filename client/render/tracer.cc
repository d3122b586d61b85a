#include "client/render/tracer.h"

#include <absl/strings/str_cat.h>
#include <tbb/task_arena.h>

#include <utility>

#include "core/base/status.h"

namespace sinew::client {
namespace {

absl::Status DeviceStatus(RTCDevice device) {
  switch (const RTCError error = rtcGetDeviceError(device)) {
    case RTC_ERROR_NONE:
      return absl::OkStatus();
    case RTC_ERROR_OUT_OF_MEMORY:
      return absl::ResourceExhaustedError("render: out of memory in Embree");
    default:
      return absl::InternalError(absl::StrCat("render: Embree error ", static_cast<int>(error)));
  }
}

struct alignas(64) Valid {
  std::array<int, kPacket> lane;  // -1 = a ray, 0 = none
};

Valid Fill(const Rays& rays, RTCRay16& out) {
  Valid valid;
  out = RTCRay16();  // Embree may also check the lanes without a ray
  for (std::size_t k = 0; k < kPacket; ++k) {
    valid.lane[k] = rays[k].has_value() ? -1 : 0;
    if (!rays[k].has_value()) continue;
    const Ray& ray = *rays[k];
    out.org_x[k] = ray.origin.x();
    out.org_y[k] = ray.origin.y();
    out.org_z[k] = ray.origin.z();
    out.dir_x[k] = ray.direction.x();
    out.dir_y[k] = ray.direction.y();
    out.dir_z[k] = ray.direction.z();
    out.tnear[k] = 0;
    out.tfar[k] = ray.length;
    out.time[k] = 0;
    out.mask[k] = ~0u;
    out.id[k] = 0;
    out.flags[k] = 0;
  }
  return valid;
}

}  // namespace

absl::StatusOr<Tracer> Tracer::Create(Surface surface) {
  Device device(rtcNewDevice(nullptr));
  if (device == nullptr) return absl::InternalError("render: Embree has no device");
  Scene scene(rtcNewScene(device.get()));
  rtcSetSceneFlags(scene.get(), RTC_SCENE_FLAG_ROBUST);
  RTCGeometry geometry = rtcNewGeometry(device.get(), RTC_GEOMETRY_TYPE_TRIANGLE);
  rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3,
                             surface.points.data(), 0, sizeof(Eigen::Vector3f),
                             surface.points.size() - 1);
  rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3,
                             surface.triangles.data(), 0, sizeof surface.triangles[0],
                             surface.triangles.size());
  rtcCommitGeometry(geometry);
  rtcAttachGeometry(scene.get(), geometry);
  rtcReleaseGeometry(geometry);
  // One thread builds the tree, so that it is always the same tree; a device limited to one thread
  // would limit the whole process.
  tbb::task_arena(1).execute([&] { rtcCommitScene(scene.get()); });
  SINEW_RETURN_IF_ERROR(DeviceStatus(device.get()));
  return Tracer(std::move(surface), std::move(device), std::move(scene));
}

std::array<std::optional<Hit>, kPacket> Tracer::Nearest(const Rays& rays) const {
  RTCRayHit16 packet;
  const Valid valid = Fill(rays, packet.ray);
  for (std::size_t k = 0; k < kPacket; ++k) {
    packet.hit.geomID[k] = RTC_INVALID_GEOMETRY_ID;
    packet.hit.instID[0][k] = RTC_INVALID_GEOMETRY_ID;
  }
  RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  context.flags = RTC_INTERSECT_CONTEXT_FLAG_COHERENT;
  rtcIntersect16(valid.lane.data(), scene_.get(), &context, &packet);
  std::array<std::optional<Hit>, kPacket> hits;
  for (std::size_t k = 0; k < kPacket; ++k) {
    if (valid.lane[k] == 0 || packet.hit.geomID[k] == RTC_INVALID_GEOMETRY_ID) continue;
    const float u = packet.hit.u[k], v = packet.hit.v[k];
    hits[k] = Hit{packet.hit.primID[k], {1 - u - v, u, v}, packet.ray.tfar[k]};
  }
  return hits;
}

std::uint32_t Tracer::Blocked(const Rays& rays) const {
  RTCRay16 packet;
  const Valid valid = Fill(rays, packet);
  RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  rtcOccluded16(valid.lane.data(), scene_.get(), &context, &packet);
  std::uint32_t blocked = 0;
  for (std::size_t k = 0; k < kPacket; ++k) {
    if (valid.lane[k] != 0 && packet.tfar[k] < 0) blocked |= 1u << k;
  }
  return blocked;
}

}  // namespace sinew::client
