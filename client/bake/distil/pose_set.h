// pose_set.h - the poses from which a deformer is distilled, and on which the result is judged.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "client/bake/character/character_file.h"
#include "client/bake/distil/rig_skin.h"
#include "core/base/types.h"
#include "core/distil/pose_samples.h"
#include "sinew/rig_data.h"

namespace sinew::bake {

struct PoseRequest {
  bool random = false;             // only random poses, without clips
  std::vector<std::string> clips;  // names or numbers; empty = all of the file
  double poses_per_second = 10;    // of clips
  std::uint64_t seed = 1;
};

struct PoseSet {
  std::vector<std::vector<AffineD>> joints;  // [poses][J] joint to model; the first is rest
  std::vector<std::string> names;            // for people
  std::size_t random = 0;                    // poses 1 to `random` are random, then come the clips
  std::vector<std::size_t> held_out;         // rising
  std::vector<TurnRange> ranges;             // [J] within which joints turn in random poses
  bool from_clips = false;                   // the ranges are those of clips, else 35 degrees

  std::vector<std::size_t> Training() const;
  std::vector<std::vector<AffineD>> Of(const std::vector<std::size_t>& poses) const;
};

// Rest, 2 J random poses (at least 60, without clips 180, at most 2,000) turned from the bind pose,
// and those of the clips. Joints whose `moves` is false stay at rest in random poses. Ranges are
// those of the clips, 20 % wider; without clips every joint turns by up to 35 degrees. A third is
// held out, chosen by the seed.
//   Errors of ReadMotion. kInvalidArgument: more poses than memory is for.
absl::StatusOr<PoseSet> MakePoses(const CharacterFile& character, const RigSkin& skin,
                                  const std::vector<bool>& moves, const PoseRequest& request);

// Poses as a clip, with all controls at their defaults.
client::ClipData ClipOf(const client::RigData& rig,
                        const std::vector<std::vector<AffineD>>& joints);

// The clips of the result, as they come to Distil.
//    fps     of these
//    shapes  how many each frame may have keys for
// Errors of ReadMotion. kInvalidArgument: more keys of shapes than memory is for, before any clip
// is read.
absl::StatusOr<std::vector<client::ClipData>> ReadClips(const CharacterFile& character,
                                                        const PoseRequest& request, double fps,
                                                        std::size_t shapes);

// Names of the clips of a character that `wanted` means; all if it is empty.
std::vector<std::string> ClipNames(const CharacterFile& character,
                                   const std::vector<std::string>& wanted);

}  // namespace sinew::bake
