// sinew join: makes a cache of the parts that `sinew bake --part` has written.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "client/cli/base/exit_code.h"
#include "client/cli/base/quantity.h"
#include "client/cli/character/frame_set.h"
#include "client/cli/character/join_parts.h"
#include "client/cli/commands/commands.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

struct Options {
  std::string cache, format;
  std::optional<std::string> frames;
  bool no_clobber = false;
};

// The frames that --frames names.
absl::StatusOr<std::vector<std::int64_t>> NamedFrames(const std::string& text) {
  SINEW_ASSIGN_OR_RETURN(const FrameSet set, ParseFrames(text));
  std::int64_t end = 0;
  for (const FrameRange& range : set.ranges) {
    if (!range.last) {
      return UsageError(absl::StrCat("--frames: got \"", text, "\", need a last frame"));
    }
    end = std::max(end, *range.last);
  }
  return ResolveFrames(set, end + 1, "the cache", 1);
}

absl::Status Join(Context& context, const Options& options) {
  const std::string& out = options.cache;
  JoinRequest request = {.cache = out, .overwrite = !options.no_clobber};
  const absl::StatusOr<CacheFormat> format = ParseCacheFormat(
      options.format.empty() ? std::filesystem::path(out).extension().string() : options.format);
  if (!format.ok()) {
    return UsageError(absl::StrCat("CACHE: got \"", out,
                                   "\", need .pc2, .mdd, .npy, .usda, .obj or .glb, or --format"));
  }
  request.format = *format;
  if (options.frames) {
    SINEW_ASSIGN_OR_RETURN(request.frame_numbers, NamedFrames(*options.frames));
  }
  const auto line = context.MakeProgress("Join");
  SINEW_ASSIGN_OR_RETURN(const JoinOutcome outcome,
                         JoinAndRemoveParts(request, [&](double fraction) {
                           line->Update(fraction, out);
                           return context.CheckStop();
                         }));
  line->Close();
  const Manifest& manifest = outcome.cache.manifest;
  const nlohmann::ordered_json json = {{"out", out},
                                       {"manifest", ManifestPath(out)},
                                       {"format", manifest.format},
                                       {"was_joined", outcome.was_joined},
                                       {"parts", outcome.parts},
                                       {"parts_removed", outcome.removed},
                                       {"frames", manifest.frames},
                                       {"vertices", manifest.vertices},
                                       {"bytes", outcome.cache.bytes}};
  context.PrintResult(json, out + "\n");
  const std::size_t left = outcome.parts - outcome.removed;
  context.Note(absl::StrCat(
      CountedText(manifest.frames, "frame"), " of ", CountText(manifest.vertices), " vertices",
      outcome.was_joined ? ", joined by an earlier run"
                         : absl::StrCat(" from ", CountedText(outcome.parts, "part")),
      "; ", BytesText(outcome.cache.bytes), "; manifest ", ManifestPath(out),
      left == 0
          ? ""
          : absl::StrCat("; ", CountedText(left, "part"), left == 1 ? " is kept" : " are kept")));
  return absl::OkStatus();
}

}  // namespace

void AddJoin(CommandList& commands) {
  auto options = std::make_shared<Options>();
  OptionSet set = commands.Add("join", "Make a cache of the parts that `sinew bake --part` wrote",
                               [options](Context& context) { return Join(context, *options); });
  set.AddText("CACHE", options->cache, "The cache to write; its parts are in CACHE.parts")
      .Required();
  set.AddText(
      "--frames", options->frames,
      "All frames of the cache, such as 0-999: then the parts are removed (default: those of "
      "the parts, which are kept)");
  set.AddChoice("--format", options->format, {"pc2", "mdd", "npy", "usda", "obj", "glb"},
                "Of the cache (default: by the extension)");
  set.AddFlag("--no-clobber", options->no_clobber, "Fail if a file of that name exists");
  set.SetFooter(
      R"(Needs no server. Checks every frame, and that all parts are of the same character, poses, recipe and results. Exit code 65
if a frame is missing or damaged, with its number; nothing is written then, and no part is lost. May be repeated after it
was killed. The cache is the same, byte for byte, as one that was baked at once.
Examples:
  sinew join hero.pc2 --frames 0-999
  sinew join hero.pc2 --json              # the frames that are there; the parts are kept
See also: sinew bake, sinew verify.)");
}

}  // namespace sinew::cli
