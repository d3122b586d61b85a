#include "client/bake/passes/pass_writer.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "client/bake/files/cache_parts.h"
#include "client/bake/files/output_file.h"
#include "client/bake/passes/bake_manifest.h"
#include "core/base/status.h"

namespace sinew::bake {
namespace {

// The frames of the clip with these indices, without poses.
client::ClipData TimesOfChunk(const client::ClipData& clip, const std::vector<std::size_t>& chunk) {
  client::ClipData part;
  part.fps = clip.fps;
  part.frames = chunk.size();
  part.first_frame = clip.first_frame + static_cast<std::int64_t>(chunk.front()) * clip.step;
  part.step = chunk.size() > 1 ? clip.step * static_cast<std::int64_t>(chunk[1] - chunk[0]) : 1;
  if (!clip.frame_numbers.empty()) {
    for (const std::size_t k : chunk) part.frame_numbers.push_back(clip.frame_numbers[k]);
  }
  return part;
}

}  // namespace

std::vector<std::string> PassWriter::paths() const {
  std::vector<double> numbers;
  for (const std::size_t k : chunks_[chunk_]) numbers.push_back(clip_.FrameNumber(k));
  std::vector<std::string> paths;
  for (const CacheTarget& target : targets_) {
    paths.push_back(parts_ ? PartPath(target.path, numbers) : target.path);
  }
  return paths;
}

absl::Status PassWriter::Begin() {
  const std::vector<std::size_t>& chunk = chunks_[chunk_];
  const CacheInfo info = TimesOf(parts_ ? TimesOfChunk(clip_, chunk) : clip_);
  writers_.clear();
  const std::vector<std::string> paths = this->paths();
  for (std::size_t t = 0; t < targets_.size(); ++t) {
    CacheTarget target = targets_[t];
    if (parts_) {
      SINEW_RETURN_IF_ERROR(CreatePartsFolder(target.path));
      target.path = paths[t];
      target.format = kPartFormat;
      target.overwrite = true;  // whoever wrote it wrote the same
    }
    SINEW_ASSIGN_OR_RETURN(CacheWriter writer, CacheWriter::Create(target, info, character_.rig));
    writers_.push_back(std::move(writer));
  }
  return absl::OkStatus();
}

void PassWriter::SetOrigin(Manifest origin, std::vector<std::uint64_t> pose_hashes) {
  origin_ = std::move(origin);
  pose_hashes_ = std::move(pose_hashes);
}

absl::Status PassWriter::Append(const FrameArrays& frame) {
  if (appended_ == chunks_[chunk_].size()) {
    SINEW_RETURN_IF_ERROR(Finish());
    ++chunk_;
    SINEW_RETURN_IF_ERROR(Begin());
  }
  for (CacheWriter& writer : writers_) SINEW_RETURN_IF_ERROR(writer.Append(frame));
  ++appended_;
  return absl::OkStatus();
}

absl::Status PassWriter::Finish() {
  Manifest manifest = origin_;
  for (const std::size_t k : chunks_[chunk_]) manifest.pose_hashes.push_back(pose_hashes_[k]);
  SINEW_ASSIGN_OR_RETURN(const std::uint64_t bytes, CacheWriter::Finish(writers_, manifest));
  bytes_ += bytes;
  finished_ += std::exchange(appended_, 0);
  return absl::OkStatus();
}

}  // namespace sinew::bake
