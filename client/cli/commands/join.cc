// sinew join: makes a cache of the parts that `sinew bake --part` has written.
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "client/bake/base/quantity.h"
#include "client/bake/character/frame_set.h"
#include "client/bake/files/cache_parts.h"
#include "client/bake/passes/join_parts.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/commands/commands.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

struct Options {
  std::vector<std::string> caches;
  std::string format;
  std::optional<std::string> frames;
  bool no_clobber = false;
};

// The frames that --frames names.
absl::StatusOr<std::vector<std::int64_t>> NamedFrames(const std::string& text) {
  SINEW_ASSIGN_OR_RETURN(const bake::FrameSet set, bake::ParseFrames(text));
  double end = 0;
  for (const bake::FrameRange& range : set.ranges) {
    if (!range.last) {
      return UsageError(absl::StrCat("--frames: got \"", text, "\", need a last frame"));
    }
    end = std::max(end, *range.last);
  }
  return bake::ResolveFrames(set, static_cast<std::int64_t>(end) + 1, "the parts", 1);
}

// The cache of a folder of parts, so that a pattern such as hero.*.pc2.parts names them.
std::string CacheOf(absl::string_view path) {
  while (path.size() > 1 && absl::ConsumeSuffix(&path, "/")) {
  }
  absl::ConsumeSuffix(&path, bake::kPartsSuffix);
  return std::string(path);
}

absl::StatusOr<nlohmann::ordered_json> Join(const Context& context, const Options& options,
                                            const std::string& out) {
  bake::JoinRequest request = {.cache = out, .overwrite = !options.no_clobber};
  const absl::StatusOr<bake::CacheFormat> format = bake::ParseCacheFormat(
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
  SINEW_ASSIGN_OR_RETURN(const bake::JoinOutcome outcome,
                         bake::JoinAndRemoveParts(request, [&](double fraction) {
                           line->Update(fraction, out);
                           return context.CheckStop();
                         }));
  line->Close();
  const bake::Manifest& manifest = outcome.cache.manifest;
  nlohmann::ordered_json json = {{"out", out},
                                 {"manifest", bake::ManifestPath(out)},
                                 {"format", manifest.format},
                                 {"was_joined", outcome.was_joined},
                                 {"parts", outcome.used},
                                 {"parts_removed", outcome.removed},
                                 {"parts_kept", outcome.kept},
                                 {"frames", manifest.frames},
                                 {"vertices", manifest.vertices},
                                 {"bytes", outcome.cache.bytes}};
  if (!context.json()) context.Print(out + "\n");
  context.Note(absl::StrCat(
      CountedText(manifest.frames, "frame"), " of ", bake::CountText(manifest.vertices),
      " vertices",
      outcome.was_joined ? ", joined by an earlier run"
                         : absl::StrCat(" from ", CountedText(outcome.used, "part")),
      "; ", bake::BytesText(outcome.cache.bytes), "; manifest ", bake::ManifestPath(out),
      outcome.kept == 0 ? ""
                        : absl::StrCat("; ", CountedText(outcome.kept, "part"),
                                       outcome.kept == 1 ? " is kept" : " are kept")));
  return json;
}

absl::Status JoinAll(const Context& context, const Options& options) {
  nlohmann::ordered_json caches = nlohmann::ordered_json::array();
  absl::Status status;
  for (const std::string& path : options.caches) {
    absl::StatusOr<nlohmann::ordered_json> joined = Join(context, options, CacheOf(path));
    status = joined.status();
    if (!status.ok()) break;
    caches.push_back(*std::move(joined));
  }
  if (!context.json()) return status;
  // Also those before one that cannot be joined: their parts are gone.
  if (options.caches.size() > 1) {
    context.PrintJson(caches);
  } else if (status.ok()) {
    context.PrintJson(caches[0]);
  }
  return status;
}

}  // namespace

void AddJoin(CommandList& commands) {
  auto [set, options] = commands.Add<Options>(
      "join", "Make a cache of the parts that `sinew bake --part` wrote", JoinAll);
  set.AddList("CACHE", options.caches,
              "The caches to write, such as one for each mesh; the parts are in CACHE.parts, which "
              "may be named as well")
      .Required();
  set.AddText(
      "--frames", options.frames,
      "All frames of the cache, such as 0-999: then the parts are removed (default: those of "
      "the parts, which are kept)");
  set.AddChoice("--format", options.format, {"pc2", "mdd", "npy", "usda", "obj", "glb"},
                "Of the cache (default: by the extension)");
  set.AddFlag("--no-clobber", options.no_clobber, "Fail if a file of that name exists");
  set.SetFooter(
      R"(Needs no server. Checks every frame, and that all parts are of the same character, poses, recipe and results. Exit code 65
if a frame is missing or damaged, with its number; the cache stays as it is then, and no part is lost. May be repeated
after it was killed. With --frames, those that no part has are taken from CACHE itself if it is there (not from .usda and
.glb), so a bake may be extended or cut. The cache is the same, byte for byte, as one that was baked at once.
Examples:
  sinew join hero.pc2 --frames 0-999
  sinew join hero.body.pc2 hero.head.pc2 --frames 0-999
  sinew join hero.*.pc2.parts --frames 0-999     # of every mesh of a bake with --split
  sinew join hero.pc2 --json              # the frames that are there; the parts are kept
See also: sinew bake, sinew verify.)");
}

}  // namespace sinew::cli
