#include "server/convert/metrics.h"

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <set>

namespace sinew::server {
namespace {

// Every field but those that the call fills in, each with a value of its own.
TEST(MetricsConversion, EveryFigureHasItsField) {
  metrics::FrameMetrics figures;
  double next = 1;
  for (std::optional<double>* figure :
       {&figures.volume_ratio, &figures.minimum_thickness, &figures.bulge, &figures.edge_distortion,
        &figures.worst_edge, &figures.area_distortion, &figures.flipped_fraction,
        &figures.flipped_beyond_linear, &figures.overlap, &figures.roughness,
        &figures.roughness_999, &figures.rough_fraction, &figures.jerk, &figures.pop,
        &figures.pop_999}) {
    *figure = next++;
  }
  figures.self_intersections = 7;
  const v1::FrameMetrics proto = ToProto(figures);
  EXPECT_EQ(proto.roughness(), *figures.roughness);
  EXPECT_EQ(proto.roughness_999(), *figures.roughness_999);
  EXPECT_EQ(proto.rough_fraction(), *figures.rough_fraction);
  std::set<double> values;
  std::size_t optional = 0;
  const auto& fields = *v1::FrameMetrics::descriptor();
  for (int i = 0; i < fields.field_count(); ++i) {
    const auto* field = fields.field(i);
    if (!field->has_presence()) continue;
    ++optional;
    EXPECT_TRUE(proto.GetReflection()->HasField(proto, field)) << field->name();
    if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_DOUBLE) continue;
    values.insert(proto.GetReflection()->GetDouble(proto, field));
  }
  EXPECT_EQ(values.size() + 1, optional) << "a count, and doubles that differ";
  const v1::FrameMetrics none = ToProto(metrics::FrameMetrics{});
  EXPECT_EQ(none.ByteSizeLong(), 0u);
}

}  // namespace
}  // namespace sinew::server
