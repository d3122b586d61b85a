// npy.cc - arrays of numpy: poses and point caches.
#include "client/bake/formats/npy.h"

#include <cstring>

#include "client/bake/formats/point_cache.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sinew;
  const auto bytes = std::as_bytes(std::span(data, size));
  const absl::StatusOr<bake::NpyHeader> header = bake::ParseNpyHeader(bytes);
  if (!header.ok()) fuzz::RequireRefusal(header.status());

  const absl::StatusOr<bake::PoseArray> poses = bake::ReadPosesNpy(bytes);
  if (poses.ok()) {
    fuzz::Require(header.ok(), "a header of what was read");
    fuzz::Require(poses->values.size() == std::size_t{poses->frames} * poses->joints * 12,
                  "twelve values for each joint and frame");
  } else {
    fuzz::RequireRefusal(poses.status());
  }

  const absl::StatusOr<bake::CacheReader> cache =
      bake::CacheReader::Open(bake::CacheFormat::kNpy, bytes);
  if (!cache.ok()) {
    fuzz::RequireRefusal(cache.status());
    return 0;
  }
  // Written again it holds the same frames.
  bake::CacheInfo info = cache->info();
  info.fps = 24;  // not stored in .npy
  std::string written = bake::EncodeCacheHeader(bake::CacheFormat::kNpy, info).value();
  std::vector<float> frame(std::size_t{cache->vertices()} * 3);
  for (std::uint32_t k = 0; k < cache->frames(); ++k) {
    fuzz::Require(cache->ReadFrame(k, frame).ok(), "every frame that the header promises");
    bake::AppendCacheFrame(bake::CacheFormat::kNpy, frame, written);
  }
  const std::size_t values = frame.size() * cache->frames() * sizeof(float);
  fuzz::Require(
      std::memcmp(written.data() + written.size() - values, data + size - values, values) == 0,
      "the same values");
  fuzz::Require(
      bake::CacheReader::Open(bake::CacheFormat::kNpy, std::as_bytes(std::span(written))).ok(),
      "a cache that is read back");
  return 0;
}
