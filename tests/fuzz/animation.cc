// animation.cc - points of animations: a byte that chooses the format, and a file of it.
#include <span>

#include "client/bake/formats/point_cache.h"
#include "client/bake/formats/usda_points.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sinew;
  if (size == 0) return 0;
  const int choice = *data % 4;
  const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
  constexpr bake::CacheFormat kFormats[] = {bake::CacheFormat::kPc2, bake::CacheFormat::kMdd,
                                            bake::CacheFormat::kNpy};
  const absl::StatusOr<bake::PointArray> points =
      choice == 3 ? bake::ReadUsdaPoints(fuzz::Text(data + 1, size - 1))
                  : bake::ReadPointCache(kFormats[choice], bytes);
  if (!points.ok()) {
    fuzz::RequireRefusal(points.status());
    return 0;
  }
  fuzz::Require(points->frames > 0 && points->vertices > 0, "a frame and a vertex");
  fuzz::Require(points->values.size() == std::size_t{points->frames} * points->vertices * 3,
                "three values for each vertex and frame");
  return 0;
}
