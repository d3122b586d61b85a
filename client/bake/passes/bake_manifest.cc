#include "client/bake/passes/bake_manifest.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "client/bake/character/recipe_text.h"
#include "client/bake/files/input_file.h"
#include "client/bake/passes/clip_stream.h"
#include "client/import/valid_text.h"
#include "client/rig/rest_pose.h"
#include "core/base/status.h"

namespace sinew::bake {
namespace {

constexpr double kEven = 1e-6;  // frames: rounding

// Between the first two numbers. They have six digits, so a third of a frame is made one again: the
// rounded step would drift away from later numbers.
double StepOf(const std::vector<double>& numbers) {
  const double step = numbers[1] - numbers[0];
  const double part = 1 / std::round(1 / step);
  return std::abs(step - part) <= kEven ? part : step;
}

}  // namespace

CacheInfo TimesOf(const client::ClipData& clip) {
  CacheInfo info;
  info.frames = static_cast<std::uint32_t>(std::min<std::size_t>(clip.frames, kMaxCacheCount));
  info.first_frame = static_cast<double>(clip.first_frame);
  info.frame_step = static_cast<double>(clip.step);
  if (const std::vector<double>& numbers = clip.frame_numbers; !numbers.empty()) {
    info.first_frame = numbers.front();
    if (numbers.size() > 1) info.frame_step = StepOf(numbers);
    for (std::uint32_t k = 0; k < info.frames && info.frame_numbers.empty(); ++k) {
      if (std::abs(numbers[k] - info.FrameNumber(k)) > kEven) info.frame_numbers = numbers;
    }
  }
  info.fps = clip.fps;
  return info;
}

CacheInfo TimesOf(std::span<const std::int64_t> numbers) {
  client::ClipData clip;
  SetFrameNumbers(numbers, clip);
  return TimesOf(clip);
}

std::shared_ptr<const RestMesh> RestMeshOf(const CharacterFile& character, bool always) {
  if (character.keeps_file_order && !always) return nullptr;
  RestMesh rest;
  rest.positions = client::RestPositions(character.rig);
  rest.corner_uvs.resize(character.rig.meshes.size());
  for (std::size_t m = 0; character.scene && m < rest.corner_uvs.size(); ++m) {
    rest.corner_uvs[m] = character.scene->mesh_extras[m].corner_uvs;
  }
  return std::make_shared<const RestMesh>(std::move(rest));
}

absl::StatusOr<SourceDigests> DigestsOf(const CharacterFile& character,
                                        const MotionRequest& motion) {
  SourceDigests digests;
  const auto add = [](const std::string& path, const char* option,
                      std::string& digest) -> absl::Status {
    if (path.empty()) return absl::OkStatus();
    SINEW_ASSIGN_OR_RETURN(digest, FileDigest(path, option));
    return absl::OkStatus();
  };
  SINEW_RETURN_IF_ERROR(add(character.path, "file", digests.character));
  SINEW_RETURN_IF_ERROR(add(motion.poses, "poses", digests.poses));
  SINEW_RETURN_IF_ERROR(add(motion.controls, "controls", digests.controls));
  for (const std::string& file : character.clip_files) {
    std::string& digest = digests.clip_files[file];
    if (digest.empty()) SINEW_RETURN_IF_ERROR(add(file, "clip_file", digest));
  }
  return digests;
}

Manifest ManifestOf(const CharacterFile& character, const SourceDigests& digests,
                    const client::ClipData& clip, const client::Session& session) {
  Manifest manifest;
  manifest.software_version = SINEW_VERSION;
  manifest.fps = clip.fps;
  manifest.meters_per_unit = character.rig.meters_per_unit;
  const auto digest = [](const std::string& name) { return name.substr(name.find('/') + 1); };
  manifest.rig = digest(session.rig);
  manifest.recipe = RecipeText(session.recipe_json);
  manifest.recipe_digest =
      digest(client::RigName(manifest.recipe));  // the same SHA-256, of the text
  manifest.determinism_digest = session.determinism_digest;
  manifest.source = character.label;
  manifest.source_digest = digests.character;
  manifest.clip = client::ValidText(clip.name);  // of a file of poses: any bytes
  for (std::size_t c = 0; c < character.clip_files.size() && digests.poses.empty(); ++c) {
    const std::string& file = character.clip_files[c];
    if (character.clips[c].name != clip.name || file.empty()) continue;
    manifest.clip_source = client::ValidText(std::filesystem::path(file).filename().string());
    manifest.clip_source_digest = digests.clip_files.at(file);
  }
  manifest.poses_digest = digests.poses;
  manifest.controls_digest = digests.controls;
  return manifest;
}

std::vector<std::uint64_t> PoseHashes(const client::ClipData& clip) {
  std::vector<std::uint64_t> hashes;
  for (std::size_t k = 0; k < clip.frames; ++k) {
    const std::size_t joints = clip.joint_transforms.size() / clip.frames;
    const std::size_t controls = clip.controls.size() / clip.frames;
    hashes.push_back(HashPose(std::span(clip.joint_transforms).subspan(k * joints, joints),
                              std::span(clip.controls).subspan(k * controls, controls)));
  }
  return hashes;
}

void DescribeSamples(const MotionRequest& motion, Manifest& manifest) {
  if (motion.shutter) {
    manifest.shutter = {.open = motion.shutter->open,
                        .close = motion.shutter->close,
                        .samples = static_cast<std::uint64_t>(motion.shutter->samples)};
  }
  manifest.velocity_step = motion.velocity_step;
  manifest.start_frame = static_cast<std::uint64_t>(motion.frames.start);
}

absl::StatusOr<std::vector<std::uint64_t>> PoseHashes(const CharacterFile& character,
                                                      const MotionRequest& motion,
                                                      const client::ClipData& clip) {
  if (motion.velocity_step == 0) return PoseHashes(clip);
  SINEW_ASSIGN_OR_RETURN(const Evaluation evaluation, ReadEvaluation(character, motion, clip));
  const std::vector<std::uint64_t> poses = PoseHashes(evaluation.clip);
  std::vector<std::uint64_t> hashes;
  for (std::size_t k = 0; k < clip.frames; ++k) {
    hashes.push_back(CombineHashes(std::array{
        poses[evaluation.before[k]], poses[evaluation.outputs[k]], poses[evaluation.after[k]]}));
  }
  return hashes;
}

}  // namespace sinew::bake
