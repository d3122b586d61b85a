// sinew verify: recomputes every checksum of a point cache.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "client/cli/base/exit_code.h"
#include "client/cli/base/printable.h"
#include "client/cli/base/quantity.h"
#include "client/cli/commands/commands.h"
#include "client/cli/files/cache_writer.h"
#include "client/cli/files/input_file.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

constexpr std::uint64_t kMaxManifestBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kMaxCacheBytes = std::uint64_t{1} << 46;

absl::StatusOr<Manifest> ReadManifest(const std::string& path) {
  const auto file = InputFile::Open(path, kMaxManifestBytes);
  if (!file.ok()) return Prefixed("manifest", file.status());
  auto manifest = ParseManifest(file->text());
  if (!manifest.ok()) return Prefixed(path, manifest.status());
  return manifest;
}

// `frame` is the one under check, if an error ends this.
absl::Status CheckFrames(const Context& context, const CacheReader& reader,
                         const Manifest& manifest, std::optional<double>& frame) {
  const auto line = context.MakeProgress("Verify");
  std::vector<float> positions(std::size_t{reader.vertices()} * 3);
  for (std::uint32_t k = 0; k < reader.frames(); ++k) {
    SINEW_RETURN_IF_ERROR(context.CheckStop());
    frame = manifest.FrameNumber(k);
    SINEW_RETURN_IF_ERROR(reader.ReadFrame(k, positions));
    const std::uint64_t hash = HashPositions(positions);
    if (hash != manifest.frame_hashes[k]) {
      return absl::DataLossError(
          absl::StrFormat("sample %d (frame %s) has checksum %016x, its manifest says %016x", k,
                          NumberText(*frame), hash, manifest.frame_hashes[k]));
    }
    line->Update(static_cast<double>(k + 1) / reader.frames());
  }
  return absl::OkStatus();
}

absl::StatusOr<Manifest> VerifyOne(const Context& context, const std::string& path,
                                   std::optional<double>& frame) {
  SINEW_ASSIGN_OR_RETURN(const InputFile file, InputFile::Open(path, kMaxCacheBytes));
  SINEW_ASSIGN_OR_RETURN(Manifest manifest, ReadManifest(ManifestPath(path)));
  SINEW_ASSIGN_OR_RETURN(const CacheFormat format, ParseCacheFormat(manifest.format));
  SINEW_ASSIGN_OR_RETURN(const CacheReader reader, CacheReader::Open(format, file.bytes()));
  if (reader.frames() != manifest.frames || reader.vertices() != manifest.vertices) {
    return absl::DataLossError(absl::StrCat("the cache has ", reader.frames(), " frames of ",
                                            reader.vertices(), " vertices, its manifest says ",
                                            manifest.frames, " of ", manifest.vertices));
  }
  SINEW_RETURN_IF_ERROR(CheckFrames(context, reader, manifest, frame));
  return manifest;
}

std::string RowText(const std::string& path, const absl::StatusOr<Manifest>& manifest) {
  if (!manifest.ok()) {
    return absl::StrCat("bad ", Printable(path), ": ",
                        Printable(std::string(manifest.status().message())), "\n");
  }
  return absl::StrCat("ok ", Printable(path), ": ", manifest->frames, " frames of ",
                      CountText(manifest->vertices), " vertices\n");
}

nlohmann::ordered_json RowJson(const std::string& path, const absl::StatusOr<Manifest>& manifest,
                               const std::optional<double>& frame) {
  nlohmann::ordered_json row = {{"cache", path}, {"ok", manifest.ok()}};
  if (manifest.ok()) {
    row["format"] = manifest->format;
    row["frames"] = manifest->frames;
    row["vertices"] = manifest->vertices;
    row["determinism_digest"] = manifest->determinism_digest;
  } else {
    row["frame"] = frame ? nlohmann::ordered_json(*frame) : nlohmann::ordered_json(nullptr);
    row["reason"] = std::string(manifest.status().message());
  }
  return row;
}

absl::Status Verify(const Context& context, const std::vector<std::string>& paths) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  std::vector<std::string> bad;
  for (const std::string& path : paths) {
    std::optional<double> frame;
    const absl::StatusOr<Manifest> manifest = VerifyOne(context, path, frame);
    SINEW_RETURN_IF_ERROR(context.CheckStop());
    if (!manifest.ok()) {
      bad.push_back(path);
    }
    if (context.json()) {
      json.push_back(RowJson(path, manifest, frame));
    } else {
      context.Print(RowText(path, manifest));
    }
  }
  if (context.json()) context.PrintJson(json);
  if (bad.empty()) return absl::OkStatus();
  // The row of each cache states what is wrong.
  return absl::DataLossError(
      paths.size() == 1
          ? absl::StrCat(bad[0], ": bad")
          : absl::StrCat(bad.size(), " of ", paths.size(), " caches are bad, the first: ", bad[0]));
}

}  // namespace

void AddVerify(CommandList& commands) {
  auto paths = std::make_shared<std::vector<std::string>>();
  OptionSet set =
      commands.Add("verify", "Check every frame of point caches against their manifests",
                   [paths](Context& context) { return Verify(context, *paths); });
  set.AddList("CACHE", *paths, ".pc2, .mdd or .npy with its manifest (CACHE.json) beside it")
      .Required();
  set.SetFooter(
      R"(Needs no server. Checks every cache; exit code 65 if one is bad, with the first frame that differs.
Examples:
  sinew verify hero.pc2
  sinew verify shots/*.mdd --json
See also: sinew bake.)");
}

}  // namespace sinew::cli
