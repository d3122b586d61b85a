// sinew verify: recomputes every checksum of a point cache.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <nlohmann/json.hpp>

#include "client/cli/cache_writer.h"
#include "client/cli/commands.h"
#include "client/cli/exit_code.h"
#include "client/cli/input_file.h"
#include "client/cli/quantity.h"
#include "client/cpp/status_macros.h"

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

absl::Status CheckFrames(const Context& context, const CacheReader& reader,
                         const Manifest& manifest) {
  const auto line = context.MakeProgress("Verify");
  std::vector<float> positions(std::size_t{reader.vertices()} * 3);
  for (std::uint32_t k = 0; k < reader.frames(); ++k) {
    SINEW_RETURN_IF_ERROR(context.CheckStop());
    SINEW_RETURN_IF_ERROR(reader.ReadFrame(k, positions));
    const std::uint64_t hash = HashPositions(positions);
    if (hash != manifest.frame_hashes[k]) {
      return absl::DataLossError(
          absl::StrFormat("sample %d (frame %s) has checksum %016x, its manifest says %016x", k,
                          NumberText(manifest.first_frame + k * manifest.frame_step), hash,
                          manifest.frame_hashes[k]));
    }
    line->Update(static_cast<double>(k + 1) / reader.frames());
  }
  return absl::OkStatus();
}

absl::StatusOr<Manifest> VerifyOne(const Context& context, const std::string& path) {
  SINEW_ASSIGN_OR_RETURN(const InputFile file, InputFile::Open(path, kMaxCacheBytes));
  SINEW_ASSIGN_OR_RETURN(Manifest manifest, ReadManifest(ManifestPath(path)));
  const auto check = [&]() -> absl::Status {
    SINEW_ASSIGN_OR_RETURN(const CacheFormat format, ParseCacheFormat(manifest.format));
    SINEW_ASSIGN_OR_RETURN(const CacheReader reader, CacheReader::Open(format, file.bytes()));
    if (reader.frames() != manifest.frames || reader.vertices() != manifest.vertices) {
      return absl::DataLossError(absl::StrCat("the cache has ", reader.frames(), " frames of ",
                                              reader.vertices(), " vertices, its manifest says ",
                                              manifest.frames, " of ", manifest.vertices));
    }
    return CheckFrames(context, reader, manifest);
  };
  if (const absl::Status checked = check(); !checked.ok()) return Prefixed(path, checked);
  return manifest;
}

absl::Status Verify(const Context& context, const std::vector<std::string>& paths) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const std::string& path : paths) {
    SINEW_ASSIGN_OR_RETURN(const Manifest manifest, VerifyOne(context, path));
    json.push_back({{"cache", path},
                    {"ok", true},
                    {"format", manifest.format},
                    {"frames", manifest.frames},
                    {"vertices", manifest.vertices},
                    {"numerics", manifest.numerics}});
    if (!context.json()) {
      context.Print(absl::StrCat("ok ", path, ": ", manifest.frames, " frames of ",
                                 CountText(manifest.vertices), " vertices\n"));
    }
  }
  if (context.json()) context.PrintJson(json);
  return absl::OkStatus();
}

}  // namespace

void AddVerify(CLI::App& app, Command& command) {
  auto* sub =
      app.add_subcommand("verify", "Check every frame of point caches against their manifests");
  auto paths = std::make_shared<std::vector<std::string>>();
  sub->add_option("CACHE", *paths, ".pc2, .mdd or .npy with its manifest (CACHE.json) beside it")
      ->required();
  sub->footer(
      R"(Needs no server. Exit code 65 and the first frame that differs when something changed.
Examples:
  sinew verify hero.pc2
  sinew verify shots/*.mdd --json
See also: sinew bake.)");
  sub->callback([paths, &command] {
    command = [paths](Context& context) { return Verify(context, *paths); };
  });
}

}  // namespace sinew::cli
