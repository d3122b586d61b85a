#include "server/convert/metrics.h"

namespace sinew::server {

v1::FrameMetrics ToProto(const metrics::FrameMetrics& figures) {
  v1::FrameMetrics proto;
  if (const auto& v = figures.volume_ratio) proto.set_volume_ratio(*v);
  if (const auto& v = figures.minimum_thickness) proto.set_minimum_thickness(*v);
  if (const auto& v = figures.bulge) proto.set_bulge(*v);
  if (const auto& v = figures.edge_distortion) proto.set_edge_distortion(*v);
  if (const auto& v = figures.worst_edge) proto.set_worst_edge(*v);
  if (const auto& v = figures.area_distortion) proto.set_area_distortion(*v);
  if (const auto& v = figures.flipped_fraction) proto.set_flipped_fraction(*v);
  if (const auto& v = figures.flipped_beyond_linear) proto.set_flipped_beyond_linear(*v);
  if (const auto& v = figures.self_intersections) proto.set_self_intersections(*v);
  if (const auto& v = figures.overlap) proto.set_overlap(*v);
  if (const auto& v = figures.roughness) proto.set_roughness(*v);
  if (const auto& v = figures.roughness_999) proto.set_roughness_999(*v);
  if (const auto& v = figures.rough_fraction) proto.set_rough_fraction(*v);
  if (const auto& v = figures.jerk) proto.set_jerk(*v);
  if (const auto& v = figures.pop) proto.set_pop(*v);
  if (const auto& v = figures.pop_999) proto.set_pop_999(*v);
  return proto;
}

}  // namespace sinew::server
