// method.h - the interface of a deformation method: a plain struct of arrays that satisfies the
// concept `Method`, most easily with the base MethodOf.
//
// Binding may fail, running cannot: everything is validated beforehand (Bind, Load + Check,
// Deformer::Evaluate). A method is registered in registry.cc.
#pragma once

#include <absl/functional/function_ref.h>
#include <absl/status/statusor.h>

#include <any>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/bind_statistic.h"
#include "core/base/table_schema.h"
#include "core/parallel/task.h"
#include "core/rig/layout.h"
#include "core/rig/posed_rig.h"
#include "core/rig/rig.h"
#include "core/surface/rig_surface.h"

namespace sinew {

enum class Space : std::uint8_t { kRest, kPosed };

// Constant once bound.
struct StageFacts {
  std::string_view method;  // registry name
  Space in, out;            // stages chain kRest -> kPosed
  bool pointwise;           // out[v] depends on in[v] alone: in and out may be the same blocks
  bool rotations = false;   // needs PosedRig::rotations and dual_quats
  std::size_t scratch_floats = 0;  // per evaluation
  std::size_t controls = 0;        // minimum size of PosedRig::controls
  std::size_t joints = 0;          // minimum size of PosedRig::joints
  bool vertex_status = false;      // writes every byte of StageFrame::vertex_status if requested
  bool slopes = false;             // writes StageFrame::out_slopes if requested
};

// Points that are rest points, blended linearly by so many of the strongest influences (0 = all).
struct LinearBlend {
  std::uint32_t influences = 0;
  bool may_move = false;  // an earlier stage may move the rest points, else they are the layout's
};

struct BindInput {
  const Rig& rig;
  const BlockLayout& layout;
  const RigSurface& surface;
  std::size_t stage = 0;  // its place in the recipe, for messages
  // Lets Cost stop early: kCancelled, or kResourceExhausted as soon as more than
  // task->memory_limit() is needed. May be null.
  const Task* task = nullptr;
  // Where Cost may leave what it worked out for the Bind that follows. Null: nothing is kept.
  std::any* plan = nullptr;
  // Bind what Run needs to write slopes; only if the method's Carries(params).
  bool slopes = false;
  std::optional<LinearBlend> blended{};  // what the stage reads, if that is a linear blend
};

// The plan that Cost left, if any.
template <class Plan>
std::optional<Plan> TakePlan(const BindInput& input) {
  Plan* const kept = input.plan == nullptr ? nullptr : std::any_cast<Plan>(input.plan);
  return kept == nullptr ? std::nullopt : std::optional<Plan>(std::move(*kept));
}

// Known before the bind starts. Bytes are upper limits.
struct BindCost {
  std::size_t peak_bytes = 0;   // while binding, beyond the rig
  std::size_t bound_bytes = 0;  // of the result
  double work = 0;              // progress units, about a nanosecond of one core each
  double frame_ns = 0;          // rough, one core
  std::uint32_t surface = 0;    // RigSurface::Part flags that Cost or Bind build; in peak_bytes
  std::size_t plan_bytes = 0;   // of BindInput::plan; in peak_bytes
};

struct StageFrame {
  const BlockLayout& layout;
  const PosedRig& posed;
  const Task& task;
  std::span<float> scratch;  // [scratch_floats], 64-byte aligned, contents undefined
  bool in_is_rest;  // false after a stage that moved the rest points: methods that stored them add
                    // R (in - rest)
  std::span<const PointBlock> in;           // [B] centred rest points, or posed points
  std::span<PointBlock> out;                // [B] including padding lanes
  std::span<std::uint8_t> vertex_status{};  // [V] file order; empty = not requested
  std::span<const PointBlock> rest{};  // [B] this frame's centred rest points: the layout's, or as
                                       // moved by an earlier stage
  // The differentials of the points along the tangents of surface_slopes.h, two blocks for each of
  // points; empty = not requested.
  std::span<const PointBlock> in_slopes{};  // [2 B]
  std::span<PointBlock> out_slopes{};       // [2 B], may be in_slopes
  // [2 B] of the layout's rest points: no stage that moves those carries normals.
  std::span<const PointBlock> rest_slopes{};
  // Takes blocks of `out` that are done, while they are in the cache: begin, end. May be null.
  const absl::FunctionRef<void(std::size_t, std::size_t)>* done = nullptr;

  // A loop over all blocks, the last thing that a method does: each chunk is passed on.
  static constexpr std::size_t kLeastGrain = 64;  // blocks that have one bounding box
  template <std::size_t kGrain>
  void ForBlocks(absl::FunctionRef<void(std::size_t, std::size_t)> body) const {
    static_assert(kGrain % kLeastGrain == 0);
    task.For(layout.blocks(), kGrain, [&](std::size_t begin, std::size_t end) {
      body(begin, end);
      if (done != nullptr) (*done)(begin, end);
    });
  }
};

// Represents any visitor of Fields in the concept.
struct AnyField {
  template <class T, class... Rules>
  void operator()(std::string_view, T&, const Rules&...) const {}
};

// What most methods share: the base of method M with parameters P.
template <class M, class P>
struct MethodOf {
  using Params = P;
  // No constraints beyond ranges.
  static absl::Status Validate(const P&) { return absl::OkStatus(); }
  // Every table against its rules.
  absl::Status Check(const BlockLayout& layout, std::size_t bindings) const {
    return CheckFields(P::kName, static_cast<const M&>(*this), layout.Sizes(bindings));
  }
  std::vector<BindStatistic> Statistics() const { return {}; }
  // Whether Run can write slopes: the method is a smooth function of each point and its tables.
  static constexpr bool Carries(const P&) { return false; }
  // See BindInput::blended.
  static std::optional<std::uint32_t> Blends(const P&) { return std::nullopt; }
  // The stage before the method in examples, if it reads the posed mesh.
  static constexpr std::string_view kBehind = "lbs";
};

template <class M>
concept Method = requires(M m, const M& c, const typename M::Params& p, const BindInput& b, Task& t,
                          const StageFrame& f) {
  // Raised when tables or results change; part of every key.
  { M::kVersion } -> std::convertible_to<int>;
  { M::kSummary } -> std::convertible_to<std::string_view>;
  { M::kPaper } -> std::convertible_to<std::string_view>;
  // Cost of a frame relative to linear blending.
  { M::kCostClass } -> std::convertible_to<std::string_view>;
  // Constraints beyond ranges.
  { M::Validate(p) } -> std::same_as<absl::Status>;
  // Whether Run can write slopes with these parameters.
  { M::Carries(p) } -> std::same_as<bool>;
  // By how many influences it blends rest points linearly, if it does.
  { M::Blends(p) } -> std::same_as<std::optional<std::uint32_t>>;
  // Rejects what Bind would reject.
  { M::Cost(b, p) } -> std::same_as<absl::StatusOr<BindCost>>;
  // Slow, cancellable, reports progress.
  { M::Bind(b, p, t) } -> std::same_as<absl::StatusOr<M>>;
  { c.Facts() } -> std::same_as<StageFacts>;
  // Validates tables against layout and binding count.
  { c.Check(b.layout, std::size_t{}) } -> std::same_as<absl::Status>;
  { c.Run(f) } -> std::same_as<void>;
  { c.Statistics() } -> std::same_as<std::vector<BindStatistic>>;
  { M::kBehind } -> std::convertible_to<std::string_view>;
  // Visits (name, member, rules) of every array and number, for save, load, size and CheckFields.
  M::Fields(m, AnyField{});
};

}  // namespace sinew
