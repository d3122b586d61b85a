// deformer.h - every method through one door: Bind(rig, recipe) -> Deformer; Evaluate(pose) ->
// vertices.
//
// A recipe is a list of stages that map blocks of points to blocks of points, rest to posed; one
// writer puts the result into the caller's buffers in file order. A Deformer is immutable and keeps
// no rig: share it across threads.
//
//   auto deformer = Deformer::Bind(rig, *ParseSpec("lbs"), task);
//   Workspace workspace;
//   FrameOut out{.positions = bytes};
//   auto status = deformer->Evaluate({.joints = joints}, out, workspace, nullptr, task);
#pragma once

#include <absl/status/statusor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/aligned.h"
#include "core/deform/params.h"
#include "core/parallel/task.h"
#include "core/rig/layout.h"
#include "core/rig/posed_rig.h"
#include "core/rig/rig.h"

namespace sinew {

class NormalFinisher;
class Stage;
class TableReader;
class TableWriter;

// Numbers of sinew.v1.Encoding.
enum class Encoding : std::uint8_t { kFloat32 = 1 };

// One whole frame in the caller's memory; wire chunks are sub-ranges of it.
struct FrameOut {
  Encoding encoding = Encoding::kFloat32;
  std::span<std::byte> positions{};  // [V * 12] little-endian float32 x y z in file order
  std::span<std::byte> normals{};    // [V * 12] unit length, or empty = not wanted
  std::span<std::byte> tangents{};   // [V * 16] unit x y z, handedness w; or empty = not wanted
  std::array<float, 6> bounds{};     // filled: minimum x y z, maximum x y z
};

// Scratch of one evaluation at a time; grows to what a deformer needs and is kept between frames.
// Belongs to an evaluation, never to a thread.
struct Workspace {
  PosedRigBuffer posed;
  AlignedVector<PointBlock> rest[2], blocks[2];  // rest and posed points that stages wrote
  AlignedVector<float> scratch;
};

// What a stream of poses carries from frame to frame (stateful stages only).
struct StreamState {
  std::vector<float> floats;
};

// Known before a bind starts; upper bounds for bytes.
struct BindEstimate {
  std::size_t peak_bytes = 0, bound_bytes = 0;
  double bind_seconds = 0;   // a guess, one core
  double frame_seconds = 0;  // a guess, one core
};

// A figure that binding one stage found out.
struct StageMeasure {
  std::size_t stage = 0;  // of the recipe
  std::string name;
  double value = 0;
  std::string unit;  // empty = a plain number
  std::string description;
};

class Deformer {
 public:
  // kInvalidArgument: parameters out of range, spaces do not chain, a map that the rig lacks.
  // kResourceExhausted: more memory than task.memory_limit(), known before more than that is used;
  // kCancelled.
  static absl::StatusOr<BindEstimate> Estimate(const Rig& rig, const Recipe& recipe,
                                               const Task& task);

  // As Estimate; nothing is left half-built. known: what Estimate said about rig and recipe; null:
  // asks it.
  static absl::StatusOr<Deformer> Bind(const Rig& rig, const Recipe& recipe, Task& task,
                                       const BindEstimate* known = nullptr);

  // kDataLoss: checksum, version or contents are wrong. Load(Save(d)) evaluates to the same bits as
  // d.
  static absl::StatusOr<Deformer> Load(const TableReader& tables);
  void Save(TableWriter& tables) const;

  // Fills out. Thread-safe for distinct out and workspace; the same bits for any number of threads,
  // chunking or instruction set. state: null = stateless. kInvalidArgument: wrong number of joints
  // or controls, a value that is not finite, wrong buffer sizes, tangents of a rig without them, or
  // a result that is not finite;
  // out is then unspecified. kCancelled.
  absl::Status Evaluate(const Pose& pose, FrameOut& out, Workspace& workspace, StreamState* state,
                        const Task& task) const;

  std::size_t vertices() const { return layout_->vertices; }
  std::size_t joints() const { return tables_.parent.size(); }
  // The rig has tangents, so a frame may ask for them.
  bool has_tangents() const;
  std::size_t controls() const { return tables_.control_defaults.size(); }
  const BlockLayout& layout() const { return *layout_; }
  // What binding found out, stage after stage.
  std::vector<StageMeasure> Measures() const;
  // Bytes of bound data.
  std::size_t bytes() const;
  // True: no stage carries state, frames may be evaluated in any order.
  bool frames_independent() const { return state_floats_ == 0; }

 private:
  Deformer();
  absl::Status CheckStages();
  std::shared_ptr<const BlockLayout> layout_;
  PosedRigTables tables_;
  std::vector<std::shared_ptr<const Stage>> stages_;
  std::shared_ptr<const NormalFinisher> normals_;
  std::size_t scratch_floats_ = 0, state_floats_ = 0;
  bool needs_rotations_ = false;
};

// Digest of the resolved recipe and the versions of its methods: equal numerics and equal input
// give equal bits.
std::string Numerics(const Recipe& recipe);

}  // namespace sinew
