#include "client/bake/files/cache_parts.h"

#include <absl/strings/str_cat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <utility>

#include "client/bake/base/errors.h"
#include "client/bake/base/quantity.h"
#include "client/bake/files/cache_check.h"
#include "client/bake/files/cache_output.h"
#include "client/bake/files/input_file.h"
#include "core/base/counted_text.h"
#include "core/base/digest.h"
#include "core/base/status.h"

namespace sinew::bake {
namespace {

namespace fs = std::filesystem;

// An open part.
struct Source {
  OpenCache cache;
  const CachePart* part;
};

bool IsSequence(const CachePart& part) {
  return part.manifest.format == CacheFormatName(CacheFormat::kObj);
}

absl::StatusOr<Source> OpenPart(const CachePart& part) {
  absl::StatusOr<OpenCache> cache = OpenCache::Open(part.path, part.manifest);
  if (!cache.ok()) return part.is_cache ? cache.status() : Prefixed(part.path, cache.status());
  if (!part.is_cache && !HasSizes(part.path, part.manifest)) {
    return absl::DataLossError(absl::StrCat(part.path, ": has another size, its manifest says ",
                                            CountedText(part.manifest.frames, "frame"), " of ",
                                            part.manifest.vertices, " vertices"));
  }
  return Source{*std::move(cache), &part};
}

// The text of the rest mesh beside a part; empty: there is none.
absl::StatusOr<std::string> RestOf(const CachePart& part) {
  const std::string path =
      IsSequence(part) ? (fs::path(part.path).parent_path() / part.manifest.files[0].name).string()
                       : RestPath(part.path);
  std::error_code error;
  if (!fs::exists(path, error)) return std::string();
  SINEW_ASSIGN_OR_RETURN(const InputFile file, InputFile::Open(path, kMaxCacheBytes));
  return std::string(file.text());
}

// "0-49.npy", not hidden.
bool IsPartName(const fs::path& path) {
  return path.filename().string().front() != '.' &&
         path.extension() == absl::StrCat(".", CacheFormatName(kPartFormat));
}

struct Place {
  std::size_t part;
  std::uint32_t sample;
};

// Where each frame of `info` is.
absl::StatusOr<std::vector<Place>> PlacesOf(const std::string& cache, const CacheInfo& info,
                                            std::span<const CachePart> parts) {
  const std::set<std::int64_t> wanted = FrameKeys(info);
  std::map<std::int64_t, Place> known;
  const CachePart* first = nullptr;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    if (!HasAnyOf(parts[p].manifest, wanted)) continue;
    if (first == nullptr) first = &parts[p];
    if (const auto difference = OriginDifference(first->manifest, parts[p].manifest)) {
      return absl::FailedPreconditionError(absl::StrCat(
          first->path, " and ", parts[p].path, " are of different bakes: ", difference->what, " '",
          difference->a, "' and '", difference->b, "'; remove those that are out of date"));
    }
    for (std::uint32_t k = 0; k < parts[p].manifest.frames; ++k) {
      const double number = parts[p].manifest.FrameNumber(k);
      const auto [place, is_new] = known.try_emplace(FrameKey(number), Place{p, k});
      const CachePart& other = parts[place->second.part];
      if (!is_new &&
          other.manifest.frame_hashes[place->second.sample] != parts[p].manifest.frame_hashes[k]) {
        return absl::FailedPreconditionError(
            absl::StrCat(other.path, " and ", parts[p].path, " have different points for frame ",
                         ExactText(number), "; remove the one that is out of date"));
      }
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
  return absl::FailedPreconditionError(absl::StrCat(
      PartsFolder(cache), ": ", missing.size(), " of ", CountedText(info.frames, "frame"),
      missing.size() == 1 ? " is" : " are", " missing: ", FramesText(info, missing)));
}

}  // namespace

std::string PartsFolder(const std::string& cache) {
  return cache + kPartsSuffix;
}

absl::Status CreatePartsFolder(const std::string& cache) {
  std::error_code error;
  fs::create_directory(PartsFolder(cache), error);
  return error ? CannotWrite(PartsFolder(cache), error.value()) : absl::OkStatus();
}

std::string PartPath(const std::string& cache, std::span<const double> frame_numbers) {
  constexpr std::size_t kDigits = 8;  // enough to tell the sets of frames of one cache apart
  const double first = frame_numbers.front(), last = frame_numbers.back();
  const auto count = static_cast<double>(frame_numbers.size());
  std::string name = ExactText(first);
  if (count > 1) absl::StrAppend(&name, "-", ExactText(last));
  if (last - first + 1 != count) {
    Sha256 digest;
    digest.UpdateArray(frame_numbers);
    absl::StrAppend(&name, ".", digest.Hex().substr(0, kDigits));
  }
  return absl::StrCat(PartsFolder(cache), "/", name, ".", CacheFormatName(kPartFormat));
}

bool HasAnyOf(const Manifest& manifest, const std::set<std::int64_t>& frames) {
  for (std::uint32_t k = 0; k < manifest.frames; ++k) {
    if (frames.contains(FrameKey(manifest.FrameNumber(k)))) return true;
  }
  return false;
}

FoundParts FindParts(const std::string& cache) {
  FoundParts found;
  std::error_code error;
  for (fs::directory_iterator entry(PartsFolder(cache), error), end; !error && entry != end;
       entry.increment(error)) {
    // A manifest alone counts as well: its part is damaged.
    if (entry->path().extension() != ".json") continue;
    const std::string path = fs::path(entry->path()).replace_extension().string();
    if (!IsPartName(path)) continue;
    absl::StatusOr<Manifest> manifest = ReadManifest(path);
    if (!manifest.ok()) {
      found.unreadable.emplace_back(path, manifest.status());
    } else if (manifest->frames == 0 || manifest->vertices == 0) {
      found.unreadable.emplace_back(
          path, absl::DataLossError(absl::StrCat(ManifestPath(path), ": is of an empty cache")));
    } else {
      found.parts.push_back({path, *std::move(manifest), /*is_cache=*/false});
    }
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    const std::string folder = PartsFolder(cache);
    found.unreadable.emplace_back(folder, absl::InvalidArgumentError(absl::StrCat(
                                              folder, ": cannot be read: ", error.message())));
  }
  std::ranges::sort(found.parts, [](const CachePart& a, const CachePart& b) {
    const double first = a.manifest.FrameNumber(0), second = b.manifest.FrameNumber(0);
    return first != second ? first < second : a.path < b.path;
  });
  return found;
}

std::optional<CachePart> IntactSequence(const std::string& cache,
                                        std::span<const CachePart> parts) {
  const absl::StatusOr<Manifest> manifest = ReadManifest(cache);
  if (!manifest.ok() || manifest->format != CacheFormatName(CacheFormat::kObj)) return std::nullopt;
  std::set<std::int64_t> held;
  for (const CachePart& part : parts) {
    if (OriginDifference(part.manifest, *manifest)) return std::nullopt;
    held.merge(FrameKeys(InfoOf(part.manifest)));
  }
  const absl::StatusOr<OpenCache> open = OpenCache::Open(cache, *manifest);
  if (!open.ok()) return std::nullopt;
  const absl::StatusOr<CacheDamage> damage =
      open->FindDamage([](double) { return absl::OkStatus(); });
  if (!damage.ok()) return std::nullopt;
  std::set<std::uint32_t> out(damage->samples.begin(), damage->samples.end());
  for (std::uint32_t k = 0; k < manifest->frames; ++k) {
    if (held.contains(FrameKey(manifest->FrameNumber(k)))) out.insert(k);
  }
  CachePart kept = {cache, WithoutSamples(*manifest, std::vector(out.begin(), out.end())),
                    /*is_cache=*/true};
  if (kept.manifest.frames == 0) return std::nullopt;
  return kept;
}

absl::StatusOr<JoinedCache> JoinParts(const std::string& cache, CacheFormat format, CacheInfo info,
                                      std::span<const CachePart> parts, bool overwrite,
                                      const CacheProgress& progress) {
  if (parts.empty() || info.frames == 0) {
    return absl::NotFoundError(absl::StrCat(PartsFolder(cache), ": there are no parts to join"));
  }
  SINEW_ASSIGN_OR_RETURN(const std::vector<Place> places, PlacesOf(cache, info, parts));
  // Before anything is allocated: a file has as many vertices as its size allows.
  SINEW_ASSIGN_OR_RETURN(Source source, OpenPart(parts[places[0].part]));
  info.vertices = static_cast<std::uint32_t>(source.part->manifest.vertices);
  SINEW_ASSIGN_OR_RETURN(const std::string rest, RestOf(*source.part));
  Manifest manifest = source.part->manifest;
  manifest.pose_hashes.clear();
  CacheFiles files = {.path = cache,
                      .format = format,
                      .has_rest = !rest.empty() && !IsSceneFormat(format),
                      .overwrite = overwrite,
                      .usd = manifest.usd};
  if (IsSceneFormat(format)) {
    absl::StatusOr<CacheScene> scene = ReadRestMesh(rest, manifest);
    if (!scene.ok()) return Prefixed(RestPath(source.part->path), scene.status());
    files.scene = std::make_shared<const CacheScene>(*std::move(scene));
  }
  for (const ManifestAttribute& attribute : manifest.attributes) {
    files.attributes.push_back(attribute.name);
  }
  SINEW_ASSIGN_OR_RETURN(CacheOutput output, CacheOutput::Create(files, info));
  JoinedCache joined;
  for (std::size_t k = 0; k < places.size(); ++k) {  // frames of a part follow each other
    const CachePart& part = parts[places[k].part];
    joined.parts.insert(part.path);
    if (source.part != &part) {
      SINEW_ASSIGN_OR_RETURN(source, OpenPart(part));
    }
    const absl::StatusOr<FrameArrays> frame = source.cache.Read(places[k].sample);
    if (!frame.ok()) return Prefixed(part.path, frame.status());
    SINEW_RETURN_IF_ERROR(CheckFrame(part.path, part.manifest, places[k].sample, *frame));
    SINEW_RETURN_IF_ERROR(output.Append(*frame));
    if (!part.manifest.pose_hashes.empty()) {
      manifest.pose_hashes.push_back(part.manifest.pose_hashes[places[k].sample]);
    }
    SINEW_RETURN_IF_ERROR(
        progress(static_cast<double>(k + 1) / static_cast<double>(places.size())));
  }
  SINEW_ASSIGN_OR_RETURN(joined.manifest, output.Close(std::move(manifest), rest));
  SINEW_RETURN_IF_ERROR(output.CommitData());
  SINEW_RETURN_IF_ERROR(output.CommitManifest());
  joined.bytes = output.bytes();
  return joined;
}

void RemovePart(const std::string& path) {
  std::error_code error;
  fs::remove(RestPath(path), error);
  fs::remove(path, error);
  for (const char* attribute : {kNormals, kVelocities}) {
    fs::remove(AttributePath(path, attribute), error);
  }
  fs::remove(ManifestPath(path), error);
}

void RemovePartsFolder(const std::string& cache) {
  const std::string folder = PartsFolder(cache);
  RemoveDeadFiles(folder);
  const FoundParts found = FindParts(cache);
  if (!found.parts.empty() || !found.unreadable.empty()) return;
  // A process that was killed between two renames has left a part without a manifest.
  std::error_code error;
  std::vector<fs::path> orphans;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (IsPartName(entry->path())) orphans.push_back(entry->path());
  }
  for (const fs::path& orphan : orphans) RemovePart(orphan.string());
  ::rmdir(folder.c_str());  // fails if something is left in it, or if it is not a folder
}

}  // namespace sinew::bake
