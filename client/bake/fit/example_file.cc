#include "client/bake/fit/example_file.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <cstring>
#include <filesystem>

#include "client/bake/base/errors.h"
#include "client/bake/files/cache_check.h"
#include "client/bake/files/cache_output.h"
#include "client/bake/files/input_file.h"
#include "client/bake/formats/npy.h"
#include "core/base/status.h"

namespace sinew::bake {
namespace {

absl::Status CheckCounts(std::uint64_t frames, std::uint64_t got, std::uint64_t vertices,
                         std::uint64_t max_points) {
  if (got != vertices) {
    return InvalidArgument("got ", got, " vertices, need the ", vertices, " of the character");
  }
  if (frames == 0 || frames > max_points / vertices) {
    return InvalidArgument("got ", frames, " frames, need 1 to ", max_points / vertices, " for ",
                           vertices, " vertices");
  }
  return absl::OkStatus();
}

absl::StatusOr<ExampleFile> ReadCache(const Monitor& monitor, const std::string& path,
                                      std::uint64_t vertices, std::uint64_t max_points) {
  ExampleFile file;
  SINEW_ASSIGN_OR_RETURN(const Manifest manifest, ReadManifest(path));
  file.frames = manifest.frames;
  SINEW_RETURN_IF_ERROR(CheckCounts(manifest.frames, manifest.vertices, vertices, max_points));
  if (manifest.space != "model" || !manifest.layout_digest.empty()) {
    return InvalidArgument(
        "its points are not those of the whole character in model space; bake it without other "
        "spaces, meshes or texture coordinates");
  }
  SINEW_ASSIGN_OR_RETURN(OpenCache cache, OpenCache::Open(path, manifest));
  const auto line = monitor.MakeProgress("Read", Monitor::Part::kFirst);
  for (std::uint32_t k = 0; k < manifest.frames; ++k) {
    SINEW_RETURN_IF_ERROR(monitor.CheckStop());
    SINEW_ASSIGN_OR_RETURN(const FrameArrays frame, cache.Read(k));
    SINEW_RETURN_IF_ERROR(CheckFrame("", manifest, k, frame));
    file.points.insert(file.points.end(), frame.points.begin(), frame.points.end());
    line->Update(static_cast<double>(k + 1) / static_cast<double>(manifest.frames), path);
  }
  file.manifest = manifest;
  return file;
}

absl::StatusOr<ExampleFile> ReadArray(const std::string& path, std::uint64_t vertices,
                                      std::uint64_t max_points) {
  if (!absl::EndsWith(absl::AsciiStrToLower(path), ".npy")) {
    return InvalidArgument("no manifest (", ManifestPath(path),
                           ") beside it; without one, need a .npy");
  }
  SINEW_ASSIGN_OR_RETURN(const InputFile input, InputFile::Open(path, max_points * 12 + 65536));
  SINEW_ASSIGN_OR_RETURN(const NpyHeader header, ParseNpyHeader(input.bytes()));
  if (header.value_bytes != 4 || header.shape.size() != 3 || header.shape[2] != 3) {
    return InvalidArgument("not float32 of shape (frames, vertices, 3)");
  }
  ExampleFile file{.frames = header.shape[0], .points = {}, .manifest = {}};
  SINEW_RETURN_IF_ERROR(CheckCounts(file.frames, header.shape[1], vertices, max_points));
  file.points.resize(file.frames * vertices * 3);
  std::memcpy(file.points.data(), input.bytes().data() + header.data_offset,
              file.points.size() * sizeof(float));
  return file;
}

}  // namespace

absl::StatusOr<ExampleFile> ReadExamples(const Monitor& monitor, const std::string& path,
                                         std::uint64_t vertices, std::uint64_t max_points) {
  if (vertices == 0) return InvalidArgument("the character has no vertices");
  std::error_code error;
  auto file = std::filesystem::exists(ManifestPath(path), error)
                  ? ReadCache(monitor, path, vertices, max_points)
                  : ReadArray(path, vertices, max_points);
  if (!file.ok()) return Prefixed(path, file.status());
  return file;
}

}  // namespace sinew::bake
