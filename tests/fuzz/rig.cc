// rig.cc - the bytes of a complete upload: parsed, converted and checked as the server does.
#include "server/convert/rig.h"

#include <cmath>

#include "core/deform/engine/deformer.h"
#include "core/parallel/task.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/messages.h"

namespace {

using namespace sinew;

// Small enough for the memory of a target, and still above what a few kilobytes need.
server::RigConfig Limits() {
  server::RigConfig limits;
  limits.map_values = 1 << 18;
  return limits;
}

void CheckSummary(const server::ConvertedRig& converted) {
  const Rig& rig = *converted.rig;
  const v1::RigSummary& summary = converted.summary;
  fuzz::Require(summary.vertices() == rig.vertices() && summary.faces() == rig.mesh().faces() &&
                    static_cast<std::size_t>(summary.joints_size()) == rig.joints(),
                "a summary of the rig");
}

void CheckRig(const Rig& rig) {
  const Mesh& mesh = rig.mesh();
  for (const Vec3f& point : mesh.positions()) {
    fuzz::Require(fuzz::AllFinite(std::array{point.x, point.y, point.z}), "finite positions");
  }
  for (const std::uint32_t vertex : mesh.face_vertices()) {
    fuzz::Require(vertex < rig.vertices(), "corners at vertices of the rig");
  }
  for (const Binding& binding : rig.bindings()) {
    fuzz::Require(binding.joint < rig.joints() && fuzz::AllFinite(binding.inverse_bind.m),
                  "bindings to joints");
  }
  for (std::size_t j = 0; j < rig.joints(); ++j) {
    const std::uint32_t parent = rig.skeleton().joint(j).parent;
    fuzz::Require(parent == kNoParent || parent < j, "parents first");
    fuzz::Require(fuzz::AllFinite(rig.skeleton().rest_model()[j].m), "a finite rest pose");
  }
  for (std::size_t v = 0; v < rig.vertices(); ++v) {
    double sum = 0;
    for (const std::uint16_t binding : rig.influences().bindings(v)) {
      fuzz::Require(binding < rig.bindings().size(), "influences of bindings");
    }
    for (const double weight : rig.influences().weights(v)) sum += weight;
    fuzz::Require(std::abs(sum - 1) < 1e-6, "weights that sum to 1");
  }
}

// A frame of linear blend skinning in the rest pose is finite, or is refused with a reason.
void Deform(const Rig& rig) {
  Task task({.memory_limit = std::size_t{256} << 20, .parallel = false});
  const absl::StatusOr<Deformer> deformer = Deformer::Bind(rig, {LbsParams()}, task);
  if (!deformer.ok()) {
    fuzz::RequireClientError(deformer.status());
    return;
  }
  std::vector<Affine> joints;
  for (const AffineD& joint : rig.skeleton().rest_model()) joints.push_back(ToFloat(joint));
  std::vector<float> positions(rig.vertices() * 3), normals(rig.vertices() * 3);
  std::vector<PosedMuscle> muscles;
  FrameOut out{.positions = std::as_writable_bytes(std::span(positions)),
               .normals = std::as_writable_bytes(std::span(normals)),
               .muscles = &muscles};
  Workspace workspace;
  const absl::Status status = deformer->Evaluate({.joints = joints}, out, workspace, task);
  if (!status.ok()) {
    fuzz::RequireClientError(status);
    return;
  }
  fuzz::Require(fuzz::AllFinite(positions) && fuzz::AllFinite(normals), "a finite frame");
}

}  // namespace

std::unique_ptr<google::protobuf::Message> fuzz::EmptyMessage(std::string_view&) {
  return std::make_unique<v1::Rig>();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const server::RigConfig limits = Limits();
  const std::string_view bytes = fuzz::Text(data, size);
  v1::Rig message;
  if (message.ParseFromArray(data, static_cast<int>(size))) fuzz::RequireCounted(message, bytes);
  const absl::StatusOr<server::ConvertedRig> converted = server::ConvertRig(bytes, limits);
  if (!converted.ok()) {
    fuzz::RequireClientError(converted.status());
    return 0;
  }
  CheckSummary(*converted);
  CheckRig(*converted->rig);
  fuzz::Require(server::ConvertRig(bytes, limits)->rig->digest() == converted->rig->digest(),
                "the same digest of the same bytes");
  Deform(*converted->rig);
  return 0;
}
