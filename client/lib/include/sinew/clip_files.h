// clip_files.h - clips of other files for a character, whose joints they move by name.
//
//   auto hero = ImportFile("hero.glb");
//   auto walk = ImportClips("walk.fbx");
//   absl::Status added = AddClips(*walk, *hero);
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <map>
#include <string>

#include "sinew/import.h"

namespace sinew::client {

// Reads the clips and nodes of a file of a type that ImportFile reads. It needs neither meshes nor
// skins. Thread-safe. Errors of ImportFile; kInvalidArgument: no clip.
absl::StatusOr<ImportedScene> ImportClips(const std::string& path);

// Adds the clips of `from` to those of `to`.
//
// The joints of `to` and the nodes above them are paired with nodes of `from` by their names: those
// that are equal come first, then those that are equal behind the last ':' or '|'. If no joint is
// paired by then, one prefix up to a '_' is left out on each side.
// Under such a clip a paired node is where `from` has it in its scene, so that it keeps its
// transform relative to the nearest paired node above, whatever lies between. Other nodes keep
// their transform at rest relative to their parents. Controls are paired by name; others keep their
// defaults. Units, axes and proportions are not converted.
//
// A clip keeps its name. If `to` has one of that name, the only clip of a file is called after its
// file; names that are still there get a number: `walk.2`.
//
// Adds to `to.problems`, each beginning with the name of the file: joints that `from` does not
// have, or that could be several of its nodes; rest poses that differ by more than rounding, in
// rotation or in length; and the problems of `from` that are not of its meshes. `from` may be
// destroyed afterwards. Cost O(nodes of both), no key is copied. Thread-safe for different `to`.
//   kInvalidArgument: nothing of `to` has a counterpart, or `from` has no clip; `to` is unchanged.
absl::Status AddClips(const ImportedScene& from, ImportedScene& to);

// Adds the clips of a character with another skeleton, such as a walk for one of FitSkeleton.
//
// Joints are paired by `joint_map` (of `to` to of `from`), then by the part of a person that common
// names say ("mixamorig:LeftUpLeg" and "left_thigh"), then by equal names. A paired joint turns in
// model space as its source turns from the rest pose of its file; upper and lower arms and legs
// first take the direction that they have there. Of the paired joints, the one nearest to the root
// of `from` moves, too, with the distances scaled by the heights of the two over the ground. Units
// and axes are converted: `from` is turned by the multiple of 90 degrees at which the rest poses
// fit best. Other joints follow the joint above. Scale of joints and controls are ignored, and
// hands and feet are not held in place.
//
// Clips keep their names as in AddClips. Adds to `to.problems` what each joint follows (kInfo),
// joints without a counterpart, and rest poses that hardly fit. Thread-safe for different `to`.
//   kInvalidArgument: `from` has no clip, `joint_map` names a joint that is not there or there
//   twice, or fewer than 3 joints are paired; `to` is unchanged.
absl::Status RetargetClips(const ImportedScene& from,
                           const std::map<std::string, std::string>& joint_map, ImportedScene& to);

}  // namespace sinew::client
