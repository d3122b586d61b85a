#include "client/cli/files/cache_parts.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "client/cli/base/exit_code.h"
#include "client/cli/base/quantity.h"
#include "client/cli/files/cache_output.h"
#include "client/cli/files/input_file.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kKeysPerFrame = 1e6;

struct Origin {
  const char* name;
  std::string Manifest::*value;
};
constexpr Origin kOrigins[] = {
    {"software version", &Manifest::software_version},
    {"rig", &Manifest::rig},
    {"recipe", &Manifest::recipe},
    {"determinism digest", &Manifest::determinism_digest},
    {"character file", &Manifest::source},
    {"digest of the character file", &Manifest::source_digest},
    {"clip", &Manifest::clip},
    {"digest of the poses", &Manifest::poses_digest},
    {"digest of the controls", &Manifest::controls_digest},
    {"space", &Manifest::space},
    {"axis", &Manifest::up_axis},
    {"preroll", &Manifest::preroll},
};

std::string MeshesText(const Manifest& manifest) {
  std::string text;
  for (const ManifestMesh& mesh : manifest.meshes) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", mesh.name, " (", mesh.vertices, ")");
  }
  return text;
}

std::string Differ(const char* what, const std::string& a, const std::string& b) {
  return absl::StrCat(what, " '", a, "' and '", b, "'");
}

// An open part.
struct Source {
  InputFile file;
  CacheReader reader;
  const CachePart* part;
};

absl::StatusOr<Source> OpenPart(const CachePart& part) {
  SINEW_ASSIGN_OR_RETURN(InputFile file, InputFile::Open(part.path, kMaxCacheBytes, "part"));
  auto reader = CacheReader::Open(kPartFormat, file.bytes());
  if (!reader.ok()) return absl::DataLossError(Prefixed(part.path, reader.status()).message());
  if (reader->frames() != part.manifest.frames || reader->vertices() != part.manifest.vertices) {
    return absl::DataLossError(absl::StrCat(part.path, ": has ", reader->frames(), " frames of ",
                                            reader->vertices(), " vertices, its manifest says ",
                                            part.manifest.frames, " of ", part.manifest.vertices));
  }
  return Source{std::move(file), *std::move(reader), &part};
}

struct Place {
  std::size_t part;
  std::uint32_t sample;
};

// Where each frame of `info` is.
absl::StatusOr<std::vector<Place>> PlacesOf(const std::string& cache, const CacheInfo& info,
                                            std::span<const CachePart> parts) {
  std::map<std::int64_t, Place> known;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const std::string difference = OriginDifference(parts[0].manifest, parts[p].manifest);
    if (!difference.empty()) {
      return absl::FailedPreconditionError(absl::StrCat(parts[0].path, " and ", parts[p].path,
                                                        " are of different bakes: ", difference,
                                                        "; remove those that are out of date"));
    }
    for (std::uint32_t k = 0; k < parts[p].manifest.frames; ++k) {
      known.try_emplace(FrameKey(parts[p].manifest.FrameNumber(k)), Place{p, k});
    }
  }
  std::vector<Place> places;
  std::vector<std::uint32_t> missing;
  for (std::uint32_t k = 0; k < info.frames; ++k) {
    const auto found = known.find(FrameKey(info.FrameNumber(k)));
    if (found == known.end()) {
      missing.push_back(k);
    } else {
      places.push_back(found->second);
    }
  }
  if (missing.empty()) return places;
  return absl::FailedPreconditionError(
      absl::StrCat(PartsFolder(cache), ": ", missing.size(), " of ", info.frames,
                   " frames are missing: ", FramesText(info, missing)));
}

}  // namespace

std::string PartsFolder(const std::string& cache) {
  return cache + ".parts";
}

std::string PartPath(const std::string& cache, std::span<const double> frame_numbers) {
  const double first = frame_numbers.front(), last = frame_numbers.back();
  const auto count = static_cast<double>(frame_numbers.size());
  std::string name = NumberText(first);
  if (count > 1) absl::StrAppend(&name, "-", NumberText(last));
  if (last - first + 1 != count) absl::StrAppend(&name, ".", frame_numbers.size());
  return absl::StrCat(PartsFolder(cache), "/", name, ".", CacheFormatName(kPartFormat));
}

std::int64_t FrameKey(double frame_number) {
  return std::llround(frame_number * kKeysPerFrame);
}

FoundParts FindParts(const std::string& cache) {
  FoundParts found;
  std::error_code error, ignored;
  for (fs::directory_iterator entry(PartsFolder(cache), error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string path = entry->path().string();
    if (entry->path().filename().string().front() == '.' ||
        entry->path().extension() != absl::StrCat(".", CacheFormatName(kPartFormat)) ||
        !fs::exists(ManifestPath(path), ignored)) {
      continue;
    }
    absl::StatusOr<Manifest> manifest = ReadManifest(path);
    if (!manifest.ok() || manifest->frames == 0) {
      found.unreadable.emplace_back(path, manifest.status());
    } else {
      found.parts.push_back({path, *std::move(manifest)});
    }
  }
  std::ranges::sort(found.parts, [](const CachePart& a, const CachePart& b) {
    const double first = a.manifest.FrameNumber(0), second = b.manifest.FrameNumber(0);
    return first != second ? first < second : a.path < b.path;
  });
  return found;
}

std::string OriginDifference(const Manifest& a, const Manifest& b) {
  for (const Origin& origin : kOrigins) {
    if (a.*origin.value != b.*origin.value) {
      return Differ(origin.name, a.*origin.value, b.*origin.value);
    }
  }
  if (a.fps != b.fps) {
    return Differ("frames a second", NumberText(a.fps), NumberText(b.fps));
  }
  const std::string meshes = MeshesText(a), others = MeshesText(b);
  return meshes == others ? "" : Differ("meshes", meshes, others);
}

absl::StatusOr<JoinedCache> JoinParts(const std::string& cache, CacheFormat format, CacheInfo info,
                                      std::span<const CachePart> parts, bool overwrite,
                                      const CacheProgress& progress) {
  if (parts.empty()) {
    return absl::NotFoundError(absl::StrCat(PartsFolder(cache), ": there are no parts to join"));
  }
  SINEW_ASSIGN_OR_RETURN(const std::vector<Place> places, PlacesOf(cache, info, parts));
  JoinedCache joined;
  joined.manifest = parts[0].manifest;
  info.vertices = static_cast<std::uint32_t>(joined.manifest.vertices);
  std::string rest;
  const std::string rest_path = RestPath(parts[0].path);
  std::error_code error;
  const bool has_rest = fs::exists(rest_path, error);
  if (has_rest) {
    SINEW_ASSIGN_OR_RETURN(const InputFile file, InputFile::Open(rest_path, kMaxCacheBytes));
    rest = std::string(file.text());
  }
  SINEW_ASSIGN_OR_RETURN(CacheOutput output,
                         CacheOutput::Create(cache, format, info, has_rest, overwrite));
  joined.manifest.pose_hashes.clear();
  std::vector<float> positions(std::size_t{info.vertices} * 3);
  std::optional<Source> source;  // frames of a part follow each other
  for (std::size_t k = 0; k < places.size(); ++k) {
    const CachePart& part = parts[places[k].part];
    if (!source || source->part != &part) {
      SINEW_ASSIGN_OR_RETURN(source, OpenPart(part));
    }
    SINEW_RETURN_IF_ERROR(source->reader.ReadFrame(places[k].sample, positions));
    SINEW_RETURN_IF_ERROR(CheckSample(part.path, part.manifest, places[k].sample, positions));
    SINEW_RETURN_IF_ERROR(output.Append(positions));
    if (!part.manifest.pose_hashes.empty()) {
      joined.manifest.pose_hashes.push_back(part.manifest.pose_hashes[places[k].sample]);
    }
    SINEW_RETURN_IF_ERROR(
        progress(static_cast<double>(k + 1) / static_cast<double>(places.size())));
  }
  SINEW_ASSIGN_OR_RETURN(joined.bytes, output.Close(joined.manifest, rest));
  SINEW_RETURN_IF_ERROR(output.CommitData());
  SINEW_RETURN_IF_ERROR(output.CommitManifest());
  return joined;
}

void RemovePart(const std::string& path) {
  std::error_code error;
  fs::remove(ManifestPath(path), error);
  fs::remove(path, error);
  fs::remove(RestPath(path), error);
}

void RemovePartsFolder(const std::string& cache) {
  std::error_code error;
  fs::remove(PartsFolder(cache), error);  // fails if something is left in it
}

}  // namespace sinew::cli
