#include "client/bake/files/animation_file.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>
#include <vector>

#include "client/bake/base/errors.h"
#include "client/bake/files/cache_check.h"
#include "client/bake/files/input_file.h"
#include "client/bake/files/name_pattern.h"
#include "client/bake/formats/point_cache.h"
#include "client/bake/formats/usda_points.h"
#include "client/import/obj_reader.h"
#include "client/rig/rest_pose.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::bake {
namespace {

// The numbers of all files of a sequence, rising.
absl::StatusOr<std::vector<std::int64_t>> FramesOf(const std::string& pattern) {
  const std::filesystem::path path(pattern);
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::vector<std::int64_t> frames;
  std::error_code error;
  for (std::filesystem::directory_iterator file(folder, error), end; !error && file != end;
       file.increment(error)) {
    if (const auto frame = FrameOfName(pattern, file->path().filename().string())) {
      frames.push_back(*frame);
    }
  }
  if (error || frames.empty()) {
    return absl::NotFoundError(absl::StrCat(pattern, ": no file has such a name"));
  }
  std::ranges::sort(frames);
  const std::int64_t step = frames.size() > 1 ? frames[1] - frames[0] : 1;
  for (std::size_t k = 1; k < frames.size(); ++k) {
    if (frames[k] - frames[k - 1] == step) continue;
    return InvalidArgument(pattern, ": frame ", frames[k], " follows ", frames[k - 1],
                           ", need frames at even distances, here of ", step);
  }
  return frames;
}

absl::Status CheckCounts(std::uint64_t frames, std::uint64_t vertices, const client::Mesh& rest,
                         std::uint64_t max_points) {
  if (vertices != rest.vertices()) {
    return InvalidArgument("got ", CountedText(vertices, "vertex", "vertices"),
                           ", the rest mesh has ", rest.vertices());
  }
  if (frames > max_points / vertices) {
    return InvalidArgument("got ", frames, " frames of ", vertices, " vertices, need at most ",
                           max_points / vertices);
  }
  return absl::OkStatus();
}

absl::StatusOr<PointArray> ReadObjSequence(const std::string& pattern, const client::Mesh& rest,
                                           std::uint64_t max_points, const Monitor& monitor,
                                           std::vector<double>& frame_numbers) {
  constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 33;
  SINEW_ASSIGN_OR_RETURN(const std::vector<std::int64_t> frames, FramesOf(pattern));
  frame_numbers.assign(frames.begin(), frames.end());
  absl::Status counts = CheckCounts(frames.size(), rest.vertices(), rest, max_points);
  if (!counts.ok()) return Prefixed(pattern, counts);
  PointArray points = {.frames = static_cast<std::uint32_t>(frames.size()),
                       .vertices = static_cast<std::uint32_t>(rest.vertices()),
                       .values = {}};
  const auto line = monitor.MakeProgress("Read", Monitor::Part::kFirst);
  for (const std::int64_t frame : frames) {
    SINEW_RETURN_IF_ERROR(monitor.CheckStop());
    const std::string path = FrameName(pattern, frame);
    SINEW_ASSIGN_OR_RETURN(const InputFile file, InputFile::Open(path, kMaxFileBytes, "cache"));
    const auto scene = client::ReadObj(file.text());
    if (!scene.ok()) return Prefixed(path, scene.status());
    const client::Mesh& mesh = scene->rig.meshes[0];
    counts = CheckCounts(1, mesh.vertices(), rest, max_points);
    if (!counts.ok()) return Prefixed(path, counts);
    if (mesh.face_vertices != rest.face_vertices || mesh.face_sizes != rest.face_sizes) {
      return InvalidArgument(path, ": has other faces than the rest mesh, need the same");
    }
    points.values.insert(points.values.end(), mesh.positions.begin(), mesh.positions.end());
    line->Update(static_cast<double>(points.values.size()) /
                 static_cast<double>(frames.size() * rest.vertices() * 3));
  }
  return points;
}

absl::StatusOr<PointArray> ReadOneFile(const std::string& path, CacheFormat format,
                                       std::uint64_t max_points) {
  // The longest text of a point, with some room for faces and headers.
  const std::uint64_t most = max_points * (format == CacheFormat::kUsda ? 64 : 24) + (1 << 20);
  SINEW_ASSIGN_OR_RETURN(const InputFile file, InputFile::Open(path, most, "cache"));
  auto points = format == CacheFormat::kUsda ? ReadUsdaPoints(file.text())
                                             : ReadPointCache(format, file.bytes());
  if (!points.ok()) return Prefixed(path, points.status());
  return points;
}

// Beyond this, float32 does not tell the vertices of the mesh apart.
constexpr double kFarthest = 1e6;      // of the mesh's diagonal
constexpr double kLargestStep = 1e-4;  // of the mesh's diagonal

// Warns if steps of float32 are large where the points are.
void CheckSteps(double diagonal, Animation& animation) {
  double farthest = 0;
  for (const float x : animation.points.values) farthest = std::max(farthest, std::abs(double{x}));
  const double step = farthest * double{std::numeric_limits<float>::epsilon()};
  if (step <= kLargestStep * diagonal) return;
  animation.problems.push_back(
      {client::Severity::kWarning,
       absl::StrFormat("is up to %.3g units from the origin, where float32 holds steps of %.2g: "
                       "%.2g %% of the mesh's diagonal; move it to the origin",
                       farthest, step, 100 * step / diagonal),
       "animation"});
}

absl::Status CheckPlaces(const PointArray& points, const client::Mesh& rest) {
  const double diagonal = client::BoxDiagonal(rest.positions);
  const double most = diagonal > 0 ? kFarthest * diagonal : std::numeric_limits<float>::max();
  for (std::size_t k = 0; k < points.values.size(); ++k) {
    const double x = points.values[k];
    if (std::abs(x - rest.positions[k % 3]) <= most) continue;
    return InvalidArgument("vertex ", k / 3 % points.vertices, " of frame ",
                           k / 3 / points.vertices, ": got ", x,
                           ", need finite numbers within 1e6 times the size of the mesh");
  }
  return absl::OkStatus();
}

absl::Status CheckManifest(const std::string& path, CacheFormat format, const Manifest& manifest,
                           const PointArray& points) {
  if (manifest.format != CacheFormatName(format) || manifest.frames != points.frames ||
      manifest.vertices != points.vertices) {
    return DataLoss(path, ": is a .", CacheFormatName(format), " of ", points.frames, " frames of ",
                    points.vertices, " vertices, its manifest says .", manifest.format, ", ",
                    manifest.frames, " and ", manifest.vertices);
  }
  const std::size_t each = std::size_t{points.vertices} * 3;
  for (std::uint32_t k = 0; k < points.frames; ++k) {
    SINEW_RETURN_IF_ERROR(
        CheckSample(path, manifest, k, std::span(points.values).subspan(k * each, each)));
  }
  return absl::OkStatus();
}

void AddTimes(Animation& animation) {
  const PointArray& points = animation.points;
  const std::vector<double>& seconds = points.seconds;
  if (animation.manifest) {
    animation.fps = animation.manifest->fps;
    animation.frame_numbers.clear();
  } else if (seconds.size() > 1) {
    animation.fps = static_cast<double>(seconds.size() - 1) / (seconds.back() - seconds[0]);
  }
  for (std::uint32_t k = static_cast<std::uint32_t>(animation.frame_numbers.size());
       k < points.frames; ++k) {
    animation.frame_numbers.push_back(animation.manifest ? animation.manifest->FrameNumber(k)
                                      : animation.fps ? (seconds[k] - seconds[0]) * *animation.fps
                                                      : k * points.frame_step);
  }
}

}  // namespace

absl::StatusOr<Animation> ReadAnimation(const std::string& path, const client::Mesh& rest,
                                        std::uint64_t max_points, const Monitor& monitor) {
  const auto format = ParseCacheFormat(std::filesystem::path(path).extension().string());
  const bool is_sequence = format.ok() && *format == CacheFormat::kObj;
  if (!format.ok() || *format == CacheFormat::kGlb || (is_sequence && !HasFrameNumber(path))) {
    return InvalidArgument(path, ": need .pc2, .mdd, .npy, .usda, or .obj with a place for the ",
                           "frame, such as hero.####.obj");
  }
  Animation animation;
  std::error_code error;
  if (std::filesystem::exists(ManifestPath(path), error)) {
    SINEW_ASSIGN_OR_RETURN(animation.manifest, ReadManifest(path));
  } else if (*format == CacheFormat::kUsda) {
    return InvalidArgument(path, ": has no manifest, need a .usda that `sinew bake` wrote");
  }
  SINEW_ASSIGN_OR_RETURN(
      animation.points,
      is_sequence ? ReadObjSequence(path, rest, max_points, monitor, animation.frame_numbers)
                  : ReadOneFile(path, *format, max_points));
  absl::Status good =
      CheckCounts(animation.points.frames, animation.points.vertices, rest, max_points);
  if (!good.ok()) return Prefixed(path, good);
  if (animation.manifest) {
    SINEW_RETURN_IF_ERROR(CheckManifest(path, *format, *animation.manifest, animation.points));
  }
  AddTimes(animation);
  good = CheckPlaces(animation.points, rest);
  if (!good.ok()) return Prefixed(path, good);
  CheckSteps(client::BoxDiagonal(rest.positions), animation);
  if (!animation.manifest && !animation.points.bad_times.empty()) {
    animation.problems.push_back({client::Severity::kWarning,
                                  absl::StrCat("has ", animation.points.bad_times,
                                               ": frames are taken to be one frame apart"),
                                  "animation"});
  }
  return animation;
}

}  // namespace sinew::bake
