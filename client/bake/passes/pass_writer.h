// pass_writer.h - the files of one pass of frames: whole caches, or their parts one after the
// other.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "client/bake/character/character_file.h"
#include "client/bake/files/cache_writer.h"
#include "client/bake/passes/bake_plan.h"

namespace sinew::bake {

// Not thread-safe. What it refers to must outlive it.
class PassWriter {
 public:
  // One file per chunk and target: the target itself, or if `parts` one of its parts.
  PassWriter(const CharacterFile& character, const client::ClipData& clip,
             const std::vector<CacheTarget>& targets, const Chunks& chunks, bool parts)
      : character_(character), clip_(clip), targets_(targets), chunks_(chunks), parts_(parts) {}

  // Creates the files of the first chunk, so that an unwritable place is known before any work.
  // Errors of CacheWriter::Create.
  absl::Status Begin();

  // What the manifests say: before the first frame. `pose_hashes` are those of the whole clip.
  void SetOrigin(Manifest origin, std::vector<std::uint64_t> pose_hashes);

  // The next frame of the rig, as CacheWriter::Append. The files of a chunk appear before the first
  // frame of the next one is taken.
  absl::Status Append(const FrameArrays& frame);

  // The files of the last chunk appear: once it is known that nothing went wrong.
  absl::Status Finish();

  // Those of the chunk that is written now.
  std::vector<std::string> paths() const;

  std::uint64_t bytes() const { return bytes_; }      // of caches that are complete
  std::size_t finished() const { return finished_; }  // frames in them

 private:
  const CharacterFile& character_;
  const client::ClipData& clip_;
  const std::vector<CacheTarget>& targets_;
  const Chunks& chunks_;
  const bool parts_;
  Manifest origin_;
  std::vector<std::uint64_t> pose_hashes_;
  std::vector<CacheWriter> writers_;
  std::size_t chunk_ = 0, appended_ = 0, finished_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace sinew::bake
