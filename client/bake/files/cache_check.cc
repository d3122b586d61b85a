#include "client/bake/files/cache_check.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_replace.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <set>
#include <utility>

#include "client/bake/base/errors.h"
#include "client/bake/base/quantity.h"
#include "client/bake/files/cache_output.h"
#include "client/import/valid_text.h"
#include "core/base/bulk_checksum.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::bake {
namespace {

constexpr std::uint64_t kMaxManifestBytes = std::uint64_t{1} << 30;

// Where the frames of a cache are.
struct Layout {
  CacheFormat format = CacheFormat::kPc2;
  std::string header;
  std::uint64_t frame_bytes = 0;
};

absl::StatusOr<Layout> LayoutOf(const Manifest& manifest) {
  if (manifest.frames > kMaxCacheCount || manifest.vertices > kMaxCacheCount) {
    return InvalidArgument("manifest: ", manifest.frames, " frames of ", manifest.vertices,
                           " vertices, need at most ", kMaxCacheCount, " of each");
  }
  Layout layout;
  SINEW_ASSIGN_OR_RETURN(layout.format, ParseCacheFormat(manifest.format));
  SINEW_ASSIGN_OR_RETURN(layout.header, EncodeCacheHeader(layout.format, InfoOf(manifest)));
  layout.frame_bytes = manifest.vertices * 3 * sizeof(float);
  return layout;
}

absl::Status ReadSample(std::span<const std::byte> cache, const Layout& layout,
                        std::uint32_t sample, std::span<float> positions) {
  const std::uint64_t at = layout.header.size() + sample * layout.frame_bytes;
  if (at + layout.frame_bytes > cache.size()) {
    return absl::DataLossError(absl::StrCat("sample ", sample, " is behind the end of the file"));
  }
  ReadCacheFrame(layout.format, cache.subspan(at, layout.frame_bytes), positions);
  return absl::OkStatus();
}

std::string BesideManifest(const std::string& cache, const std::string& name) {
  return (std::filesystem::path(cache).parent_path() / name).string();
}

}  // namespace

absl::StatusOr<Manifest> ReadManifest(const std::string& cache) {
  const std::string path = ManifestPath(cache);
  SINEW_ASSIGN_OR_RETURN(const InputFile file,
                         InputFile::Open(path, kMaxManifestBytes, "manifest"));
  auto manifest = ParseManifest(file.text());
  if (!manifest.ok()) return Prefixed(path, manifest.status());
  return manifest;
}

CacheInfo InfoOf(const Manifest& manifest) {
  return {.frames = static_cast<std::uint32_t>(manifest.frames),
          .vertices = static_cast<std::uint32_t>(manifest.vertices),
          .first_frame = manifest.first_frame,
          .frame_step = manifest.frame_step,
          .fps = manifest.fps,
          .frame_numbers = manifest.frame_numbers};
}

std::int64_t FrameKey(double frame_number) {
  constexpr double kKeysPerFrame = 1e6;
  return std::llround(frame_number * kKeysPerFrame);
}

std::set<std::int64_t> FrameKeys(const CacheInfo& info) {
  std::set<std::int64_t> keys;
  for (std::uint32_t k = 0; k < info.frames; ++k) keys.insert(FrameKey(info.FrameNumber(k)));
  return keys;
}

bool HasSizes(const std::string& path, const Manifest& manifest) {
  const auto has = [](const std::string& file, std::uint64_t bytes) {
    std::error_code error;
    return std::filesystem::file_size(file, error) == bytes && !error;
  };
  const absl::StatusOr<Layout> layout = LayoutOf(manifest);
  if (!layout.ok()) return false;
  if (IsSceneFormat(layout->format)) {
    return !manifest.files.empty() &&
           std::ranges::all_of(manifest.files, [&](const ManifestFile& file) {
             return has(BesideManifest(path, file.name), file.bytes);
           });
  }
  if (!has(path, layout->header.size() + manifest.frames * layout->frame_bytes)) return false;
  return std::ranges::all_of(manifest.attributes, [&](const ManifestAttribute& attribute) {
    const absl::StatusOr<Layout> own = LayoutOf(ManifestOfAttribute(manifest, attribute));
    return own.ok() && has(AttributePath(path, attribute.name),
                           own->header.size() + manifest.frames * own->frame_bytes);
  });
}

absl::Status CheckSample(const std::string& path, const Manifest& manifest, std::uint32_t sample,
                         std::span<const float> positions) {
  const std::uint64_t hash = HashPositions(positions);
  if (hash == manifest.frame_hashes[sample]) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrFormat("%s%ssample %d (frame %s) has checksum %016x, its manifest says %016x", path,
                      path.empty() ? "" : ": ", sample, ExactText(manifest.FrameNumber(sample)),
                      hash, manifest.frame_hashes[sample]));
}

absl::StatusOr<CacheDamage> FindDamage(std::span<const std::byte> cache, const Manifest& manifest,
                                       const CacheProgress& progress) {
  SINEW_ASSIGN_OR_RETURN(const Layout layout, LayoutOf(manifest));
  CacheDamage damage;
  const auto add = [&](std::string text) {
    if (damage.first.empty()) damage.first = std::move(text);
  };
  const std::uint64_t size = layout.header.size() + manifest.frames * layout.frame_bytes;
  if (cache.size() != size) {
    damage.header = true;
    add(absl::StrCat("the cache has ", cache.size(), " bytes, ",
                     CountedText(manifest.frames, "frame"), " of ", manifest.vertices,
                     " vertices need ", size));
  } else if (std::memcmp(cache.data(), layout.header.data(), layout.header.size()) != 0) {
    damage.header = true;
    add("the header is not the one of the manifest");
  }
  std::vector<float> positions(layout.frame_bytes > cache.size() ? 0 : manifest.vertices * 3);
  for (std::uint32_t k = 0; k < manifest.frames; ++k) {
    absl::Status status = ReadSample(cache, layout, k, positions);
    if (status.ok()) status = CheckSample("", manifest, k, positions);
    if (!status.ok()) {
      damage.samples.push_back(k);
      add(std::string(status.message()));
    }
    SINEW_RETURN_IF_ERROR(
        progress(static_cast<double>(k + 1) / static_cast<double>(manifest.frames)));
  }
  return damage;
}

absl::Status CheckFrame(const std::string& path, const Manifest& manifest, std::uint32_t sample,
                        const FrameArrays& frame) {
  SINEW_RETURN_IF_ERROR(CheckSample(path, manifest, sample, frame.points));
  for (const ManifestAttribute& attribute : manifest.attributes) {
    SINEW_RETURN_IF_ERROR(CheckSample(absl::StrCat(path, path.empty() ? "" : ": ", attribute.name),
                                      ManifestOfAttribute(manifest, attribute), sample,
                                      frame.Attribute(attribute.name)));
  }
  return absl::OkStatus();
}

Manifest ManifestOfAttribute(const Manifest& manifest, const ManifestAttribute& attribute) {
  Manifest own = manifest;
  own.format = CacheFormatName(CacheFormat::kNpy);
  own.frame_hashes = attribute.frame_hashes;
  own.attributes.clear();
  return own;
}

absl::StatusOr<OpenCache> OpenCache::Open(const std::string& path, const Manifest& manifest) {
  OpenCache cache;
  SINEW_ASSIGN_OR_RETURN(const Layout layout, LayoutOf(manifest));
  if (IsSceneFormat(layout.format)) {
    cache.is_sequence_ = layout.format == CacheFormat::kObj;
    if (manifest.files.empty() ||
        (cache.is_sequence_ && manifest.files.size() != manifest.frames)) {
      return InvalidArgument("manifest.files: ", manifest.files.size(), ", need those of a .",
                             manifest.format);
    }
    // A name that a manifest could not hold, or a manifest of another file.
    const std::string name = std::filesystem::path(path).filename().string();
    if (!cache.is_sequence_ && manifest.files[0].name != name) {
      return InvalidArgument("manifest.files[0].name: '", manifest.files[0].name,
                             "', need the name of the cache, '", client::ValidText(name), "'");
    }
    cache.path_ = path;
    cache.manifest_ = manifest;
    return cache;
  }
  SINEW_ASSIGN_OR_RETURN(InputFile points, InputFile::Open(path, kMaxCacheBytes));
  cache.arrays_.push_back({.name = "", .file = std::move(points), .manifest = manifest});
  for (const ManifestAttribute& attribute : manifest.attributes) {
    const std::string name = AttributePath(path, attribute.name);
    absl::StatusOr<InputFile> file = InputFile::Open(name, kMaxCacheBytes);
    if (!file.ok()) return absl::DataLossError(file.status().message());
    cache.arrays_.push_back({.name = attribute.name,
                             .file = *std::move(file),
                             .manifest = ManifestOfAttribute(manifest, attribute)});
  }
  return cache;
}

namespace {

// What is wrong with a file that a manifest lists, or empty.
std::string FileFault(const std::string& path, const ManifestFile& described) {
  const absl::StatusOr<InputFile> file = InputFile::Open(path, kMaxCacheBytes);
  if (!file.ok()) return std::string(file.status().message());
  if (file->bytes().size() != described.bytes) {
    return absl::StrCat(described.name, " has ", file->bytes().size(), " bytes, its manifest says ",
                        described.bytes);
  }
  const std::uint64_t hash = BulkChecksum({file->bytes()});
  if (hash == described.hash) return "";
  return absl::StrFormat("%s has checksum %016x, its manifest says %016x", described.name, hash,
                         described.hash);
}

}  // namespace

absl::StatusOr<CacheDamage> OpenCache::FindDamagedFile(const CacheProgress& progress) const {
  CacheDamage damage;
  for (std::size_t k = 0; k < manifest_.files.size(); ++k) {
    const ManifestFile& described = manifest_.files[k];
    const std::string fault = FileFault(BesideManifest(path_, described.name), described);
    if (!fault.empty()) {
      if (is_sequence_) {
        damage.samples.push_back(static_cast<std::uint32_t>(k));
      } else {
        damage.header = true;
      }
      if (damage.first.empty()) damage.first = fault;
    }
    SINEW_RETURN_IF_ERROR(
        progress(static_cast<double>(k + 1) / static_cast<double>(manifest_.files.size())));
  }
  return damage;
}

absl::StatusOr<CacheDamage> OpenCache::FindDamage(const CacheProgress& progress) const {
  if (arrays_.empty()) return FindDamagedFile(progress);
  CacheDamage all;
  std::set<std::uint32_t> samples;
  for (std::size_t k = 0; k < arrays_.size(); ++k) {
    const Array& array = arrays_[k];
    SINEW_ASSIGN_OR_RETURN(
        const CacheDamage damage,
        bake::FindDamage(array.file.bytes(), array.manifest, [&](double fraction) {
          return progress((static_cast<double>(k) + fraction) /
                          static_cast<double>(arrays_.size()));
        }));
    all.header = all.header || damage.header;
    samples.insert(damage.samples.begin(), damage.samples.end());
    if (all.first.empty() && !damage.first.empty()) {
      all.first = array.name.empty() ? damage.first : absl::StrCat(array.name, ": ", damage.first);
    }
  }
  all.samples.assign(samples.begin(), samples.end());
  return all;
}

absl::StatusOr<FrameArrays> OpenCache::Read(std::uint32_t sample) {
  FrameArrays frame;
  if (is_sequence_) {
    SINEW_ASSIGN_OR_RETURN(
        const InputFile file,
        InputFile::Open(BesideManifest(path_, manifest_.files[sample].name), kMaxCacheBytes));
    SINEW_ASSIGN_OR_RETURN(frame_, ReadObjArrays(file.text(), manifest_.vertices));
    return FrameArrays{.points = frame_.points, .normals = frame_.normals};
  }
  for (Array& array : arrays_) {
    SINEW_ASSIGN_OR_RETURN(const Layout layout, LayoutOf(array.manifest));
    if (layout.frame_bytes > array.file.bytes().size()) {  // before anything is allocated
      return absl::DataLossError(absl::StrCat("sample ", sample, " is behind the end of the file"));
    }
    array.values.resize(array.manifest.vertices * 3);
    SINEW_RETURN_IF_ERROR(ReadSample(array.file.bytes(), layout, sample, array.values));
    (array.name.empty()       ? frame.points
     : array.name == kNormals ? frame.normals
                              : frame.velocities) = array.values;
  }
  return frame;
}

std::uint64_t OpenCache::bytes() const {
  std::uint64_t bytes = 0;
  for (const Array& array : arrays_) bytes += array.file.bytes().size();
  for (const ManifestFile& file : manifest_.files) bytes += file.bytes;
  return bytes;
}

Manifest WithoutSamples(const Manifest& manifest, std::span<const std::uint32_t> samples) {
  Manifest left = manifest;
  left.frames = 0;
  left.frame_numbers.clear();
  const auto cut = [&](auto& list) {
    if (list.empty()) return;
    for (auto k = samples.rbegin(); k != samples.rend(); ++k) list.erase(list.begin() + *k);
  };
  for (std::uint32_t k = 0; k < manifest.frames; ++k) {
    left.frame_numbers.push_back(manifest.FrameNumber(k));
  }
  cut(left.frame_numbers);
  cut(left.frame_hashes);
  cut(left.pose_hashes);
  cut(left.files);
  for (ManifestAttribute& attribute : left.attributes) cut(attribute.frame_hashes);
  left.frames = left.frame_numbers.size();
  return left;
}

std::string FramesText(const CacheInfo& info, std::span<const std::uint32_t> samples) {
  constexpr double kSameDistance = 1e-6;
  const auto distance = [&](std::size_t k) {
    return info.FrameNumber(samples[k + 1]) - info.FrameNumber(samples[k]);
  };
  std::string text;
  for (std::size_t k = 0; k < samples.size();) {
    std::size_t last = k;
    const double step = k + 1 < samples.size() ? distance(k) : 1;
    while (last + 1 < samples.size() && std::abs(distance(last) - step) < kSameDistance) ++last;
    const bool is_one = std::abs(step - 1) < kSameDistance;
    if (last == k + 1 && !is_one) last = k;  // two are no range yet
    absl::StrAppend(&text, text.empty() ? "" : ", ", ExactText(info.FrameNumber(samples[k])));
    if (last > k) absl::StrAppend(&text, "-", ExactText(info.FrameNumber(samples[last])));
    if (last > k && !is_one) absl::StrAppend(&text, "x", ExactText(step));
    k = last + 1;
  }
  return text;
}

std::string FramesText(const CacheInfo& info) {
  std::vector<std::uint32_t> all(info.frames);
  std::iota(all.begin(), all.end(), 0U);
  return absl::StrReplaceAll(FramesText(info, all), {{" ", ""}});
}

}  // namespace sinew::bake
