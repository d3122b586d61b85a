// bound_data.cc - saved bound data: any tables with a right checksum, and any bytes.
#include "tests/fuzz/bound_data.h"

#include "core/deform/engine/deformer.h"
#include "core/parallel/task.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace sinew;

std::string Saved(const Deformer& deformer) {
  TableWriter tables;
  deformer.Save(tables);
  return tables.Finish();
}

// The pose in which no joint moves. `Evaluate` may refuse it, but not write outside the buffers.
void EvaluateOnce(const Deformer& deformer) {
  const std::size_t vertices = deformer.vertices();
  const std::vector<Affine> joints(deformer.joints());
  std::vector<float> positions(vertices * 3), normals(vertices * 3), tangents(vertices * 4);
  std::vector<std::byte> vertex_status(vertices);
  std::vector<PosedMuscle> muscles;
  FrameOut out{.positions = std::as_writable_bytes(std::span(positions)),
               .normals = std::as_writable_bytes(std::span(normals)),
               .muscles = &muscles};
  if (deformer.has_tangents()) out.tangents = std::as_writable_bytes(std::span(tangents));
  if (deformer.has_vertex_status()) out.vertex_status = vertex_status;
  const Task task({.parallel = false});
  Workspace workspace;
  const absl::Status status = deformer.Evaluate({.joints = joints}, out, workspace, task);
  if (!status.ok()) {
    fuzz::RequireRefusal(status);
    return;
  }
  fuzz::Require(fuzz::AllFinite(positions), "finite positions");
  fuzz::Require(fuzz::AllFinite(normals), "finite normals");
  fuzz::Require(muscles.size() == deformer.muscles(), "every muscle");
}

void Load(std::string_view bytes) {
  const absl::StatusOr<TableReader> tables = TableReader::Open(bytes);
  if (!tables.ok()) {
    fuzz::RequireRefusal(tables.status(), {absl::StatusCode::kDataLoss});
    return;
  }
  const absl::StatusOr<Deformer> deformer = Deformer::Load(*tables);
  if (!deformer.ok()) {
    fuzz::RequireRefusal(deformer.status(), {absl::StatusCode::kDataLoss});
    return;
  }
  const std::string saved = Saved(*deformer);
  const absl::StatusOr<TableReader> again = TableReader::Open(saved);
  fuzz::Require(again.ok(), "tables that are read back");
  const absl::StatusOr<Deformer> copy = Deformer::Load(*again);
  fuzz::Require(copy.ok() && Saved(*copy) == saved, "the same deformer");
  EvaluateOnce(*deformer);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view packed = fuzz::Text(data, size);
  if (packed.starts_with("SINEWTB2")) {
    Load(packed);
    return 0;
  }
  TableWriter tables;
  while (!packed.empty()) fuzz::UnpackTable(packed, tables);
  Load(tables.Finish());
  return 0;
}
