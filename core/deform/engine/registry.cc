#include "core/deform/engine/registry.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <charconv>
#include <utility>

#include "core/base/table_io.h"
#include "core/deform/bulge_free/bulge_free.h"
#include "core/deform/cor/cor.h"
#include "core/deform/ddm/ddm.h"
#include "core/deform/delta_mush/delta_mush.h"
#include "core/deform/dqs/dqs.h"
#include "core/deform/engine/recipe_text.h"
#include "core/deform/implicit/implicit.h"
#include "core/deform/lbs/lbs.h"
#include "core/deform/method/fields.h"
#include "core/deform/muscle/muscle.h"
#include "core/deform/relax/relax.h"
#include "core/deform/shapes/shapes.h"
#include "core/deform/spherical_blend/spherical_blend.h"

namespace sinew {
namespace {

template <class... M>
struct MethodList {};

// All methods, in the order of StageParams (params.h).
using AllMethods = MethodList<Lbs, Dqs, BulgeFree, SphericalBlend, Cor, DeltaMush, Ddm, EnhancedDdm,
                              Shapes, Implicit, Relax, MuscleStage>;

template <class>
struct ParamsOf;
template <class... M>
struct ParamsOf<MethodList<M...>> {
  using type = std::variant<typename M::Params...>;
};
static_assert(std::is_same_v<ParamsOf<AllMethods>::type, StageParams>,
              "params.h and registry.cc list the same methods in the same order");

template <class... M, class Visit>
void ForEach(MethodList<M...>, Visit&& visit) {
  (visit.template operator()<M>(), ...);
}

template <class P, class List>
struct MethodFor;
template <class P, class First, class... Rest>
struct MethodFor<P, MethodList<First, Rest...>> {
  using type = typename std::conditional_t<std::is_same_v<typename First::Params, P>,
                                           std::type_identity<First>,
                                           MethodFor<P, MethodList<Rest...>>>::type;
};
template <class P>
struct MethodFor<P, MethodList<>> {
  using type = void;
};

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
  std::vector<BindStatistic> Statistics() const override {
    if constexpr (HasStatistics<M>) return method_.Statistics();
    return {};
  }

 private:
  M method_;
};

// Calls body.template operator()<M>(params) for the method of `params`.
template <class Body>
auto WithMethod(const StageParams& params, Body&& body) {
  return std::visit(
      [&]<class P>(const P& p) {
        using M = typename MethodFor<P, AllMethods>::type;
        return body.template operator()<M>(p);
      },
      params);
}

struct Describe {
  ParameterInfo& info;

  void Range(const ParamDoc& doc) const {
    info.minimum = doc.minimum;
    info.maximum = doc.maximum;
  }
  void operator()(const ParamDoc& doc, const float&) const {
    info.type = "number";
    Range(doc);
  }
  void operator()(const ParamDoc& doc, const std::optional<float>&) const {
    info.type = "number";
    Range(doc);
  }
  void operator()(const ParamDoc& doc, const std::uint32_t&) const {
    info.type = "integer";
    Range(doc);
    for (const std::uint32_t value : doc.only) info.choices.push_back(absl::StrCat(value));
  }
  void operator()(const ParamDoc&, const bool&) const { info.type = "boolean"; }
  void operator()(const ParamDoc&, const std::string&) const { info.type = "map"; }
  template <class E>
  requires std::is_enum_v<E>
  void operator()(const ParamDoc&, const E&) const {
    info.type = "choice";
    for (const std::string_view name : ChoiceNames(E{})) info.choices.emplace_back(name);
  }
};

// The stage put before this method in examples, if not lbs.
template <class M>
std::string_view ShownBehind() {
  if constexpr (requires { M::kBehind; }) return M::kBehind;
  return "lbs";
}

template <class M>
MethodInfo InfoOf() {
  const M method{};
  MethodInfo info;
  info.name = std::string(M::Params::kName);
  info.summary = std::string(M::kSummary);
  const StageFacts facts = method.Facts();
  info.reads = facts.in == Space::kRest ? "rest" : "posed";
  info.example =
      absl::StrCat(facts.in == Space::kRest ? "" : absl::StrCat(AbslView(ShownBehind<M>()), " | "),
                   info.name, facts.out == Space::kRest ? " | lbs" : "");
  info.paper = std::string(M::kPaper);
  info.cost_class = std::string(M::kCostClass);
  info.version = M::kVersion;
  const typename M::Params defaults;
  const auto values = StageValues(defaults);
  M::Params::Fields(defaults, [&](const ParamDoc& doc, const auto& member) {
    ParameterInfo parameter;
    parameter.name = std::string(doc.name);
    parameter.unit = std::string(doc.unit);
    parameter.description = std::string(doc.description);
    for (const auto& [name, value] : values) {
      if (name == doc.name) parameter.default_value = value;
    }
    Describe{parameter}(doc, member);
    info.parameters.push_back(std::move(parameter));
  });
  return info;
}

absl::Status OutOfRange(std::string_view method, const ParamDoc& doc, double got) {
  return absl::InvalidArgumentError(absl::StrCat(AbslView(method), ".", AbslView(doc.name),
                                                 ": got ", got, ", need ", doc.minimum, " to ",
                                                 doc.maximum));
}

}  // namespace

const std::vector<MethodInfo>& ListMethods() {
  static const std::vector<MethodInfo>* const kMethods = [] {
    auto* methods = new std::vector<MethodInfo>;
    ForEach(AllMethods{}, [&]<class M>() { methods->push_back(InfoOf<M>()); });
    return methods;
  }();
  return *kMethods;
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
  return WithMethod(params, []<class M>(const typename M::Params& p) -> absl::Status {
    absl::Status status;
    M::Params::Fields(p, [&]<class T>(const ParamDoc& doc, const T& member) {
      const auto check = [&](double value) {
        // The bounds as floats: 0.01 as a float must be accepted.
        if (!(value >= double{static_cast<float>(doc.minimum)} &&
              value <= double{static_cast<float>(doc.maximum)}) &&
            status.ok()) {
          status = OutOfRange(M::Params::kName, doc, value);
        }
      };
      if constexpr (std::is_same_v<T, std::optional<float>>) {
        if (member) check(*member);
      } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, std::uint32_t>) {
        if (doc.minimum != doc.maximum && doc.only.empty()) check(member);
      }
    });
    return status.ok() ? M::Validate(p) : status;
  });
}

absl::Status OfStage(std::size_t k, std::string_view method, const absl::Status& status) {
  const bool parameter = absl::StartsWith(status.message(), absl::StrCat(AbslView(method), "."));
  if (!absl::IsInvalidArgument(status) || !parameter) return status;
  return absl::InvalidArgumentError(absl::StrCat("recipe.stages[", k, "].", status.message()));
}

absl::Status CheckRecipe(const Recipe& recipe) {
  if (recipe.empty()) {
    return absl::InvalidArgumentError("recipe.stages: is empty, need at least one stage");
  }
  Space space = Space::kRest;
  for (std::size_t k = 0; k < recipe.size(); ++k) {
    SINEW_RETURN_IF_ERROR(OfStage(k, StageName(recipe[k]), ValidateStage(recipe[k])));
    const StageFacts facts =
        WithMethod(recipe[k], []<class M>(const typename M::Params&) { return M{}.Facts(); });
    if (facts.in != space) {
      return absl::InvalidArgumentError(absl::StrCat(
          "recipe.stages[", k, "]: ", AbslView(facts.method), " reads ",
          facts.in == Space::kRest ? "rest" : "posed", " positions, but ",
          k == 0 ? "the first stage gets rest positions"
                 : absl::StrCat("the previous stage writes ",
                                space == Space::kRest ? "rest positions" : "posed positions"),
          space == Space::kRest ? "; put a method that poses the mesh, such as lbs, before it"
                                : ""));
    }
    space = facts.out;
  }
  if (space != Space::kPosed) {
    return absl::InvalidArgumentError("recipe.stages: no stage poses the mesh");
  }
  return absl::OkStatus();
}

bool PosesTheMesh(const StageParams& params) {
  return WithMethod(
      params, []<class M>(const typename M::Params&) { return M{}.Facts().out == Space::kPosed; });
}

bool WritesVertexStatus(const Recipe& recipe) {
  return std::any_of(recipe.begin(), recipe.end(), [](const StageParams& params) {
    return WithMethod(params,
                      []<class M>(const typename M::Params&) { return M{}.Facts().vertex_status; });
  });
}

std::string VertexStatusMethods() {
  std::vector<std::string_view> names;
  ForEach(AllMethods{}, [&]<class M>() {
    if (M{}.Facts().vertex_status) names.push_back(M::Params::kName);
  });
  std::string text;
  for (const std::string_view name : names) {
    absl::StrAppend(&text, text.empty() ? "" : " or ", AbslView(name));
  }
  return text;
}

absl::StatusOr<BindCost> StageCost(const BindInput& input, const StageParams& params) {
  const absl::StatusOr<BindCost> cost =
      WithMethod(params, [&]<class M>(const typename M::Params& p) { return M::Cost(input, p); });
  if (!cost.ok()) return OfStage(input.stage, StageName(params), cost.status());
  return cost;
}

absl::StatusOr<std::shared_ptr<const Stage>> BindStage(const BindInput& input,
                                                       const StageParams& params, Task& task) {
  return WithMethod(
      params,
      [&]<class M>(const typename M::Params& p) -> absl::StatusOr<std::shared_ptr<const Stage>> {
        absl::StatusOr<M> method = M::Bind(input, p, task);
        if (!method.ok()) return OfStage(input.stage, StageName(params), method.status());
        return std::shared_ptr<const Stage>(std::make_shared<Bound<M>>(*std::move(method)));
      });
}

absl::StatusOr<std::shared_ptr<const Stage>> LoadStage(std::string_view method, int version,
                                                       const TableReader& tables,
                                                       std::string_view prefix) {
  absl::StatusOr<std::shared_ptr<const Stage>> result =
      absl::DataLossError(absl::StrCat("bound data: method '", AbslView(method), "' is unknown"));
  ForEach(AllMethods{}, [&]<class M>() {
    if (M::Params::kName != method) return;
    if (M::kVersion != version) {
      result = absl::DataLossError(absl::StrCat("bound data: ", AbslView(method), " version ",
                                                version, ", need ", M::kVersion));
      return;
    }
    M loaded{};
    if (absl::Status status = LoadFields(tables, prefix, loaded); !status.ok()) {
      result = status;
      return;
    }
    result = std::make_shared<Bound<M>>(std::move(loaded));
  });
  return result;
}

int MethodVersion(std::string_view method) {
  int version = 0;
  ForEach(AllMethods{}, [&]<class M>() {
    if (M::Params::kName == method) version = M::kVersion;
  });
  return version;
}

}  // namespace sinew
