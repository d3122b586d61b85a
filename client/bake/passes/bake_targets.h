// bake_targets.h - which caches a bake writes: one for each mesh, clip and deformer, or all
// meshes in one, with names from a pattern.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "client/bake/character/character_file.h"
#include "client/bake/files/cache_writer.h"
#include "sinew/rig_data.h"
#include "sinew/stream.h"

namespace sinew::bake {

// Part of the message about an unknown mesh.
inline constexpr char kNoMesh[] = ", which is no mesh of the character";

struct BakeOutput {
  std::string out = {}, format = {}, axes = "file", space = "model";
  std::vector<std::string> meshes = {};  // names; empty = all
  bool split = false;                    // one cache per mesh
  bool no_clobber = false;
  bool normals = false, velocities = false;  // arrays beside the points
  std::string usd = {};                      // of .usda: mesh, over or clips; empty = mesh
  std::string usd_root = {};                 // path of prims; empty = after the character
};

// One pass of frames: the caches that are written from it.
struct BakePass {
  std::size_t clip = 0, deformer = 0;  // indices of the names below
  std::vector<CacheTarget> targets;
};

// What all caches have in common. RequestError: an unknown format or axes, or arrays that the
// format cannot hold.
absl::StatusOr<CacheTarget> CommonTarget(const BakeOutput& output);

// For Blender's axes: only the vertices that Blender's importer makes of a glTF file, where they
// differ from those of the file.
void SelectVertices(const CharacterFile& character, CacheTarget& common);

// SelectVertices, and what formats of meshes need: the rest mesh, and for .usda the layout, with
// `clip_samples` in each value clip. RequestError: options of .usda for another format, or a wrong
// path.
absl::Status AddScene(const BakeOutput& output, const CharacterFile& character,
                      std::uint64_t clip_samples, CacheTarget& common);

// What a stream sends for such a cache.
client::OutputOptions OutputOf(const CacheTarget& target);

// The passes, clips of a deformer next to each other. {mesh}, {clip} and {deformer} in `out` become
// names. `inputs`: files that are read, which are not overwritten; empty names count as none.
//   RequestError: a word missing where there are several, or two files of one name.
//   kInvalidArgument: no such mesh.
absl::StatusOr<std::vector<BakePass>> BakePasses(const BakeOutput& output,
                                                 const CacheTarget& common,
                                                 const client::RigData& rig,
                                                 const std::vector<std::string>& clips,
                                                 const std::vector<std::string>& deformers,
                                                 const std::vector<std::string>& inputs);

// For `space` "object": the points of each cache are in the space of its mesh's object, as the file
// places it at rest.
//   RequestError: a cache of several meshes, or axes. kInvalidArgument: a character that does not
//   say where its objects are, or one with a scale of 0.
absl::Status UseObjectSpace(const CharacterFile& character, std::vector<BakePass>& passes);

}  // namespace sinew::bake
