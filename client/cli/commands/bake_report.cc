#include "client/cli/commands/bake_report.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "client/bake/base/quantity.h"
#include "client/bake/character/import_warnings.h"
#include "client/bake/files/cache_check.h"
#include "client/bake/files/cache_parts.h"
#include "client/bake/passes/bake_manifest.h"
#include "core/base/counted_text.h"

namespace sinew::cli {
namespace {

// What is known before a bake.
nlohmann::ordered_json TargetJson(const bake::PassInput& in, const bake::PartsRequest& parts,
                                  const bake::CacheTarget& target) {
  std::vector<std::string> meshes;
  for (const std::size_t m : target.meshes) meshes.push_back(in.character.rig.meshes[m].name);
  const bake::CacheInfo times = bake::TimesOf(in.clip);
  nlohmann::ordered_json json;
  if (parts.only) {
    json["parts"] = bake::PartsFolder(target.path);
  } else {
    json["out"] = target.path;
    json["manifest"] = bake::ManifestPath(target.path);
  }
  json["format"] = bake::CacheFormatName(parts.only ? bake::kPartFormat : target.format);
  json["clip"] = in.clip.name;
  json["meshes"] = meshes;
  json["frames"] = in.clip.frames;
  json["first_frame"] = times.first_frame;
  json["frame_step"] = times.frame_step;
  if (!times.frame_numbers.empty()) json["frame_numbers"] = times.frame_numbers;
  json["fps"] = in.clip.fps;
  json["vertices"] = bake::VerticesOf(target, in.character.rig);
  json["warnings"] = bake::ImportWarnings(in.character);
  return json;
}

nlohmann::ordered_json JsonOf(const bake::PassInput& in, const bake::PartsRequest& parts,
                              const bake::CacheTarget& target, const bake::Baked& baked) {
  nlohmann::ordered_json json = TargetJson(in, parts, target);
  const double seconds = std::max(absl::ToDoubleSeconds(baked.elapsed), 1e-9);
  if (const absl::StatusOr<bake::Manifest> manifest = bake::ReadManifest(target.path);
      !parts.only && manifest.ok()) {
    const absl::StatusOr<bake::OpenCache> cache = bake::OpenCache::Open(target.path, *manifest);
    if (cache.ok()) json["bytes"] = cache->bytes();
  }
  json["current"] = baked.current;
  json["frames_kept"] = baked.current ? in.clip.frames : baked.kept;
  json["frames_baked"] = baked.received;
  json["seconds"] = seconds;
  json["frames_per_second"] = static_cast<double>(baked.received) / seconds;
  json["rig"] = baked.manifest.rig;
  json["recipe"] = baked.manifest.recipe;
  json["determinism_digest"] = baked.manifest.determinism_digest;
  if (target.WritesRest() && !parts.only) json["rest"] = bake::RestPath(target.path);
  return json;
}

std::string FilesText(const bake::PassInput& in, const bake::PartsRequest& parts) {
  const std::vector<bake::CacheTarget>& targets = in.pass.targets;
  if (parts.only) return "; parts for `sinew join`";
  return targets.size() == 1
             ? "; manifest " + bake::ManifestPath(targets[0].path)
             : absl::StrCat(" in ", targets.size(), " caches, each with a manifest");
}

// How to join the parts; a task does not know the frames of the others.
void NoteJoin(const Context& context, const bake::PassInput& in) {
  std::string caches;
  for (const bake::CacheTarget& target : in.pass.targets) {
    absl::StrAppend(&caches, " '", absl::StrReplaceAll(target.path, {{"'", "'\\''"}}), "'");
  }
  context.Note(in.motion.frames.ranges.empty()
                   ? absl::StrCat("join with: sinew join", caches, " --frames ",
                                  bake::FramesText(bake::FramesOfPass(in)))
                   : absl::StrCat("when all parts are there, join with: sinew join", caches,
                                  " --frames FIRST-LAST"));
}

}  // namespace

void Report(const Context& context, const bake::PassInput& in, const bake::PartsRequest& parts,
            const bake::Baked& baked, nlohmann::ordered_json& caches) {
  for (const bake::CacheTarget& target : in.pass.targets) {
    if (target.WritesRest() && !parts.only) {
      context.Note(absl::StrCat("vertices are not in the order of the file: apply the cache to ",
                                bake::RestPath(target.path)));
    }
    if (context.json()) {
      caches.push_back(JsonOf(in, parts, target, baked));
    } else {
      context.Print((parts.only ? bake::PartsFolder(target.path) : target.path) + "\n");
    }
  }
  if (baked.current) {
    context.Note(absl::StrCat("clip '", in.clip.name, "': the cache is current, nothing is baked"));
    return;
  }
  const std::string kept =
      baked.kept == 0 ? "" : absl::StrCat(" (", baked.kept, " from an earlier run)");
  if (parts.only) NoteJoin(context, in);
  context.Note(absl::StrCat(CountedText(in.clip.frames, "frame"), kept, " of ",
                            bake::CountText(in.character.rig.vertices()), " vertices, clip '",
                            in.clip.name, "', in ", bake::DurationText(baked.elapsed), "; ",
                            bake::BytesText(baked.bytes), FilesText(in, parts)));
}

void ReportPlan(const Context& context, const bake::PassInput& in, const bake::PartsRequest& parts,
                const bake::Chunks& chunks, const client::Session& session,
                const bake::Baked& baked, nlohmann::ordered_json& caches) {
  std::size_t frames = 0;
  for (const std::vector<std::size_t>& chunk : chunks) frames += chunk.size();
  const client::Estimate& estimate = session.estimate;
  const absl::Duration time =
      estimate.bind_time + estimate.frame_time * static_cast<double>(frames);
  for (const bake::CacheTarget& target : in.pass.targets) {
    bake::CacheTarget written = target;
    if (parts.only) written.format = bake::kPartFormat;
    const std::uint64_t bytes =
        bake::CacheWriter::Estimate(written, bake::TimesOf(in.clip), in.character.rig);
    if (context.json()) {
      nlohmann::ordered_json json = TargetJson(in, parts, target);
      json["current"] = baked.current;
      json["frames_to_bake"] = frames;
      json["files_to_bake"] = chunks.size();
      json["bytes"] = bytes;
      json["estimate"] = {{"bind_seconds", absl::ToDoubleSeconds(estimate.bind_time)},
                          {"frame_seconds", absl::ToDoubleSeconds(estimate.frame_time)},
                          {"seconds", frames == 0 ? 0 : absl::ToDoubleSeconds(time)},
                          {"bound_bytes", estimate.bound_bytes},
                          {"peak_bytes", estimate.peak_bytes}};
      caches.push_back(std::move(json));
    } else if (baked.current) {
      context.Print(absl::StrCat(target.path, ": current, nothing to bake\n"));
    } else {
      context.Print(absl::StrCat(
          target.path, ": clip '", in.clip.name, "', ", CountedText(in.clip.frames, "frame"), ", ",
          bake::BytesText(bytes), "; ", frames, " to bake",
          parts.enabled() ? absl::StrCat(" in ", CountedText(chunks.size(), "part"))
                          : std::string(),
          "\n"));
    }
  }
  if (baked.current) return;
  context.Note(absl::StrCat(
      "about ", bake::DurationText(estimate.bind_time), " to bind unless that is done, ",
      bake::DurationText(estimate.frame_time), " a frame, ", bake::DurationText(time),
      " in all; the server needs ", bake::BytesText(estimate.bound_bytes), " for the bound data, ",
      bake::BytesText(estimate.peak_bytes), " while it binds"));
}

std::string KeptText(const bake::PassInput& in, const bake::PartsRequest& parts,
                     const bake::Baked& baked) {
  const std::string& out = in.pass.targets[0].path;
  if (parts.enabled()) {
    const std::uint64_t kept = baked.kept + baked.finished;
    return absl::StrCat(kept, " of ", CountedText(in.clip.frames, "frame"),
                        kept == 1 ? " is" : " are", " kept in ", bake::PartsFolder(out),
                        "; --resume continues");
  }
  std::error_code error;
  return absl::StrCat(baked.received, " of ", CountedText(in.clip.frames, "frame"),
                      baked.received == 1 ? " was" : " were", " received, none is kept; ", out,
                      std::filesystem::exists(out, error) ? " is unchanged" : " is not written");
}

}  // namespace sinew::cli
