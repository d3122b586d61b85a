// sinew verify: recomputes every checksum of a point cache.
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/bake/base/quantity.h"
#include "client/bake/files/cache_check.h"
#include "client/bake/passes/repair_cache.h"
#include "client/cli/base/printable.h"
#include "client/cli/commands/commands.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

// What is wrong with a cache, or empty. Its row begins with its path.
std::string ReasonOf(const std::string& path, const absl::StatusOr<bake::CheckedCache>& verified) {
  if (!verified.ok()) {
    return std::string(absl::StripPrefix(verified.status().message(),
                                         absl::StrCat("file: cannot read ", path, ": ")));
  }
  const bake::CacheDamage& damage = verified->damage;
  if (damage.samples.empty()) return damage.first;
  return absl::StrCat(damage.first, "; bad frames: ",
                      bake::FramesText(bake::InfoOf(verified->manifest), damage.samples));
}

std::string RowText(const std::string& path, const absl::StatusOr<bake::CheckedCache>& verified) {
  if (const std::string reason = ReasonOf(path, verified); !reason.empty()) {
    return absl::StrCat("bad ", Printable(path), ": ", Printable(reason), "\n");
  }
  const bake::Manifest& manifest = verified->manifest;
  return absl::StrCat("ok ", Printable(path), ": ", CountedText(manifest.frames, "frame"), " of ",
                      bake::CountText(manifest.vertices), " vertices\n");
}

nlohmann::ordered_json RowJson(const std::string& path,
                               const absl::StatusOr<bake::CheckedCache>& verified) {
  const std::string reason = ReasonOf(path, verified);
  nlohmann::ordered_json row = {{"cache", path}, {"ok", reason.empty()}};
  if (reason.empty()) {
    row["format"] = verified->manifest.format;
    row["frames"] = verified->manifest.frames;
    row["vertices"] = verified->manifest.vertices;
    row["determinism_digest"] = verified->manifest.determinism_digest;
    return row;
  }
  nlohmann::ordered_json frames = nlohmann::ordered_json::array();
  if (verified.ok()) {
    for (const std::uint32_t k : verified->damage.samples) {
      frames.push_back(verified->manifest.FrameNumber(k));
    }
  }
  row["bad_frames"] = std::move(frames);
  row["reason"] = reason;
  return row;
}

absl::Status Verify(const Context& context, const std::vector<std::string>& paths) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  std::vector<std::string> bad;
  for (const std::string& path : paths) {
    const absl::StatusOr<bake::CheckedCache> verified = bake::CheckCache(context, path);
    SINEW_RETURN_IF_ERROR(context.CheckStop());
    if (!ReasonOf(path, verified).empty()) bad.push_back(path);
    if (context.json()) {
      json.push_back(RowJson(path, verified));
    } else {
      context.Print(RowText(path, verified));
    }
  }
  if (context.json()) context.PrintJson(json);
  if (bad.empty()) return absl::OkStatus();
  // The row of each cache states what is wrong.
  return absl::DataLossError(paths.size() == 1
                                 ? absl::StrCat(bad[0], ": bad")
                                 : absl::StrCat(bad.size(), " of ", paths.size(),
                                                bad.size() == 1 ? " caches is" : " caches are",
                                                " bad, the first: ", bad[0]));
}

}  // namespace

void AddVerify(CommandList& commands) {
  auto [set, paths] = commands.Add<std::vector<std::string>>(
      "verify", "Check every frame of point caches against their manifests", Verify);
  set.AddList(
         "CACHE", paths,
         ".pc2, .mdd, .npy, .usda, .glb or a sequence such as hero.####.obj, with its manifest "
         "(CACHE.json) beside it")
      .Required();
  set.SetFooter(
      R"(Needs no server. Checks every cache; exit code 65 if one is bad, with the frames that differ; `sinew repair`
bakes these again.
Examples:
  sinew verify hero.pc2
  sinew verify shots/*.mdd --json
See also: sinew repair, sinew bake.)");
}

}  // namespace sinew::cli
