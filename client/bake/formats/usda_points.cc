#include "client/bake/formats/usda_points.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "core/base/status.h"

namespace sinew::bake {
namespace {

constexpr std::string_view kBegin = "point3f[] points.timeSamples = {";

struct Samples {
  std::vector<double> times;
  std::size_t values_each = 0;
  std::vector<float> values;
};

// Takes tokens from the front of a text.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  void SkipBlanks() { text_.remove_prefix(std::min(text_.find_first_not_of(" \n"), text_.size())); }

  bool Take(char c) {
    SkipBlanks();
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }

  template <class T>
  bool TakeNumber(T& value) {
    SkipBlanks();
    const auto read = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (read.ec != std::errc()) return false;
    text_.remove_prefix(static_cast<std::size_t>(read.ptr - text_.data()));
    return true;
  }

  // "(x, y, z)".
  bool TakePoint(std::vector<float>& values) {
    float p[3];
    if (!Take('(') || !TakeNumber(p[0]) || !Take(',') || !TakeNumber(p[1]) || !Take(',') ||
        !TakeNumber(p[2]) || !Take(')')) {
      return false;
    }
    values.insert(values.end(), p, p + 3);
    return true;
  }

  // "TIME: [(x, y, z), ...],".
  bool TakeSample(Samples& samples) {
    const std::size_t before = samples.values.size();
    if (!TakeNumber(samples.times.emplace_back()) || !Take(':') || !Take('[')) return false;
    do {
      if (!TakePoint(samples.values)) return false;
    } while (Take(','));
    const std::size_t size = samples.values.size() - before;
    if (before == 0) samples.values_each = size;
    return Take(']') && Take(',') && size == samples.values_each;
  }

 private:
  std::string_view text_;
};

}  // namespace

absl::StatusOr<PointArray> ReadUsdaPoints(std::string_view layer) {
  std::vector<Samples> meshes;
  for (std::size_t at = layer.find(kBegin); at != layer.npos; at = layer.find(kBegin, at)) {
    at += kBegin.size();
    Tokens tokens(layer.substr(at));
    Samples& mesh = meshes.emplace_back();
    while (!tokens.Take('}')) {
      if (tokens.TakeSample(mesh)) continue;
      return InvalidArgument("usda: sample ", mesh.times.size(), " of the points of mesh ",
                             meshes.size(), " does not read");
    }
    if (mesh.times.empty() || mesh.times != meshes[0].times) {
      return InvalidArgument("usda: mesh ", meshes.size(), " has ", mesh.times.size(),
                             " samples of its points, need those of the first, ",
                             meshes[0].times.size());
    }
  }
  if (meshes.empty()) {
    return InvalidArgument("usda: no time samples of points, need a layer that has them");
  }
  if (meshes[0].times.size() > kMaxCacheCount) {
    return InvalidArgument("usda: ", meshes[0].times.size(), " samples, need at most ",
                           kMaxCacheCount);
  }
  PointArray points;
  points.frames = static_cast<std::uint32_t>(meshes[0].times.size());
  for (std::size_t k = 0; k < points.frames; ++k) {
    for (const Samples& mesh : meshes) {
      const auto begin = mesh.values.begin() + static_cast<std::ptrdiff_t>(k * mesh.values_each);
      points.values.insert(points.values.end(), begin,
                           begin + static_cast<std::ptrdiff_t>(mesh.values_each));
    }
  }
  points.vertices = static_cast<std::uint32_t>(points.values.size() / 3 / points.frames);
  return points;
}

}  // namespace sinew::bake
