// bake_manifest.h - what goes with a cache: its origin, for the manifest, and its rest mesh.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "client/bake/character/character_file.h"
#include "client/bake/files/cache_writer.h"
#include "client/bake/formats/manifest.h"
#include "client/bake/formats/point_cache.h"
#include "sinew/client.h"

namespace sinew::bake {

// Times of the clip's frames. The vertices are set by CacheWriter.
CacheInfo TimesOf(const client::ClipData& clip);

// Times of frames with these numbers, rising and not empty; CacheInfo::fps is not set.
CacheInfo TimesOf(std::span<const std::int64_t> numbers);

// For CacheTarget: null if the vertices are those of the file anyway, unless `always`.
std::shared_ptr<const RestMesh> RestMeshOf(const CharacterFile& character, bool always = false);

// Digests of the files that a bake reads, as in Manifest; empty where there is no file.
struct SourceDigests {
  std::string character, poses, controls;
  std::map<std::string, std::string> clip_files;  // by path
};
// Errors of FileDigest.
absl::StatusOr<SourceDigests> DigestsOf(const CharacterFile& character,
                                        const MotionRequest& motion);

// What a manifest says about the origin of its frames: software, rig, recipe, files and clip.
// `session` is one that is bound or validated.
Manifest ManifestOf(const CharacterFile& character, const SourceDigests& digests,
                    const client::ClipData& clip, const client::Session& session);

// What it says about the samples: shutter, velocities and the first frame.
void DescribeSamples(const MotionRequest& motion, Manifest& manifest);

// Indices of frames of a clip, divided into files or streams.
using Chunks = std::vector<std::vector<std::size_t>>;

// HashPose of each pose.
std::vector<std::uint64_t> PoseHashes(const client::ClipData& clip);

// Manifest::pose_hashes of the clip, [clip.frames]: what decides the bits of each frame besides rig
// and recipe. That is its pose; with velocities, also the poses that they are taken from. Errors of
// ReadEvaluation.
absl::StatusOr<std::vector<std::uint64_t>> PoseHashes(const CharacterFile& character,
                                                      const MotionRequest& motion,
                                                      const client::ClipData& clip);

}  // namespace sinew::bake
