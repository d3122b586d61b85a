#include "core/deform/engine/deformer.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/digest.h"
#include "core/base/finite.h"
#include "core/base/math_library.h"
#include "core/base/status.h"
#include "core/base/table_io.h"
#include "core/deform/engine/recipe_text.h"
#include "core/deform/engine/registry.h"
#include "core/deform/engine/rig_parts.h"
#include "core/deform/kernels/writer_kernel.h"
#include "core/deform/method/fields.h"
#include "core/deform/method/method.h"
#include "core/surface/carried_normals.h"
#include "core/surface/normals.h"
#include "core/surface/rig_surface.h"

namespace sinew {
namespace {

constexpr std::size_t kWriterGrain = 256;  // blocks per chunk: 4,096 vertices, about 4 microseconds
constexpr std::size_t kPart = StageFrame::kLeastGrain;  // blocks that share bounds, at most
constexpr double kSecondsOfWork = 1e-9;                 // see BindCost::work

struct StageRecord {
  char method[56] = {};
  std::int64_t version = 0;
};

std::size_t LayoutCostBytes(const Rig& rig) {
  // Order, lanes and rest points, padded to whole blocks: at most one partly filled block per
  // binding.
  const std::size_t lanes = rig.vertices() + rig.bindings().size() * kLanes;
  return lanes * (sizeof(PointBlock) / kLanes + 2 * sizeof(std::uint32_t)) +
         rig.influences().size() * 16 + FieldBytes(rig.muscle_tables());
}

absl::Status CheckPose(const Pose& pose, std::size_t joints, std::size_t controls) {
  if (pose.joints.size() != joints) {
    return InvalidArgument("pose.joints: got ", pose.joints.size(), ", need ", joints);
  }
  if (!pose.controls.empty() && pose.controls.size() != controls) {
    return InvalidArgument("pose.controls: got ", pose.controls.size(), ", need ", controls,
                           " or none");
  }
  if (AllFinite(std::as_bytes(pose.joints)) && AllFinite(std::as_bytes(pose.controls))) {
    return absl::OkStatus();
  }
  for (std::size_t j = 0; j < pose.joints.size(); ++j) {
    for (const float value : pose.joints[j].m) {
      if (!std::isfinite(value)) {
        return InvalidArgument("pose.joints[", j, "]: got ", value, ", need finite values");
      }
    }
  }
  for (std::size_t k = 0; k < pose.controls.size(); ++k) {
    if (!std::isfinite(pose.controls[k])) {
      return InvalidArgument("pose.controls[", k, "]: got ", pose.controls[k],
                             ", need a finite value");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckBuffer(std::string_view name, std::span<const std::byte> out, std::size_t need) {
  if (out.size() == need) return absl::OkStatus();
  return InvalidArgument("output: got ", out.size(), " bytes for ", name, ", need ", need);
}

absl::Status CheckBuffers(const FrameOut& out, const Deformer& deformer) {
  const std::size_t vertices = deformer.vertices();
  if (out.encoding != Encoding::kFloat32 && out.encoding != Encoding::kQ16) {
    return InvalidArgument("output.encoding: got ", static_cast<int>(out.encoding),
                           ", need FLOAT32 or Q16");
  }
  if (out.normal_encoding == Encoding::kQ16) {
    return InvalidArgument("output.normal_encoding: got Q16, need FLOAT32, OCT8 or OCT16");
  }
  SINEW_RETURN_IF_ERROR(
      CheckBuffer("positions", out.positions, vertices * EncodedBytes(out.encoding)));
  if (!out.normals.empty()) {
    SINEW_RETURN_IF_ERROR(
        CheckBuffer("normals", out.normals, vertices * EncodedBytes(out.normal_encoding)));
  }
  if (!out.tangents.empty()) {
    if (!deformer.has_tangents()) {
      return InvalidArgument("output: got tangents, but the rig has none");
    }
    SINEW_RETURN_IF_ERROR(CheckBuffer("tangents", out.tangents, vertices * sizeof(Vec4f)));
  }
  if (out.normal_rule == NormalRule::kCarried && !deformer.carries_normals()) {
    return InvalidArgument(
        "output.normal_rule: got CARRIED, but a stage of the recipe cannot carry normals, need "
        "RECOMPUTED");
  }
  if (out.vertex_status.empty()) return absl::OkStatus();
  if (!deformer.has_vertex_status()) {
    return InvalidArgument("output: got vertex_status, but no stage of the recipe writes it, need ",
                           VertexStatusMethods());
  }
  return CheckBuffer("vertex_status", out.vertex_status, vertices);
}

// Float32 of so many vertices in the workspace, to be encoded.
std::span<std::byte> Raw(AlignedVector<float>& floats, std::size_t vertices) {
  floats.resize(std::max(floats.size(), PaddedFloats(vertices)));
  return std::as_writable_bytes(std::span(floats)).first(vertices * sizeof(Vec3f));
}

// Bounds from those of all parts.
absl::Status Bound(std::span<const WriterKernelResult> parts, FrameOut& out) {
  bool finite = true;
  for (std::size_t c = 0; c < 3; ++c) {
    out.bounds[c] = parts[0].minimum[c];
    out.bounds[c + 3] = parts[0].maximum[c];
  }
  for (const WriterKernelResult& part : parts) {
    finite = finite && part.finite;
    for (std::size_t c = 0; c < 3; ++c) {
      out.bounds[c] = std::min(out.bounds[c], part.minimum[c]);
      out.bounds[c + 3] = std::max(out.bounds[c + 3], part.maximum[c]);
    }
  }
  if (!finite) {
    return InvalidArgument(
        "pose.joints: the deformed mesh does not fit float32 (matrices or controls too large)");
  }
  return absl::OkStatus();
}

}  // namespace

Deformer::Deformer() = default;

// What binding all stages takes together. They bind one after the other; a plan is released after
// its user. The surface is held throughout, for later binds of the rig, and so is what normals
// take, which bind beside the stages.
absl::Status BindPlan::AddCosts(const Task& task) {
  std::vector<BindCost> costs;
  const bool carries = CarriesNormals(recipe_);
  std::size_t plan_bytes = 0;
  for (std::size_t k = 0; k < recipe_.size(); ++k) {
    SINEW_RETURN_IF_ERROR(task.CheckCancelled());
    const BindInput input = {*rig_, *layout_,    *surface_, k,
                             &task, &stages_[k], carries,   BlendedBefore(recipe_, k)};
    SINEW_ASSIGN_OR_RETURN(const BindCost cost, StageCost(input, recipe_[k]));
    costs.push_back(cost);
    plan_bytes += cost.plan_bytes;
  }
  const Mesh& mesh = rig_->mesh();
  const bool authored = !mesh.normals().empty() || !mesh.tangents().empty();
  parts_ = RigSurface::kOrder | (authored ? NormalFinisher::kSurface : 0);
  if (carries) parts_ |= RigSurface::kSlopes;
  for (const BindCost& cost : costs) parts_ |= cost.surface;
  const std::uint32_t surface = parts_ | NormalFinisher::kSurface;
  std::size_t bound = LayoutCostBytes(*rig_) + NormalFinisher::CostBytes(*rig_) +
                      (carries ? CarriedNormals::CostBytes(*rig_) : 0);
  // Planning holds all plans and parts.
  std::size_t peak = bound + RigSurface::Bytes(*rig_, surface) + plan_bytes;
  double work = 0, frame_ns = 0;
  for (std::size_t k = 0; k < costs.size(); ++k) {
    const BindCost& cost = costs[k];
    plan_bytes -= cost.plan_bytes;
    const std::size_t of_others = RigSurface::Bytes(*rig_, surface & ~cost.surface) + plan_bytes;
    peak = std::max(peak, bound + cost.peak_bytes + of_others);
    bound += cost.bound_bytes;
    work += cost.work;
    frame_ns += cost.frame_ns;
  }
  peak = std::max(peak, bound + RigSurface::Bytes(*rig_, surface));
  SINEW_RETURN_IF_ERROR(task.CheckMemory(peak));
  estimate_ = {.peak_bytes = peak,
               .bound_bytes = bound,
               .bind_seconds = work * kSecondsOfWork,
               .frame_seconds = frame_ns * 1e-9};
  return absl::OkStatus();
}

std::size_t RigParts::Bytes(const Rig& rig) const {
  const BlockLayout unused;
  return LayoutCostBytes(rig) + NormalFinisher::CostBytes(rig) +
         (carried == nullptr ? 0 : CarriedNormals::CostBytes(rig)) +
         RigSurface::Bytes(rig, RigSurface(rig, unused, surface).built());
}

absl::StatusOr<BindPlan> Deformer::Plan(const Rig& rig, const Recipe& recipe, const Task& task,
                                        std::shared_ptr<const RigParts> known) {
  SINEW_RETURN_IF_ERROR(CheckRecipe(recipe));
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  const DenormalGuard guard;
  BindPlan plan;
  plan.rig_ = &rig;
  plan.recipe_ = recipe;
  plan.known_ = known != nullptr ? std::move(known) : std::make_shared<const RigParts>();
  plan.layout_ = plan.known_->layout;
  if (plan.layout_ == nullptr) {
    SINEW_ASSIGN_OR_RETURN(plan.layout_, BlockLayout::Create(rig));
  }
  plan.surface_ = std::make_shared<RigSurface>(rig, *plan.layout_, plan.known_->surface);
  plan.stages_.resize(recipe.size());
  SINEW_RETURN_IF_ERROR(plan.AddCosts(task));
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());  // then a part may be incomplete
  return plan;
}

absl::StatusOr<BindEstimate> Deformer::Estimate(const Rig& rig, const Recipe& recipe,
                                                const Task& task) {
  SINEW_ASSIGN_OR_RETURN(const BindPlan plan, Plan(rig, recipe, task));
  return plan.estimate();
}

absl::StatusOr<Deformer> Deformer::Bind(const Rig& rig, const Recipe& recipe, Task& task) {
  SINEW_ASSIGN_OR_RETURN(BindPlan plan, Plan(rig, recipe, task));
  return Bind(std::move(plan), task);
}

absl::StatusOr<Deformer> Deformer::Bind(BindPlan plan, Task& task,
                                        std::shared_ptr<const RigParts>* parts) {
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  SINEW_RETURN_IF_ERROR(task.CheckMemory(plan.estimate_.peak_bytes));
  const DenormalGuard guard;
  Deformer deformer;
  const Rig& rig = *plan.rig_;
  deformer.layout_ = plan.layout_;
  task.SetTotal(plan.estimate_.bind_seconds / kSecondsOfWork);
  deformer.tables_ = PosedRigTables::Create(rig, plan.layout_->centre);
  deformer.muscles_ = rig.muscle_tables();
  plan.surface_->Build(plan.parts_, task);
  deformer.normals_ = plan.known_->normals;
  absl::Status of_stages, of_normals;
  task.For(deformer.normals_ == nullptr ? 2 : 1, 1, [&](std::size_t part, std::size_t) {
    if (part == 0) {
      of_stages = deformer.BindStages(plan, task);
      return;
    }
    absl::StatusOr<NormalFinisher> normals = NormalFinisher::Bind(*plan.surface_, task);
    of_normals = normals.status();
    if (normals.ok()) {
      deformer.normals_ = std::make_shared<const NormalFinisher>(*std::move(normals));
    }
  });
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  SINEW_RETURN_IF_ERROR(of_stages);
  SINEW_RETURN_IF_ERROR(of_normals);
  if (absl::Status status = deformer.CheckStages(task); !status.ok()) {
    return absl::InternalError(absl::StrCat("bind produced invalid tables: ", status.message()));
  }
  if (parts != nullptr) {
    *parts = std::make_shared<const RigParts>(
        RigParts{plan.layout_, plan.surface_->parts(), deformer.normals_,
                 deformer.carries_normals() ? deformer.carried_ : plan.known_->carried});
  }
  return deformer;
}

absl::Status Deformer::BindStages(BindPlan& plan, Task& task) {
  const bool carries = CarriesNormals(plan.recipe_);
  for (std::size_t k = 0; k < plan.recipe_.size(); ++k) {
    const BindInput input = {
        *plan.rig_, *plan.layout_,    *plan.surface_, k,
        &task,      &plan.stages_[k], carries,        BlendedBefore(plan.recipe_, k)};
    SINEW_ASSIGN_OR_RETURN(auto stage, BindStage(input, plan.recipe_[k], task));
    stages_.push_back(std::move(stage));
    plan.stages_[k].reset();
  }
  if (carries) carried_ = plan.known_->carried;
  if (carried_ == nullptr) {
    carried_ = std::make_shared<const CarriedNormals>(
        carries ? CarriedNormals::Bind(*plan.rig_, *plan.layout_, plan.surface_->slopes(task))
                : CarriedNormals());
  }
  return absl::OkStatus();
}

// Validates the stages' tables together and derives totals from their facts. kDataLoss.
absl::Status Deformer::CheckStages(const Task& task) {
  const std::size_t bindings = tables_.joint.size();
  SINEW_RETURN_IF_ERROR(tables_.Check());
  SINEW_RETURN_IF_ERROR(layout_->Check(bindings));
  SINEW_RETURN_IF_ERROR(muscles_.Check(joints()));
  if (muscles_.controls() > controls()) {
    return DataLoss("bound data: muscles read controls that are not in the rig");
  }
  std::vector<absl::Status> checked(2 + stages_.size());
  task.For(checked.size(), 1, [&](std::size_t k, std::size_t) {
    checked[k] = k == 0   ? normals_->Check(*layout_)
                 : k == 1 ? carried_->Check(*layout_)
                          : stages_[k - 2]->Check(*layout_, bindings);
  });
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());  // then some were not checked
  for (const absl::Status& status : checked) SINEW_RETURN_IF_ERROR(status);
  scratch_floats_ = normals_->scratch_floats();
  needs_rotations_ = has_vertex_status_ = false;
  Space space = Space::kRest;
  bool carries = true;
  for (const auto& stage : stages_) {
    const StageFacts facts = stage->Facts();
    if (facts.in != space) return DataLoss("bound data: stages do not chain");
    if (facts.controls > controls()) {
      return DataLoss("bound data: a stage reads controls that are not in the rig");
    }
    if (facts.joints > joints()) {
      return DataLoss("bound data: a stage reads joints that are not in the rig");
    }
    carries = carries && facts.slopes;
    space = facts.out;
    scratch_floats_ = std::max(scratch_floats_, facts.scratch_floats);
    needs_rotations_ = needs_rotations_ || facts.rotations;
    has_vertex_status_ = has_vertex_status_ || facts.vertex_status;
  }
  if (space != Space::kPosed) return DataLoss("bound data: no stage poses the mesh");
  if (carries == carried_->empty() ||
      (carries && carried_->has_tangents() != normals_->has_tangents())) {
    return DataLoss("bound data: carried normals and stages do not belong together");
  }
  return absl::OkStatus();
}

// vertex_status: empty = not requested.
absl::StatusOr<std::span<const PointBlock>> Deformer::RunStages(
    const PosedRig& posed, std::span<std::uint8_t> vertex_status, bool slopes, Workspace& workspace,
    const Task& task, Finish finish) const {
  std::span<const PointBlock> points = layout_->rest, rest = layout_->rest;
  bool is_rest = true;
  const std::size_t slope_blocks = slopes ? 2 * layout_->blocks() : 0;
  workspace.slopes.resize(std::max(workspace.slopes.size(), slope_blocks));
  const std::span<PointBlock> out_slopes = std::span(workspace.slopes).first(slope_blocks);
  std::span<const PointBlock> in_slopes = carried_->tangents().first(slope_blocks);
  std::size_t slot = 0;
  for (std::size_t k = 0; k < stages_.size(); ++k) {
    const StageFacts facts = stages_[k]->Facts();
    if (k > 0 && !facts.pointwise) slot = 1 - slot;  // other stages must not write what they read
    // Displaced rest points are kept for later stages that read them.
    auto& blocks = facts.out == Space::kRest ? workspace.rest[slot] : workspace.blocks[slot];
    blocks.resize(layout_->blocks());
    const bool last = k + 1 == stages_.size();
    std::atomic<bool> passed_on = false;
    const auto pass_on = [&](std::size_t begin, std::size_t end) {
      passed_on.store(true, std::memory_order_relaxed);
      finish(blocks, begin, end);
    };
    const absl::FunctionRef<void(std::size_t, std::size_t)> done = pass_on;
    stages_[k]->Run(
        {.layout = *layout_,
         .posed = posed,
         .task = task,
         .scratch = std::span(workspace.scratch).first(facts.scratch_floats),
         .in_is_rest = is_rest,
         .in = points,
         .out = blocks,
         .vertex_status = facts.vertex_status ? vertex_status : std::span<std::uint8_t>(),
         .rest = rest,
         .in_slopes = in_slopes,
         .out_slopes = out_slopes,
         .rest_slopes = carried_->tangents(),
         .done = last ? &done : nullptr});
    in_slopes = out_slopes;
    if (last && !passed_on) task.For(layout_->blocks(), kWriterGrain, done);
    SINEW_RETURN_IF_ERROR(task.CheckCancelled());
    points = blocks;
    if (facts.out == Space::kRest) rest = blocks;
    is_rest = false;
  }
  return points;
}

absl::Status Deformer::Evaluate(const Pose& pose, FrameOut& out, Workspace& workspace,
                                const Task& task) const {
  SINEW_RETURN_IF_ERROR(CheckPose(pose, joints(), controls()));
  SINEW_RETURN_IF_ERROR(CheckBuffers(out, *this));
  const DenormalGuard guard;
  workspace.scratch.resize(std::max(workspace.scratch.size(), scratch_floats_));
  const std::span<std::uint8_t> vertex_status(
      reinterpret_cast<std::uint8_t*>(out.vertex_status.data()), out.vertex_status.size());
  const bool directions = !out.normals.empty() || !out.tangents.empty();
  const bool carry = directions && carries_normals() && out.normal_rule != NormalRule::kRecomputed;
  const PosedRig posed = workspace.posed.Compute(tables_, pose, needs_rotations_);
  const bool raw_positions = out.encoding == Encoding::kFloat32;
  const std::span<std::byte> positions =
      raw_positions ? out.positions : Raw(workspace.positions, vertices());
  const bool raw_normals = out.normals.empty() || out.normal_encoding == Encoding::kFloat32;
  const SurfaceOut surface = {
      .normals = raw_normals ? out.normals : Raw(workspace.normals, vertices()),
      .tangents = out.tangents};
  constexpr float kFar = std::numeric_limits<float>::infinity();
  std::vector<WriterKernelResult> parts(
      (layout_->blocks() + kPart - 1) / kPart,
      {.minimum = {kFar, kFar, kFar}, .maximum = {-kFar, -kFar, -kFar}, .finite = true});
  const auto finish = [&](std::span<const PointBlock> blocks, std::size_t begin, std::size_t end) {
    parts[begin / kPart] = WriterKernel(
        {.in = blocks.front().x, .order = layout_->order.data(), .out = positions.data()}, begin,
        end);
    if (carry) carried_->Run(*layout_, posed, workspace.slopes, surface, begin, end);
  };
  SINEW_ASSIGN_OR_RETURN(const std::span<const PointBlock> points,
                         RunStages(posed, vertex_status, carry, workspace, task, finish));
  SINEW_RETURN_IF_ERROR(Bound(parts, out));
  if (!raw_positions) {
    out.quantisation = QuantisationOf(out.bounds);
    for (const float step : out.quantisation.step) {
      if (std::isfinite(step * 65535)) continue;
      return InvalidArgument("pose.joints: the box of the deformed mesh does not fit Q16");
    }
    EncodePositions(workspace.positions, out.quantisation, out.positions, task);
  }
  if (out.muscles != nullptr) *out.muscles = PoseMuscles(muscles_, pose.joints, posed.controls);
  if (directions && !carry) {
    normals_->Run(*layout_, posed, points,
                  std::span(workspace.scratch).first(normals_->scratch_floats()), surface, task);
  }
  if (!raw_normals) EncodeNormals(workspace.normals, out.normal_encoding, out.normals, task);
  return task.CheckCancelled();
}

void Deformer::Save(TableWriter& tables) const {
  std::vector<StageRecord> records;
  for (std::size_t k = 0; k < stages_.size(); ++k) {
    StageRecord record;
    const std::string_view method = stages_[k]->Facts().method;
    method.copy(record.method, sizeof record.method - 1);
    record.version = MethodVersion(method);
    records.push_back(record);
    stages_[k]->Save(tables, absl::StrCat("stage/", k, "/"));
  }
  tables.Add("stages", records);
  SaveFields(tables, "layout/", *layout_);
  SaveFields(tables, "rig/", tables_);
  SaveFields(tables, "rig/", muscles_);
  SaveFields(tables, "normals/", *normals_);
  SaveFields(tables, "carried/", *carried_);
}

absl::StatusOr<Deformer> Deformer::Load(const TableReader& tables) {
  Deformer deformer;
  auto layout = std::make_shared<BlockLayout>();
  SINEW_RETURN_IF_ERROR(LoadFields(tables, "layout/", *layout));
  deformer.layout_ = std::move(layout);
  SINEW_RETURN_IF_ERROR(LoadFields(tables, "rig/", deformer.tables_));
  SINEW_RETURN_IF_ERROR(LoadFields(tables, "rig/", deformer.muscles_));
  auto normals = std::make_shared<NormalFinisher>();
  SINEW_RETURN_IF_ERROR(LoadFields(tables, "normals/", *normals));
  deformer.normals_ = std::move(normals);
  auto carried = std::make_shared<CarriedNormals>();
  SINEW_RETURN_IF_ERROR(LoadFields(tables, "carried/", *carried));
  deformer.carried_ = std::move(carried);
  std::vector<StageRecord> records;
  SINEW_RETURN_IF_ERROR(tables.Read("stages", records));
  for (std::size_t k = 0; k < records.size(); ++k) {
    const std::string method(records[k].method,
                             strnlen(records[k].method, sizeof records[k].method));
    SINEW_ASSIGN_OR_RETURN(auto stage, LoadStage(method, static_cast<int>(records[k].version),
                                                 tables, absl::StrCat("stage/", k, "/")));
    deformer.stages_.push_back(std::move(stage));
  }
  // The remaining stages may chain even if the last record is missing.
  const std::string beyond = absl::StrCat("stage/", records.size(), "/");
  for (const TableReader::Table& table : tables.Tables()) {
    if (table.name.starts_with(beyond)) {
      return DataLoss("bound data: tables of a stage without its record");
    }
  }
  SINEW_RETURN_IF_ERROR(deformer.CheckStages(Task({.parallel = false})));
  return deformer;
}

bool Deformer::has_tangents() const {
  return normals_->has_tangents();
}

bool Deformer::carries_normals() const {
  return !carried_->empty();
}

std::vector<BindStatistic> Deformer::Statistics() const {
  std::vector<BindStatistic> statistics;
  for (std::size_t k = 0; k < stages_.size(); ++k) {
    for (BindStatistic statistic : stages_[k]->Statistics()) {
      statistic.stage = k;
      statistics.push_back(statistic);
    }
  }
  return statistics;
}

std::size_t Deformer::bytes() const {
  std::size_t bytes = FieldBytes(*layout_) + FieldBytes(tables_) + FieldBytes(muscles_) +
                      FieldBytes(*normals_) + FieldBytes(*carried_);
  for (const auto& stage : stages_) bytes += stage->bytes();
  return bytes;
}

std::string DeterminismDigest(const Recipe& recipe) {
  Sha256 digest;
  digest.Update("sinew determinism digest 2\n");
  digest.Update(MathLibraryDigest());
  digest.Update(FormatRecipe(recipe));
  for (const StageParams& params : recipe) {
    digest.Update(absl::StrCat("\n", MethodVersion(StageName(params))));
  }
  return digest.Hex();
}

}  // namespace sinew
