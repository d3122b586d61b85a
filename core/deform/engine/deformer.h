// deformer.h - the entry point to all methods: Bind(rig, recipe) -> Deformer; Evaluate(pose) ->
// vertices.
//
// A recipe is a list of stages that map blocks of points to blocks of points, rest to posed; a
// writer copies the result to the caller's buffers in file order. A Deformer is immutable,
// independent of the rig after Bind, and shared across threads.
//
//    auto deformer = Deformer::Bind(rig, *ParseRecipe("lbs"), task);
//    Workspace workspace;
//    FrameOut out{.positions = bytes};
//    auto status = deformer->Evaluate({.joints = joints}, out, workspace, task);
#pragma once

#include <absl/functional/function_ref.h>
#include <absl/status/statusor.h>

#include <any>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/aligned.h"
#include "core/base/bind_statistic.h"
#include "core/deform/engine/encoding.h"
#include "core/deform/engine/params.h"
#include "core/muscle/posed_muscle.h"
#include "core/parallel/task.h"
#include "core/rig/layout.h"
#include "core/rig/posed_rig.h"
#include "core/rig/rig.h"

namespace sinew {

class CarriedNormals;
class NormalFinisher;
struct RigParts;
class RigSurface;
class Stage;
class TableReader;
class TableWriter;

// One whole frame in the caller's memory.
struct FrameOut {
  Encoding encoding = Encoding::kFloat32, normal_encoding = Encoding::kFloat32;
  NormalRule normal_rule = NormalRule::kAuto;
  // In file order, little-endian, any alignment. [V * EncodedBytes(encoding)]; float32: x y z
  std::span<std::byte> positions{};
  std::span<std::byte> normals{};   // [V * EncodedBytes(normal_encoding)]; empty = not requested
  std::span<std::byte> tangents{};  // [V * 16] unit x y z, handedness w; empty = not requested
  std::span<std::byte> vertex_status{};  // [V] VertexStatus; empty = not requested
  // Output: every muscle of the rig, in order; null = not requested.
  std::vector<PosedMuscle>* muscles = nullptr;
  std::array<float, 6> bounds{};  // output: minimum x y z, maximum x y z
  Quantisation quantisation{};    // output, if encoding is kQ16
};

// Scratch of one evaluation; grows as needed and is reused between frames. One per concurrent
// evaluation.
struct Workspace {
  PosedRigBuffer posed;
  AlignedVector<PointBlock> rest[2], blocks[2];  // rest and posed points written by stages
  AlignedVector<PointBlock> slopes;              // written by stages that carry normals
  AlignedVector<float> scratch;
  AlignedVector<float> positions, normals;  // float32, before they are encoded
};

// Known before a bind starts. Bytes are upper limits.
struct BindEstimate {
  std::size_t peak_bytes = 0, bound_bytes = 0;
  double bind_seconds = 0;   // rough, one core
  double frame_seconds = 0;  // rough, one core
};

// Results of an estimate that a bind reuses: the block layout, parts of the surface and plans of
// stages. Borrows the rig. Move-only: binding writes to the surface it holds.
class BindPlan {
 public:
  BindPlan() = default;
  BindPlan(BindPlan&&) = default;
  BindPlan& operator=(BindPlan&&) = default;

  const BindEstimate& estimate() const { return estimate_; }

 private:
  friend class Deformer;
  absl::Status AddCosts(const Task& task);

  const Rig* rig_ = nullptr;
  Recipe recipe_;
  std::shared_ptr<const RigParts> known_;
  std::shared_ptr<const BlockLayout> layout_;
  std::shared_ptr<RigSurface> surface_;
  std::vector<std::any> stages_;  // see BindInput::plan
  std::uint32_t parts_ = 0;       // of the surface that binding uses for certain
  BindEstimate estimate_;
};

class Deformer {
 public:
  // kInvalidArgument: parameters out of range, spaces do not chain, an unknown map.
  // kResourceExhausted: needs more than task.memory_limit(), reported before that much is used.
  // kCancelled. known: parts of an equal rig from another bind, or null; less is left to do then,
  // with the same result.
  static absl::StatusOr<BindPlan> Plan(const Rig& rig, const Recipe& recipe, const Task& task,
                                       std::shared_ptr<const RigParts> known = nullptr);
  static absl::StatusOr<BindEstimate> Estimate(const Rig& rig, const Recipe& recipe,
                                               const Task& task);

  // Errors as Plan. The rig of a plan must still exist. parts: gets what later binds of the rig may
  // start with, unless null.
  static absl::StatusOr<Deformer> Bind(BindPlan plan, Task& task,
                                       std::shared_ptr<const RigParts>* parts = nullptr);
  static absl::StatusOr<Deformer> Bind(const Rig& rig, const Recipe& recipe, Task& task);

  // kDataLoss: wrong checksum, version or contents. Load(Save(d)) evaluates to the same bits as d.
  static absl::StatusOr<Deformer> Load(const TableReader& tables);
  void Save(TableWriter& tables) const;

  // Fills `out`, from the pose alone. Thread-safe for distinct out and workspace; the same bits for
  // any number of threads and instruction set. kInvalidArgument: wrong number of joints or
  // controls, a value that is not finite, wrong buffer sizes, tangents or vertex status that are
  // not available, or a result that is not finite; then `out` is unspecified. kCancelled.
  absl::Status Evaluate(const Pose& pose, FrameOut& out, Workspace& workspace,
                        const Task& task) const;

  std::size_t vertices() const { return layout_->vertices; }
  std::size_t joints() const { return tables_.parent.size(); }
  // Whether frames can have tangents.
  bool has_tangents() const;
  // Whether normals can be carried: every stage is a smooth function of each vertex.
  bool carries_normals() const;
  // Whether frames can have vertex status.
  bool has_vertex_status() const { return has_vertex_status_; }
  std::size_t muscles() const { return muscles_.rows.size(); }
  std::size_t controls() const { return tables_.control_defaults.size(); }
  const BlockLayout& layout() const { return *layout_; }
  // Statistics of the bind, by stage.
  std::vector<BindStatistic> Statistics() const;
  std::size_t bytes() const;

 private:
  Deformer();
  absl::Status BindStages(BindPlan& plan, Task& task);
  absl::Status CheckStages(const Task& task);
  // Takes blocks [begin, end) of posed points.
  using Finish = absl::FunctionRef<void(std::span<const PointBlock> points, std::size_t begin,
                                        std::size_t end)>;
  absl::StatusOr<std::span<const PointBlock>> RunStages(const PosedRig& posed,
                                                        std::span<std::uint8_t> vertex_status,
                                                        bool slopes, Workspace& workspace,
                                                        const Task& task, Finish finish) const;
  std::shared_ptr<const BlockLayout> layout_;
  PosedRigTables tables_;
  MuscleTables muscles_;  // for FrameOut::muscles; stages have their own
  std::vector<std::shared_ptr<const Stage>> stages_;
  std::shared_ptr<const NormalFinisher> normals_;
  std::shared_ptr<const CarriedNormals> carried_;
  std::size_t scratch_floats_ = 0;
  bool needs_rotations_ = false, has_vertex_status_ = false;
};

// Digest of the resolved recipe, the versions of its methods and this machine's math library. Equal
// digests and equal input give equal bits.
std::string DeterminismDigest(const Recipe& recipe);

}  // namespace sinew
