#include "core/deform/engine/registry.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <charconv>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/base/status.h"
#include "core/base/table_io.h"
#include "core/deform/animation_space/animation_space.h"
#include "core/deform/bulge_free/bulge_free.h"
#include "core/deform/cor/cor.h"
#include "core/deform/ddm/ddm.h"
#include "core/deform/delta_mush/delta_mush.h"
#include "core/deform/dqs/dqs.h"
#include "core/deform/implicit/implicit.h"
#include "core/deform/lbs/lbs.h"
#include "core/deform/method/fields.h"
#include "core/deform/multi_weight/multi_weight.h"
#include "core/deform/muscle/muscle.h"
#include "core/deform/relax/relax.h"
#include "core/deform/shapes/shapes.h"
#include "core/deform/spherical_blend/spherical_blend.h"

namespace sinew {
namespace {

template <Method M>
class Bound final : public Stage {
 public:
  explicit Bound(M method) : method_(std::move(method)) {}
  StageFacts Facts() const override { return method_.Facts(); }
  absl::Status Check(const BlockLayout& layout, std::size_t bindings) const override {
    return method_.Check(layout, bindings);
  }
  void Run(const StageFrame& frame) const override { method_.Run(frame); }
  void Save(TableWriter& tables, std::string_view prefix) const override {
    SaveFields(tables, prefix, method_);
  }
  std::size_t bytes() const override { return FieldBytes(method_); }
  std::vector<BindStatistic> Statistics() const override { return method_.Statistics(); }

 private:
  M method_;
};

// Shortest text that parses back to the same float.
std::string ValueText(float value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return std::string(buffer, end);
}
std::string ValueText(std::uint32_t value) {
  return absl::StrCat(value);
}
std::string ValueText(bool value) {
  return value ? "true" : "false";
}
std::string ValueText(const std::string& value) {
  return value;
}
template <class E>
requires std::is_enum_v<E> std::string ValueText(E value) {
  return std::string(ChoiceNames(value)[static_cast<std::size_t>(value)]);
}

template <class T>
void Describe(const ParamDoc& doc, const T&, ParameterInfo& info) {
  if constexpr (std::is_enum_v<T>) {
    info.type = "choice";
    for (const std::string_view name : ChoiceNames(T{})) info.choices.emplace_back(name);
  } else if constexpr (std::is_same_v<T, bool>) {
    info.type = "boolean";
  } else if constexpr (std::is_same_v<T, std::string>) {
    info.type = "map";
  } else {
    info.type = std::is_same_v<T, std::uint32_t> ? "integer" : "number";
    info.minimum = doc.minimum;
    info.maximum = doc.maximum;
    for (const std::uint32_t value : doc.only) info.choices.push_back(absl::StrCat(value));
  }
}

template <class M>
MethodInfo InfoOf() {
  const StageFacts facts = M{}.Facts();
  MethodInfo info = {
      .name = std::string(facts.method),
      .summary = std::string(M::kSummary),
      .reads = facts.in == Space::kRest ? "rest" : "posed",
      .paper = std::string(M::kPaper),
      .cost_class = std::string(M::kCostClass),
      .example =
          absl::StrCat(facts.in == Space::kRest ? "" : absl::StrCat(AbslView(M::kBehind), " | "),
                       AbslView(facts.method), facts.out == Space::kRest ? " | lbs" : ""),
      .version = M::kVersion,
      .parameters = {},
  };
  const StageParams defaults = typename M::Params{};
  const auto values = StageValues(defaults);
  VisitParameters(defaults, [&](const ParamDoc& doc, const auto& member) {
    ParameterInfo& parameter = info.parameters.emplace_back();
    parameter.name = std::string(doc.name);
    parameter.unit = std::string(doc.unit);
    parameter.description = std::string(doc.description);
    for (const auto& [name, value] : values) {
      if (name == doc.name) parameter.default_value = value;
    }
    Describe(doc, member, parameter);
  });
  return info;
}

using StageOr = absl::StatusOr<std::shared_ptr<const Stage>>;

// A method as the engine calls it; params are those of the method.
struct Entry {
  StageFacts facts;  // of an unbound stage
  absl::Status (*validate)(const StageParams& params);
  bool (*carries)(const StageParams& params);
  std::optional<std::uint32_t> (*blends)(const StageParams& params);
  absl::StatusOr<BindCost> (*cost)(const BindInput& input, const StageParams& params);
  StageOr (*bind)(const BindInput& input, const StageParams& params, Task& task);
  StageOr (*load)(const TableReader& tables, std::string_view prefix);
};

template <Method M>
Entry EntryOf() {
  using P = typename M::Params;
  return {
      .facts = M{}.Facts(),
      .validate = [](const StageParams& params) { return M::Validate(std::get<P>(params)); },
      .carries = [](const StageParams& params) { return M::Carries(std::get<P>(params)); },
      .blends = [](const StageParams& params) { return M::Blends(std::get<P>(params)); },
      .cost = [](const BindInput& input,
                 const StageParams& params) { return M::Cost(input, std::get<P>(params)); },
      .bind = [](const BindInput& input, const StageParams& params, Task& task) -> StageOr {
        SINEW_ASSIGN_OR_RETURN(M method, M::Bind(input, std::get<P>(params), task));
        return std::make_shared<Bound<M>>(std::move(method));
      },
      .load = [](const TableReader& tables, std::string_view prefix) -> StageOr {
        M method{};
        SINEW_RETURN_IF_ERROR(LoadFields(tables, prefix, method));
        return std::make_shared<Bound<M>>(std::move(method));
      },
  };
}

// Each list in the order of the methods.
template <Method... M>
struct MethodLists {
  static_assert(std::is_same_v<std::variant<typename M::Params...>, StageParams>,
                "params.h lists the same methods in the same order");
  std::vector<MethodInfo> infos = {InfoOf<M>()...};
  std::vector<StageParams> defaults = {typename M::Params{}...};
  std::vector<Entry> entries = {EntryOf<M>()...};
};

// All methods, in the order of StageParams (params.h).
const auto& AllMethods() {
  using Lists = MethodLists<Lbs, Dqs, BulgeFree, SphericalBlend, Cor, DeltaMush, Ddm, EnhancedDdm,
                            Shapes, Implicit, Relax, MuscleStage, AnimationSpace, MultiWeight>;
  static const auto* const kLists = new Lists;
  return *kLists;
}

const Entry& EntryOf(const StageParams& params) {
  return AllMethods().entries[params.index()];
}

absl::Status CheckRanges(const StageParams& params) {
  absl::Status status;
  const auto check = [&](const ParamDoc& doc, double value) {
    // The bounds as floats: 0.01 as a float must be accepted.
    if (!status.ok() || (value >= double{static_cast<float>(doc.minimum)} &&
                         value <= double{static_cast<float>(doc.maximum)})) {
      return;
    }
    status = InvalidArgument(StageName(params), ".", doc.name, ": got ", value, ", need ",
                             doc.minimum, " to ", doc.maximum);
  };
  VisitParameters(params, [&]<class T>(const ParamDoc& doc, const T& member) {
    if constexpr (std::is_same_v<T, std::optional<float>>) {
      if (member) check(doc, *member);
    } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, std::uint32_t>) {
      if (doc.minimum != doc.maximum && doc.only.empty()) check(doc, member);
    }
  });
  return status;
}

}  // namespace

std::string_view StageName(const StageParams& params) {
  return std::visit([]<class P>(const P&) { return P::kName; }, params);
}

std::vector<std::pair<std::string, std::string>> StageValues(const StageParams& params) {
  std::vector<std::pair<std::string, std::string>> values;
  VisitParameters(params, [&]<class T>(const ParamDoc& doc, const T& member) {
    if constexpr (std::is_same_v<T, std::optional<float>>) {
      if (member) values.emplace_back(std::string(doc.name), ValueText(*member));
    } else {
      values.emplace_back(std::string(doc.name), ValueText(member));
    }
  });
  return values;
}

const std::vector<MethodInfo>& ListMethods() {
  return AllMethods().infos;
}

std::span<const StageParams> DefaultStages() {
  return AllMethods().defaults;
}

std::span<const PresetInfo> ListPresets() {
  static constexpr PresetInfo kPresets[] = {
      {"bulge_free_dqs", "dqs | bulge_free", "Dual quaternions without bulging joints."},
      {"delta_mush", "lbs | delta_mush", "Linear blend, smoothed, with its detail restored."},
      {"implicit_skinning", "dqs | bulge_free | implicit | relax",
       "Skin that keeps its volume and touches itself without intersecting."},
  };
  return kPresets;
}

absl::Status ValidateStage(const StageParams& params) {
  SINEW_RETURN_IF_ERROR(CheckRanges(params));
  return EntryOf(params).validate(params);
}

absl::Status OfStage(std::size_t k, std::string_view method, const absl::Status& status) {
  const bool parameter = absl::StartsWith(status.message(), absl::StrCat(AbslView(method), "."));
  if (!absl::IsInvalidArgument(status) || !parameter) return status;
  return InvalidArgument("recipe.stages[", k, "].", status.message());
}

absl::Status CheckRecipe(const Recipe& recipe) {
  if (recipe.empty()) {
    return InvalidArgument("recipe.stages: is empty, need at least one stage");
  }
  Space space = Space::kRest;
  for (std::size_t k = 0; k < recipe.size(); ++k) {
    SINEW_RETURN_IF_ERROR(OfStage(k, StageName(recipe[k]), ValidateStage(recipe[k])));
    const StageFacts& facts = EntryOf(recipe[k]).facts;
    if (facts.in != space) {
      return InvalidArgument(
          "recipe.stages[", k, "]: ", AbslView(facts.method), " reads ",
          facts.in == Space::kRest ? "rest" : "posed", " positions, but ",
          k == 0 ? "the first stage gets rest positions"
                 : absl::StrCat("the previous stage writes ",
                                space == Space::kRest ? "rest positions" : "posed positions"),
          space == Space::kRest ? "; put a method that poses the mesh, such as lbs, before it"
                                : "");
    }
    space = facts.out;
  }
  if (space != Space::kPosed) {
    return InvalidArgument("recipe.stages: no stage poses the mesh");
  }
  return absl::OkStatus();
}

bool PosesTheMesh(const StageParams& params) {
  return EntryOf(params).facts.out == Space::kPosed;
}

bool WritesVertexStatus(const Recipe& recipe) {
  return std::ranges::any_of(
      recipe, [](const StageParams& params) { return EntryOf(params).facts.vertex_status; });
}

std::string StageWithoutSlopes(const Recipe& recipe) {
  for (std::size_t k = 0; k < recipe.size(); ++k) {
    const Entry& entry = EntryOf(recipe[k]);
    if (entry.carries(recipe[k])) continue;
    return absl::StrCat("stage ", k + 1, " (", AbslView(entry.facts.method), ")");
  }
  return {};
}

std::optional<LinearBlend> BlendedBefore(const Recipe& recipe, std::size_t k) {
  // A stage that blends rest points has only stages before it that move those.
  const auto influences = k == 0 ? std::nullopt : EntryOf(recipe[k - 1]).blends(recipe[k - 1]);
  if (!influences) return std::nullopt;
  return LinearBlend{.influences = *influences, .may_move = k > 1};
}

std::string VertexStatusMethods() {
  std::vector<std::string> names;
  for (const Entry& entry : AllMethods().entries) {
    if (entry.facts.vertex_status) names.emplace_back(entry.facts.method);
  }
  return absl::StrJoin(names, " or ");
}

absl::StatusOr<BindCost> StageCost(const BindInput& input, const StageParams& params) {
  const absl::StatusOr<BindCost> cost = EntryOf(params).cost(input, params);
  if (!cost.ok()) return OfStage(input.stage, StageName(params), cost.status());
  return cost;
}

StageOr BindStage(const BindInput& input, const StageParams& params, Task& task) {
  StageOr stage = EntryOf(params).bind(input, params, task);
  if (!stage.ok()) return OfStage(input.stage, StageName(params), stage.status());
  return stage;
}

StageOr LoadStage(std::string_view method, int version, const TableReader& tables,
                  std::string_view prefix) {
  for (const Entry& entry : AllMethods().entries) {
    if (entry.facts.method != method) continue;
    if (MethodVersion(method) == version) return entry.load(tables, prefix);
    return DataLoss("bound data: ", method, " version ", version, ", need ", MethodVersion(method));
  }
  return DataLoss("bound data: method '", method, "' is unknown");
}

int MethodVersion(std::string_view method) {
  for (const MethodInfo& info : ListMethods()) {
    if (info.name == method) return info.version;
  }
  return 0;
}

}  // namespace sinew
