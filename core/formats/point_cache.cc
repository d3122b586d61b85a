#include "core/formats/point_cache.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include <cstring>
#include <utility>

#include "core/base/status.h"
#include "core/formats/mdd.h"
#include "core/formats/npy.h"
#include "core/formats/pc2.h"

namespace sinew {

const char* CacheFormatName(CacheFormat format) {
  switch (format) {
    case CacheFormat::kPc2:
      return "pc2";
    case CacheFormat::kMdd:
      return "mdd";
    case CacheFormat::kNpy:
      return "npy";
  }
  return "";
}

absl::StatusOr<CacheFormat> ParseCacheFormat(std::string_view name) {
  std::string lower(name.substr(name.starts_with('.') ? 1 : 0));
  absl::AsciiStrToLower(&lower);
  for (CacheFormat format : {CacheFormat::kPc2, CacheFormat::kMdd, CacheFormat::kNpy}) {
    if (lower == CacheFormatName(format)) return format;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("format: '", std::string(name), "', need pc2, mdd or npy"));
}

absl::StatusOr<std::string> EncodeCacheHeader(CacheFormat format, const CacheInfo& info) {
  switch (format) {
    case CacheFormat::kPc2:
      return EncodePc2Header(info);
    case CacheFormat::kMdd:
      return EncodeMddHeader(info);
    case CacheFormat::kNpy:
      return EncodeNpyHeader(info);
  }
  return absl::InvalidArgumentError("format: unknown, need pc2, mdd or npy");
}

void AppendCacheFrame(CacheFormat format, std::span<const float> positions, std::string& out) {
  if (format != CacheFormat::kMdd) {
    out.append(reinterpret_cast<const char*>(positions.data()), positions.size_bytes());
    return;
  }
  const std::size_t begin = out.size();
  out.resize(begin + positions.size_bytes());
  char* to = out.data() + begin;
  for (float value : positions) {
    const std::uint32_t bits = __builtin_bswap32(std::bit_cast<std::uint32_t>(value));
    std::memcpy(to, &bits, sizeof bits);
    to += sizeof bits;
  }
}

absl::StatusOr<CacheReader> CacheReader::Open(CacheFormat format,
                                              std::span<const std::byte> bytes) {
  absl::StatusOr<CacheLayout> layout = format == CacheFormat::kPc2   ? ParsePc2(bytes)
                                       : format == CacheFormat::kMdd ? ParseMdd(bytes)
                                                                     : ParseNpyCache(bytes);
  if (!layout.ok()) return layout.status();
  return CacheReader(*std::move(layout), bytes);
}

absl::Status CacheReader::ReadFrame(std::uint32_t frame, std::span<float> positions) const {
  if (frame >= frames()) {
    return absl::OutOfRangeError(absl::StrCat("frame: ", frame, ", cache has 0..", frames() - 1));
  }
  const std::size_t values = std::size_t{vertices()} * 3;
  if (positions.size() != values) {
    return absl::InvalidArgumentError(
        absl::StrCat("positions: ", positions.size(), " values, need ", values));
  }
  const std::byte* from = bytes_.data() + layout_.data_offset + frame * values * 4;
  if (layout_.order == ByteOrder::kLittle) {
    std::memcpy(positions.data(), from, positions.size_bytes());
    return absl::OkStatus();
  }
  for (std::size_t k = 0; k < values; ++k) {
    positions[k] = LoadBytes<float>(from + k * 4, ByteOrder::kBig);
  }
  return absl::OkStatus();
}

}  // namespace sinew
