// deformer.h - every method through one door: Bind(rig, recipe) -> Deformer; Evaluate(pose) ->
// vertices.
//
// A recipe is a list of stages that map blocks of points to blocks of points, rest to posed; one
// writer puts the result into the caller's buffers in file order. A Deformer is immutable and keeps
// no rig: share it across threads.
//
//   auto deformer = Deformer::Bind(rig, *ParseRecipe("lbs"), task);
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
#include "core/base/bind_statistic.h"
#include "core/deform/engine/params.h"
#include "core/deform/engine/pose_steps.h"
#include "core/muscle/posed_muscle.h"
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
  std::span<std::byte> positions{};      // [V * 12] little-endian float32 x y z in file order
  std::span<std::byte> normals{};        // [V * 12] unit length, or empty = not wanted
  std::span<std::byte> tangents{};       // [V * 16] unit x y z, handedness w; or empty = not wanted
  std::span<std::byte> vertex_status{};  // [V] a VertexStatus each, of the last stage that writes
                                         // them; or empty = not wanted
  std::vector<PosedMuscle>* muscles = nullptr;  // filled: every muscle of the rig, in its order;
                                                // null = not wanted
  std::array<float, 6> bounds{};                // filled: minimum x y z, maximum x y z
  std::uint32_t replayed_steps = 0;  // filled, with state: steps from rest that stood in for the
                                     // poses before; 0 = follows from the pose before
};

// Scratch of one evaluation at a time; grows to what a deformer needs and is kept between frames.
// Belongs to an evaluation, never to a thread.
struct Workspace {
  PosedRigBuffer posed, before;
  AlignedVector<PointBlock> rest[2], blocks[2];  // rest and posed points that stages wrote
  AlignedVector<float> scratch;
};

// Known before a bind starts; upper bounds for bytes.
struct BindEstimate {
  std::size_t peak_bytes = 0, bound_bytes = 0;
  double bind_seconds = 0;   // a guess, one core
  double frame_seconds = 0;  // a guess, one core
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
  // chunking or instruction set. kInvalidArgument: wrong number of joints or controls, a value that
  // is not finite, wrong buffer sizes, tangents of a rig without them, states where no stage
  // writes them, or a result that is not finite; out is then unspecified. kCancelled.
  //
  // state: what the recipe's stateful stages carry from the pose before; a recipe without such
  // stages leaves it alone. Null: every stage does what it can from this pose alone, which for
  // tracking is another result than that of a sequence. Empty, or a pose too far from the one
  // before (see pose_steps.h): the pose is reached from rest by small steps. The same poses since
  // an empty state give the same bits. kInvalidArgument: the state is of another deformer. A pose
  // refused beforehand leaves it as it was; any later error, kCancelled too, leaves it empty.
  absl::Status Evaluate(const Pose& pose, FrameOut& out, Workspace& workspace, StreamState* state,
                        const Task& task) const;

  std::size_t vertices() const { return layout_->vertices; }
  std::size_t joints() const { return tables_.parent.size(); }
  // The rig has tangents, so a frame may ask for them.
  bool has_tangents() const;
  // A stage writes vertex status, so a frame may ask for them.
  bool has_vertex_status() const { return has_vertex_status_; }
  // Muscles of the rig.
  std::size_t muscles() const { return muscles_.rows.size(); }
  std::size_t controls() const { return tables_.control_defaults.size(); }
  const BlockLayout& layout() const { return *layout_; }
  // What binding found out, stage after stage.
  std::vector<BindStatistic> Statistics() const;
  // Bytes of bound data.
  std::size_t bytes() const;
  // True: no stage carries state, frames may be evaluated in any order.
  bool frames_independent() const { return state_floats_ == 0; }

 private:
  Deformer();
  struct Step;
  absl::Status CheckStages();
  absl::Status CheckState(const StreamState& state) const;
  absl::StatusOr<std::span<const PointBlock>> RunStages(const Step& step, Workspace& workspace,
                                                        const Task& task) const;
  absl::Status EvaluateChecked(const Pose& pose, FrameOut& out, Workspace& workspace,
                               StreamState* state, const Task& task) const;
  std::shared_ptr<const BlockLayout> layout_;
  PosedRigTables tables_;
  MuscleTables muscles_;  // for FrameOut::muscles; stages keep what they need themselves
  std::vector<std::shared_ptr<const Stage>> stages_;
  std::shared_ptr<const NormalFinisher> normals_;
  std::size_t scratch_floats_ = 0, state_floats_ = 0;
  std::size_t stages_with_state_ = 0;  // the last of them, counted from 1
  double step_length_ = 0;             // as StageFacts
  bool needs_rotations_ = false, has_vertex_status_ = false;
};

// Digest of the resolved recipe, the versions of its methods and this machine's mathematical
// library: equal determinism digest and equal input give equal bits.
std::string DeterminismDigest(const Recipe& recipe);

}  // namespace sinew
