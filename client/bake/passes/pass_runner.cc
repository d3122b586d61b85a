#include "client/bake/passes/pass_runner.h"

#include <absl/strings/str_cat.h>
#include <absl/time/clock.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "client/bake/character/shutter.h"
#include "client/bake/files/cache_check.h"
#include "client/bake/files/cache_output.h"
#include "client/bake/files/cache_parts.h"
#include "client/bake/files/output_file.h"
#include "client/bake/passes/bake_manifest.h"
#include "client/bake/passes/bake_targets.h"
#include "client/bake/passes/bound_character.h"
#include "client/bake/passes/clip_stream.h"
#include "client/bake/passes/join_parts.h"
#include "client/bake/passes/pass_writer.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::bake {
namespace {

// The error of frames or samples that a .pc2 cannot hold.
absl::Status UnevenPc2(const PassInput& in) {
  constexpr char kOthers[] = "; or bake .mdd or .npy, which hold any";
  const CacheInfo frames = FramesOfPass(in);
  const bool is_row = frames.frame_numbers.empty() && frames.frame_step == 1;
  if (in.motion.shutter && is_row) {
    return absl::InvalidArgumentError(
        absl::StrCat("shutter: .pc2 holds samples at even distances; ",
                     EvenSamplesText(*in.motion.shutter), kOthers));
  }
  const auto first = static_cast<std::int64_t>(std::floor(frames.FrameNumber(0)));
  const auto last = static_cast<std::int64_t>(std::ceil(frames.FrameNumber(frames.frames - 1)));
  const std::string range = absl::StrCat(first, "-", last);
  return absl::InvalidArgumentError(absl::StrCat(
      "frames: got ", FramesText(frames),
      in.motion.shutter ? "; with `shutter`, .pc2 holds frames without gaps"
                        : "; .pc2 holds frames at even distances",
      ", such as `frames` ", range,
      in.motion.shutter || last - first < 4 ? "" : absl::StrCat(" or ", range, "x2"), kOthers));
}

}  // namespace

CacheInfo FramesOfPass(const PassInput& in) {
  if (!in.motion.shutter) return TimesOf(in.clip);
  std::vector<double> numbers;
  for (std::size_t k = 0; k < in.clip.frames; ++k) numbers.push_back(in.clip.FrameNumber(k));
  return TimesOf(FramesOf(numbers, *in.motion.shutter));
}

PassRunner::PassRunner(const Monitor& monitor, const PassInput& in, const PartsRequest& parts,
                       const std::optional<Manifest>& origin, BoundSource bind)
    : monitor_(monitor), in_(in), parts_(parts), bind_(std::move(bind)) {
  if (!origin) return;
  baked_.manifest = *origin;
  plan_.emplace(in, parts, *origin);
}

absl::Status PassRunner::CheckTargets() const {
  for (const CacheTarget& target : in_.pass.targets) {
    CacheInfo info = TimesOf(in_.clip);
    info.vertices = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(VerticesOf(target, in_.character.rig), kMaxCacheCount));
    // Parts hold any frames, but a sequence or a .glb says early what it cannot hold.
    if (!parts_.only || IsSceneFormat(target.format)) {
      const absl::Status status = CacheOutput::Check({.path = target.path,
                                                      .format = target.format,
                                                      .attributes = target.attributes,
                                                      .overwrite = target.overwrite,
                                                      .usd = target.usd},
                                                     info);
      if (!status.ok() && target.format == CacheFormat::kPc2 && !info.frame_numbers.empty()) {
        return UnevenPc2(in_);
      }
      SINEW_RETURN_IF_ERROR(status);
    }
    SINEW_RETURN_IF_ERROR(OutputFile::Check(target.path, target.overwrite));
    SINEW_RETURN_IF_ERROR(OutputFile::Check(ManifestPath(target.path), target.overwrite));
  }
  return absl::OkStatus();
}

absl::StatusOr<BakePlan::Missing> PassRunner::FindWork() {
  const auto line = monitor_.MakeProgress("Compare", Monitor::Part::kFirst);
  const CacheProgress progress = [&](double fraction) {
    line->Update(fraction);
    return monitor_.CheckStop();
  };
  if (parts_.resume) {
    SINEW_ASSIGN_OR_RETURN(baked_.current, plan_->IsCurrent(progress));
    if (baked_.current) return BakePlan::Missing();
  }
  SINEW_RETURN_IF_ERROR(CheckTargets());
  if (parts_.resume) return plan_->FindMissing(progress);
  return BakePlan::Missing{.chunks = ChunksOf(in_.clip, parts_), .useless = {}};
}

absl::Status PassRunner::Deform(const Chunks& chunks) {
  PassWriter writer(in_.character, in_.clip, in_.pass.targets, chunks, parts_.enabled());
  SINEW_RETURN_IF_ERROR(writer.Begin());
  SINEW_ASSIGN_OR_RETURN(const client::Character bound, bind_());
  WarnOfClip(monitor_, in_.character.rig, bound, in_.clip);
  baked_.manifest = ManifestOf(in_.character, in_.digests, in_.clip, bound.session());
  DescribeSamples(in_.motion, baked_.manifest);
  SINEW_ASSIGN_OR_RETURN(std::vector<std::uint64_t> hashes,
                         PoseHashes(in_.character, in_.motion, in_.clip));
  writer.SetOrigin(baked_.manifest, std::move(hashes));
  const auto write = [&](const ClipSample& sample) -> absl::Status {
    ++baked_.received;
    const absl::Status status = writer.Append({sample.points, sample.normals, sample.velocities});
    baked_.finished = writer.finished();
    return status;
  };
  ClipStreamOptions stream = {.label = "Bake",
                              .output = OutputOf(in_.pass.targets[0]),
                              .progress_begin = in_.progress_begin,
                              .progress_end = in_.progress_end};
  for (const std::vector<std::size_t>& chunk : chunks) {
    stream.wanted.insert(stream.wanted.end(), chunk.begin(), chunk.end());
  }
  SINEW_RETURN_IF_ERROR(
      StreamSamples(monitor_, in_.character, bound, in_.motion, in_.clip, stream, write));
  SINEW_RETURN_IF_ERROR(writer.Finish());
  baked_.finished = writer.finished();
  baked_.bytes = writer.bytes();
  return absl::OkStatus();
}

absl::Status PassRunner::Join() {
  baked_.bytes = 0;
  const auto line = monitor_.MakeProgress("Join", Monitor::Part::kFirst);
  for (const CacheTarget& target : in_.pass.targets) {
    const JoinRequest request = {.cache = target.path,
                                 .format = target.format,
                                 .overwrite = target.overwrite,
                                 .frames = TimesOf(in_.clip)};
    SINEW_ASSIGN_OR_RETURN(JoinOutcome outcome, JoinAndRemoveParts(request, [&](double fraction) {
                             line->Update(fraction, target.path);
                             return monitor_.CheckStop();
                           }));
    baked_.bytes += outcome.cache.bytes;
    baked_.manifest = std::move(outcome.cache.manifest);
  }
  return absl::OkStatus();
}

void PassRunner::RemoveLeftOver() {
  // An earlier run may have ended before it did.
  if (joins()) {
    RemoveParts(in_.pass.targets, in_.clip);
  } else if (parts_.only && parts_.resume) {
    const std::size_t removed = RemovePartsOfOtherBakes(in_.pass.targets, in_.clip);
    if (removed > 0) {
      monitor_.Note(absl::StrCat(CountedText(removed, "part"), " of another bake removed"));
    }
  }
}

absl::Status PassRunner::RunOnce() {
  SINEW_ASSIGN_OR_RETURN(const BakePlan::Missing work, FindWork());
  if (baked_.current) {
    RemoveLeftOver();
    return absl::OkStatus();
  }
  std::size_t wanted = 0;
  for (const std::vector<std::size_t>& chunk : work.chunks) wanted += chunk.size();
  baked_.kept = in_.clip.frames - wanted;
  // Nothing is removed unless what replaces it can be bound.
  const bool starts_again = joins() && !parts_.resume;
  if (!work.chunks.empty() && (starts_again || !work.useless.empty())) {
    SINEW_RETURN_IF_ERROR(bind_().status());
  }
  for (const auto& [path, why] : work.useless) {
    monitor_.Note(absl::StrCat(path, " is removed: ", why));
    RemovePart(path);
  }
  if (starts_again) {
    const std::size_t removed = RemoveParts(in_.pass.targets, in_.clip);
    if (removed > 0) {
      monitor_.Note(absl::StrCat(CountedText(removed, "part"),
                                 " of an earlier run removed; a bake that resumes keeps them"));
    }
  }
  if (!work.chunks.empty()) SINEW_RETURN_IF_ERROR(Deform(work.chunks));
  return joins() ? Join() : absl::OkStatus();
}

absl::Status PassRunner::Run() {
  const absl::Time start = absl::Now();
  absl::Status status = RunOnce();
  // Another process may have joined the same parts meanwhile, and removed them.
  if (!status.ok() && parts_.resume && monitor_.CheckStop().ok()) {
    const absl::StatusOr<bool> current =
        plan_->IsCurrent([&](double) { return monitor_.CheckStop(); });
    baked_.current = current.ok() && *current;
    if (baked_.current) status = absl::OkStatus();
  }
  baked_.elapsed = absl::Now() - start;
  return status;
}

}  // namespace sinew::bake
