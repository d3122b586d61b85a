// registry.h - the one list of methods, and what is known about each.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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
  std::vector<std::string> choices;  // of a choice, or of an integer that has no whole range
};

struct MethodInfo {
  std::string name, summary, reads, paper, cost_class;
  std::string example;  // the shortest recipe with this method that poses a mesh
  int version = 0;
  std::vector<ParameterInfo> parameters;
};

// Every method, in the order of StageParams.
const std::vector<MethodInfo>& ListMethods();

// A name for a whole recipe. One named like a method stands for it where nothing has posed the mesh
// yet, and hands its parameters to the recipe's last stage.
struct PresetInfo {
  std::string_view name, recipe_text, summary;
};
std::span<const PresetInfo> ListPresets();

// A bound method with its type erased; made by registry.cc alone.
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

// Ranges of every parameter, and what a method asks beyond ranges. kInvalidArgument names stage and
// parameter.
absl::Status ValidateStage(const StageParams& params);
// What is wrong with a parameter of stage `k`, "ddm.radius: ...", with the stage before it as in
// recipe.stages[1].ddm.radius; anything else stays as it is.
absl::Status OfStage(std::size_t k, std::string_view method, const absl::Status& status);
// Every stage, and that their spaces chain from rest to posed. kInvalidArgument.
absl::Status CheckRecipe(const Recipe& recipe);
// False for a stage that moves rest points.
bool PosesTheMesh(const StageParams& params);
// A stage tells what becomes of each vertex (VertexStatus).
bool WritesVertexStatus(const Recipe& recipe);
// The methods that do, as "a or b".
std::string VertexStatusMethods();
// kInvalidArgument: the rig lacks what the stage needs; names it by its place behind input.before.
absl::StatusOr<BindCost> StageCost(const BindInput& input, const StageParams& params);
absl::StatusOr<std::shared_ptr<const Stage>> BindStage(const BindInput& input,
                                                       const StageParams& params, Task& task);
// kDataLoss: unknown method, another version, missing or malformed tables.
absl::StatusOr<std::shared_ptr<const Stage>> LoadStage(std::string_view method, int version,
                                                       const TableReader& tables,
                                                       std::string_view prefix);
int MethodVersion(std::string_view method);

}  // namespace sinew
