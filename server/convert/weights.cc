#include "server/convert/weights.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "server/base/printable.h"
#include "server/base/status.h"
#include "server/convert/mesh.h"
#include "server/convert/rig.h"
#include "server/convert/unknown_fields.h"

namespace sinew::server {
namespace {

constexpr int kUnseenListed = 1000, kWarningsListed = 100;

// Sets `to` if the field is there.
template <class Number>
void Take(bool there, Number value, Number& to) {
  if (there) to = value;
}

// Replaces core's name of an option in an error by the name of the request's field.
absl::Status WithRequestField(const absl::Status& status) {
  constexpr std::array<std::pair<absl::string_view, const char*>, 6> kNames = {
      {{"inner: ", "capsule.inner"},
       {"outer: ", "capsule.outer"},
       {"falloff: ", "capsule.falloff"},
       {"heat: ", "heat.strength"},
       {"resolution: ", "geodesic.resolution"},
       {"smoothness: ", "geodesic.smoothness"}}};
  for (const auto& [option, field] : kNames) {
    absl::string_view what = status.message();
    if (absl::ConsumePrefix(&what, option)) return InvalidField(field, StdView(what));
  }
  return WithDetails(status);
}

absl::Status CheckMethodOptions(const v1::ComputeWeightsRequest& request) {
  const struct {
    bool there;
    const char* field;
    v1::WeightMethod method;
  } rows[] = {{request.has_capsule(), "capsule", v1::WEIGHT_METHOD_CAPSULE},
              {request.has_heat(), "heat", v1::WEIGHT_METHOD_HEAT},
              {request.has_geodesic(), "geodesic", v1::WEIGHT_METHOD_GEODESIC}};
  for (const auto& row : rows) {
    if (!row.there || row.method == request.method()) continue;
    const std::string& name = v1::WeightMethod_Name(request.method());
    return InvalidField(row.field, absl::StrCat("set, but the method is ",
                                                absl::StripPrefix(name, "WEIGHT_METHOD_")));
  }
  return absl::OkStatus();
}

absl::StatusOr<WeightMethod> ToMethod(v1::WeightMethod method) {
  switch (method) {
    case v1::WEIGHT_METHOD_CAPSULE:
      return WeightMethod::kCapsule;
    case v1::WEIGHT_METHOD_HEAT:
      return WeightMethod::kHeat;
    case v1::WEIGHT_METHOD_GEODESIC:
      return WeightMethod::kGeodesic;
    default:
      return InvalidField("method", absl::StrCat("got ", static_cast<int>(method),
                                                 ", need CAPSULE, HEAT or GEODESIC"));
  }
}

absl::StatusOr<std::vector<std::uint8_t>> ReadCarriers(const v1::Rig& rig,
                                                       const v1::ComputeWeightsRequest& request,
                                                       const Skeleton& skeleton) {
  std::vector<std::uint8_t> carriers(skeleton.joints(), 0);
  if (request.joints_size() == 0) {
    for (int j = 0; j < rig.joints_size(); ++j) {
      carriers[static_cast<std::size_t>(j)] = rig.joints(j).helper() ? 0 : 1;
    }
    return carriers;
  }
  for (int k = 0; k < request.joints_size(); ++k) {
    const std::string field = absl::StrCat("joints[", k, "]");
    const std::uint32_t joint = skeleton.Find(request.joints(k));
    if (joint == kNoParent) {
      return InvalidField(field,
                          absl::StrCat("got \"", Printable(Shortened(request.joints(k), 100)),
                                       "\", which the rig lacks"));
    }
    if (carriers[joint] != 0) {
      return InvalidField(field, absl::StrCat("got \"", request.joints(k), "\" a second time"));
    }
    carriers[joint] = 1;
  }
  return carriers;
}

template <class T>
void SetArray(v1::Array& array, v1::ArrayType type, std::uint32_t columns,
              const std::vector<T>& values) {
  array.set_type(type);
  array.set_columns(columns);
  array.set_rows(values.size() / columns);
  array.set_data(values.data(), values.size() * sizeof(T));
}

// The skin of one part; its joints are those that carry some of it, in the rig's order.
absl::Status MakeSkin(const MeshPart& part, std::span<const Binding> bound,
                      std::span<const std::optional<AffineD>> inverse,
                      const InfluenceSource& influences, v1::Skin& skin) {
  const std::uint64_t begin = influences.offsets[part.vertex_offset];
  const std::uint64_t end = influences.offsets[part.vertex_offset + part.vertex_count];
  std::vector<std::uint16_t> slot(inverse.size(), 0);
  for (std::uint64_t i = begin; i < end; ++i) slot[influences.bindings[i]] = 1;
  std::vector<const AffineD*> own(inverse.size(), nullptr);
  for (const Binding& binding : bound) {
    const AffineD*& matrix = own[binding.joint];
    if (matrix == nullptr && TryInverse(binding.inverse_bind)) matrix = &binding.inverse_bind;
  }
  std::vector<float> matrices;
  for (std::size_t j = 0; j < slot.size(); ++j) {
    if (slot[j] == 0) continue;
    if (own[j] == nullptr && !inverse[j]) {
      return InvalidField(absl::StrCat("rig.joints[", j, "]"),
                          "its rest pose is singular, so it cannot carry skin");
    }
    const AffineD& matrix = own[j] != nullptr ? *own[j] : *inverse[j];
    for (const double value : matrix.m) matrices.push_back(static_cast<float>(value));
    slot[j] = static_cast<std::uint16_t>(skin.joints_size());
    skin.add_joints(static_cast<std::uint32_t>(j));
  }
  std::vector<std::uint8_t> counts;
  for (std::uint32_t v = part.vertex_offset; v < part.vertex_offset + part.vertex_count; ++v) {
    counts.push_back(static_cast<std::uint8_t>(influences.offsets[v + 1] - influences.offsets[v]));
  }
  std::vector<std::uint16_t> joints;
  for (std::uint64_t i = begin; i < end; ++i) joints.push_back(slot[influences.bindings[i]]);
  const auto at = [&](std::uint64_t i) {
    return influences.weights.begin() + static_cast<std::ptrdiff_t>(i);
  };
  SetArray(*skin.mutable_inverse_bind(), v1::ARRAY_TYPE_FLOAT32, 12, matrices);
  SetArray(*skin.mutable_influence_counts(), v1::ARRAY_TYPE_UINT8, 1, counts);
  SetArray(*skin.mutable_influence_joints(), v1::ARRAY_TYPE_UINT16, 1, joints);
  SetArray(*skin.mutable_influence_weights(), v1::ARRAY_TYPE_FLOAT32, 1,
           std::vector<float>(at(begin), at(end)));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<WeightOptions> ReadWeightOptions(const v1::ComputeWeightsRequest& request,
                                                const WeightsConfig& limits,
                                                const RigConfig& rigs) {
  if (static_cast<std::uint64_t>(request.joints_size()) > rigs.joints) {
    return LimitExceeded("joints", static_cast<std::uint64_t>(request.joints_size()), rigs.joints,
                         "joints", "max-rig-joints");
  }
  SINEW_RETURN_IF_ERROR(RefuseUnknownFields(request, ""));
  WeightOptions options;
  SINEW_ASSIGN_OR_RETURN(options.method, ToMethod(request.method()));
  SINEW_RETURN_IF_ERROR(CheckMethodOptions(request));
  const v1::CapsuleWeights& capsule = request.capsule();
  const v1::GeodesicWeights& geodesic = request.geodesic();
  Take(request.has_max_influences(), request.max_influences(), options.max_influences);
  Take(request.has_prune(), request.prune(), options.prune);
  Take(request.has_smooth(), request.smooth(), options.smooth);
  Take(capsule.has_inner(), capsule.inner(), options.inner);
  Take(capsule.has_outer(), capsule.outer(), options.outer);
  Take(capsule.has_falloff(), capsule.falloff(), options.falloff);
  Take(request.heat().has_strength(), request.heat().strength(), options.heat);
  Take(request.heat().has_facing(), request.heat().facing(), options.facing);
  Take(geodesic.has_resolution(), geodesic.resolution(), options.resolution);
  Take(geodesic.has_smoothness(), geodesic.smoothness(), options.smoothness);
  SINEW_RETURN_IF_ERROR(WithRequestField(CheckWeightOptions(options)));
  if (options.max_influences > rigs.influences) {
    return LimitExceeded("max_influences", options.max_influences, rigs.influences, "influences",
                         "max-vertex-influences");
  }
  if (geodesic.has_resolution() && options.resolution > limits.resolution) {
    return LimitExceeded("geodesic.resolution", options.resolution, limits.resolution, "voxels",
                         "max-weight-resolution");
  }
  // A default that a server does not allow becomes what it does.
  options.resolution = std::min(options.resolution, static_cast<std::uint32_t>(limits.resolution));
  options.max_influences =
      std::min(options.max_influences, static_cast<std::uint32_t>(rigs.influences));
  return options;
}

absl::StatusOr<RigWeightsInput> ReadWeightsInput(const v1::Rig& rig,
                                                 const v1::ComputeWeightsRequest& request,
                                                 const RigConfig& limits) {
  int without_skin = 0;
  SINEW_ASSIGN_OR_RETURN(RigSource source, ReadRig(rig, limits, without_skin));
  SINEW_ASSIGN_OR_RETURN(Skeleton skeleton,
                         Skeleton::Create(std::move(source.joints), std::move(source.rest_local)));
  SINEW_ASSIGN_OR_RETURN(std::vector<std::uint8_t> carriers, ReadCarriers(rig, request, skeleton));
  RigWeightsInput input{.mesh = std::move(source.mesh),
                        .skeleton = std::move(skeleton),
                        .bindings = {},
                        .carriers = std::move(carriers)};
  for (int m = 0; m < rig.meshes_size(); ++m) {
    std::vector<Binding>& bindings = input.bindings.emplace_back();
    if (!rig.meshes(m).has_skin()) continue;
    SINEW_ASSIGN_OR_RETURN(
        bindings, ReadBindings(rig.meshes(m).skin(), absl::StrCat("rig.meshes[", m, "].skin"),
                               input.skeleton.joints()));
  }
  return input;
}

absl::Status ReplaceSkins(const RigWeightsInput& input, const RigWeights& weights, v1::Rig& rig) {
  for (int m = 0; m < rig.meshes_size(); ++m) {
    const auto p = static_cast<std::size_t>(m);
    v1::Skin skin;
    SINEW_RETURN_IF_ERROR(MakeSkin(input.mesh.parts[p], input.bindings[p],
                                   weights.inverse_bind[weights.group[p]], weights.influences,
                                   skin));
    *rig.mutable_meshes(m)->mutable_skin() = std::move(skin);
  }
  return absl::OkStatus();
}

v1::WeightsReport ToProto(const WeightReport& report) {
  v1::WeightsReport proto;
  proto.set_unseen_count(report.unseen.size());
  for (const std::uint32_t vertex : report.unseen) {
    if (proto.unseen_vertices_size() == kUnseenListed) break;
    proto.add_unseen_vertices(vertex);
  }
  for (const std::uint32_t joint : report.idle_joints) proto.add_idle_joints(joint);
  for (const Problem& warning : report.notes) {
    if (proto.warnings_size() == kWarningsListed) break;
    *proto.add_warnings() = ToProto(warning);
  }
  return proto;
}

}  // namespace sinew::server
