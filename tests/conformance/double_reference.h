// double_reference.h - a recipe in double, stage by stage, from the references of tests/reference.
#pragma once

#include <absl/status/statusor.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/base/types.h"
#include "core/deform/engine/params.h"
#include "core/rig/rig.h"

namespace sinew::conformance {

using Points = std::vector<Vec3d>;

// What a stage reads, and changes: `rest` until one poses the mesh, then `posed`.
struct ReferenceFrame {
  std::span<const Affine> joints;  // [J] joint to model space
  std::vector<AffineD> skin;       // [E] rest to posed
  std::span<const float> controls;
  Points rest, posed;  // [V]
};

class DoubleReference {
 public:
  // `rig` must outlive it. kUnimplemented: a stage that has no reference in double, with the
  // reason.
  static absl::StatusOr<DoubleReference> Bind(const Rig& rig, const Recipe& recipe);

  Points Evaluate(std::span<const Affine> joints, std::span<const float> controls) const;
  // The files of tests/reference that it uses, by stage.
  const std::vector<std::string>& sources() const { return sources_; }

  using Step = std::function<void(ReferenceFrame& frame)>;

 private:
  explicit DoubleReference(const Rig& rig) : rig_(&rig) {}
  const Rig* rig_;
  std::vector<Step> steps_;
  std::vector<std::string> sources_;
};

}  // namespace sinew::conformance
