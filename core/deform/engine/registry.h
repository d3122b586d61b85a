// registry.h - the list of all methods and their descriptions.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/deform/engine/params.h"
#include "core/deform/method/method.h"

namespace sinew {

class TableReader;
class TableWriter;

struct ParameterInfo {
  std::string name, type, unit, default_value,
      description;  // type: number integer boolean choice map
  std::optional<double> minimum, maximum;
  std::vector<std::string> choices;  // of a choice, or of an integer with gaps in its range
};

struct MethodInfo {
  std::string name, summary, reads, paper, cost_class;
  std::string example;  // the shortest valid recipe with this method
  int version = 0;
  std::vector<ParameterInfo> parameters;
};

// Every method, in the order of StageParams.
const std::vector<MethodInfo>& ListMethods();

// Every method with its default parameters, in that order.
std::span<const StageParams> DefaultStages();

std::string_view StageName(const StageParams& params);
// Every parameter of a stage with its value as text, in order, without unset optional ones.
std::vector<std::pair<std::string, std::string>> StageValues(const StageParams& params);

// A named recipe. One with the name of a method replaces it where nothing has posed the mesh yet,
// and passes its parameters to the last stage.
struct PresetInfo {
  std::string_view name, recipe_text, summary;
};
std::span<const PresetInfo> ListPresets();

// A type-erased bound method; created by registry.cc only.
class Stage {
 public:
  virtual ~Stage() = default;
  virtual StageFacts Facts() const = 0;
  virtual absl::Status Check(const BlockLayout& layout, std::size_t bindings) const = 0;
  virtual void Run(const StageFrame& frame) const = 0;
  virtual void Save(TableWriter& tables, std::string_view prefix) const = 0;
  virtual std::size_t bytes() const = 0;
  virtual std::vector<BindStatistic> Statistics() const = 0;
};

// Checks ranges, and what a method requires beyond them. kInvalidArgument names stage and
// parameter.
absl::Status ValidateStage(const StageParams& params);
// Prefixes an error "ddm.radius: ..." of stage `k` with recipe.stages[k]; other errors are
// unchanged.
absl::Status OfStage(std::size_t k, std::string_view method, const absl::Status& status);
// Validates every stage, and that their spaces chain from rest to posed. kInvalidArgument.
absl::Status CheckRecipe(const Recipe& recipe);
// False for stages that move rest points.
bool PosesTheMesh(const StageParams& params);
// Whether a stage writes VertexStatus.
bool WritesVertexStatus(const Recipe& recipe);
// The first stage that cannot write slopes, so that normals cannot be carried: "stage 2 (relax)".
// Empty: they can.
std::string StageWithoutSlopes(const Recipe& recipe);
inline bool CarriesNormals(const Recipe& recipe) {
  return StageWithoutSlopes(recipe).empty();
}
// BindInput::blended of stage k.
std::optional<LinearBlend> BlendedBefore(const Recipe& recipe, std::size_t k);
// The methods that write VertexStatus, as "a or b".
std::string VertexStatusMethods();
// kInvalidArgument: the rig lacks something the stage needs; names the stage by input.stage.
absl::StatusOr<BindCost> StageCost(const BindInput& input, const StageParams& params);
absl::StatusOr<std::shared_ptr<const Stage>> BindStage(const BindInput& input,
                                                       const StageParams& params, Task& task);
// kDataLoss: unknown method, another version, missing or malformed tables.
absl::StatusOr<std::shared_ptr<const Stage>> LoadStage(std::string_view method, int version,
                                                       const TableReader& tables,
                                                       std::string_view prefix);
int MethodVersion(std::string_view method);

}  // namespace sinew
