// method.h - what the author of a deformation method writes: a plain struct of arrays that
// satisfies `Method`.
//
// Binding may fail, running may not: everything is checked at the door (Bind, Load + Check, the
// public Evaluate). A method registers itself by one word in registry.cc.
#pragma once

#include <absl/status/statusor.h>

#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/bind_statistic.h"
#include "core/deform/engine/params.h"
#include "core/parallel/task.h"
#include "core/rig/layout.h"
#include "core/rig/posed_rig.h"
#include "core/rig/rig.h"

namespace sinew {

enum class Space : std::uint8_t { kRest, kPosed };

// Constant once bound.
struct StageFacts {
  std::string_view method;  // registry name
  Space in, out;            // stages chain kRest -> kPosed
  bool pointwise;           // out[v] depends on in[v] alone: in and out may be the same blocks
  bool rotations = false;   // needs PosedRig::rotations and dual_quats
  std::size_t scratch_floats = 0;  // per evaluation
  std::size_t state_floats = 0;    // per stream; 0 = frames are independent
  double step_length = 0;  // with state: farthest that a joint may move relative to its parent from
                           // one Run to the next, scene units; 0 = any
  std::size_t controls = 0;    // PosedRig::controls must hold at least these
  std::size_t joints = 0;      // and PosedRig::joints these
  bool vertex_status = false;  // writes every byte of StageFrame::states if asked to
};

struct BindInput {
  const Rig& rig;
  const BlockLayout& layout;
  std::span<const StageParams> before;  // the stages that run before this one
  // Cost stops early: kCancelled, kResourceExhausted once it knows that more than
  // task->memory_limit() is needed. Null: it does neither.
  const Task* task = nullptr;
};

// Upper bounds, known before the bind starts.
struct BindCost {
  std::size_t peak_bytes = 0;   // while binding, beyond the rig
  std::size_t bound_bytes = 0;  // what stays
  double work = 0;              // progress units: about a nanosecond of one core each
  double frame_ns = 0;          // of one core for one frame, a guess
};

struct StageFrame {
  const BlockLayout& layout;
  const PosedRig& posed;
  const Task& task;
  std::span<float> scratch;  // [scratch_floats], 64-byte aligned, contents undefined
  std::span<float> state;    // empty = stateless; moved on by Run
  bool in_is_rest;  // false behind a stage that moved the rest points: methods that baked them add
                    // R (in - rest)
  std::span<const PointBlock> in;           // [B] centred rest points, or posed points
  std::span<PointBlock> out;                // [B] padding lanes are written too
  std::span<std::uint8_t> vertex_status{};  // [V] file order: what became of each vertex, see
                                            // VertexStatus; empty = not wanted
  std::span<const PointBlock> rest{};  // [B] the centred rest points of this frame: the layout's,
                                       // or what the last stage that moved them wrote
  const PosedRig* before = nullptr;    // with state: the pose that it stands at
  bool begins = false;  // with state: a new sequence, `state` is undefined and `before` is the rest
};

// Stands for any visitor of Fields in the concept.
struct AnyField {
  template <class T>
  void operator()(std::string_view, T&) const {}
};

template <class M>
concept Method = requires(M m, const M& c, const typename M::Params& p, const BindInput& b, Task& t,
                          const StageFrame& f) {
  {
    M::kVersion
    } -> std::convertible_to<int>;  // rises when tables or results change: part of every key
  { M::kSummary } -> std::convertible_to<std::string_view>;
  { M::kPaper } -> std::convertible_to<std::string_view>;
  { M::kCostClass } -> std::convertible_to<std::string_view>;  // a frame, beside plain linear blend
  { M::Validate(p) } -> std::same_as<absl::Status>;            // what ranges alone cannot say
  { M::Cost(b, p) } -> std::same_as<absl::StatusOr<BindCost>>;  // refuses what Bind would
  { M::Bind(b, p, t) } -> std::same_as<absl::StatusOr<M>>;  // slow, cancellable, reports progress
  { c.Facts() } -> std::same_as<StageFacts>;
  {
    c.Check(b.layout, std::size_t{})
    } -> std::same_as<absl::Status>;  // tables against layout and binding count
  { c.Run(f) } -> std::same_as<void>;
  M::Fields(m, AnyField{});  // visits (name, member) of every array and number: save, load and size
                             // come from it
};

// A method may also have `std::vector<BindStatistic> Statistics() const`, and `kBehind`: the method
// that examples show it behind, instead of lbs.
template <class M>
concept HasStatistics = requires(const M& m) {
  { m.Statistics() } -> std::same_as<std::vector<BindStatistic>>;
};

}  // namespace sinew
