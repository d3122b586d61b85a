// fit.h - request and result of Client::FitSkeleton.
//
// FitSkeleton stores a copy of a rig whose meshes have no skin with the joints of a template inside
// them, under a new name. ComputeWeights then gives it skins. After Baran and Popovic 2007,
// "Automatic rigging and animation of 3D characters".
//
// Included by sinew/client.h.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sinew/messages.h"

namespace sinew::client {

// A joint of a template. Up is +Y, the character faces +Z, and its left is +X; lengths and
// directions of the bones guide the fit, place and size of the whole do not matter.
struct TemplateJoint {
  std::string name;                          // unique, not empty
  std::optional<std::uint32_t> parent = {};  // index of an earlier joint; unset for the first alone
  std::array<double, 3> place = {};
  bool wide = false;  // inside one of the body's widest places, such as a chest
  bool foot = false;  // stands on the ground
  std::optional<std::uint32_t> partner = {};  // the same joint of the other side, which names this
};

// A joint's place in the space of the meshes.
struct JointHint {
  std::string joint;
  std::array<double, 3> place = {};
};

// kInvalidArgument, with the field in Details: a mesh with a skin, a rig with muscles, a value out
// of range, a hint for an unknown joint. kFailedPrecondition: the template does not fit.
// kResourceExhausted: the rig is too large, or too many computations are running.
struct FitRequest {
  std::string rig;                           // rigs/sha256-..., without skins
  std::string built_in = {};                 // "human", "quadruped", "horse", "centaur"; or empty:
  std::vector<TemplateJoint> skeleton = {};  // joints of your own, 2 to 64
  std::optional<std::uint32_t> resolution = {};  // cells along the longest side, 64 to 384 (192)
  std::optional<double> scale = {};              // of the template, 0.5 to 2 (1)
  std::vector<JointHint> hints = {};
  // The character faces +Z with +Y up, or -Y with +Z up: no other direction is tried. If the rig
  // does not say which axis is up, both are.
  bool faces_forward = false;
};

// How the template stands in the body. Axes of the space of the meshes.
struct FitFacing {
  float residual = 0;  // above 0.1 often wrong, below a limb may be; 1 at most
  std::array<float, 3> up = {}, forward = {};
};

// What a rigger should look at.
struct FitReport {
  FitFacing facing;
  std::optional<FitFacing> other;  // nearly as good; with faces_forward much better
  std::vector<Problem> warnings;   // at most 100
};

// The result of FitSkeleton.
struct FittedRig {
  // The new one, still without skins. Says that +Y or +Z is up, if the old one did not.
  RigSummary rig;
  FitReport report;
};

}  // namespace sinew::client
