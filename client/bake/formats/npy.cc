#include "client/bake/formats/npy.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include "client/bake/formats/byte_order.h"
#include "core/base/status.h"

namespace sinew::bake {
namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr std::size_t kMagicBytes = 6;
constexpr std::size_t kAlignment = 64;  // of the data, as numpy >= 1.14 writes it
constexpr std::size_t kMaxDimensions = 8;

// Parses the Python dictionary of a header: three known keys in any order.
class Dictionary {
 public:
  explicit Dictionary(std::string_view text) : text_(text) {}

  absl::Status Parse(NpyHeader& header) {
    if (!Take('{')) return Malformed("need a dictionary");
    bool seen[3] = {};
    while (!Take('}')) {
      std::string_view key;
      if (!TakeQuoted(key) || !Take(':')) return Malformed("need a quoted key and a colon");
      const std::size_t which = key == "descr" ? 0 : key == "fortran_order" ? 1 : 2;
      if (which == 2 && key != "shape") return Malformed("need descr, fortran_order and shape");
      if (seen[which]) return Malformed("duplicate key");
      seen[which] = true;
      SINEW_RETURN_IF_ERROR(which == 0   ? ParseType(header)
                            : which == 1 ? ParseOrder()
                                         : ParseShape(header));
      if (!Take(',') && !Peek('}')) return Malformed("need a comma between entries");
    }
    if (!seen[0] || !seen[1] || !seen[2]) {
      return Malformed("need descr, fortran_order and shape");
    }
    SkipSpace();
    return at_ == text_.size() ? absl::OkStatus() : Malformed("text after the dictionary");
  }

 private:
  absl::Status Malformed(const char* why) const {
    return InvalidArgument("npy.header: at byte ", at_, ": ", why);
  }

  void SkipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }

  bool Peek(char c) {
    SkipSpace();
    return at_ < text_.size() && text_[at_] == c;
  }

  bool Take(char c) {
    if (!Peek(c)) return false;
    ++at_;
    return true;
  }

  bool TakeWord(std::string_view word) {
    SkipSpace();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  bool TakeQuoted(std::string_view& value) {
    SkipSpace();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) return false;
    const std::size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) return false;
    value = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return true;
  }

  absl::Status ParseType(NpyHeader& header) {
    std::string_view type;
    if (!TakeQuoted(type)) return Malformed("need a quoted type");
    if (type != "<f4" && type != "<f8") {
      return InvalidArgument("npy.descr: '", std::string(type), "', need '<f4' or '<f8'");
    }
    header.value_bytes = type == "<f4" ? 4 : 8;
    return absl::OkStatus();
  }

  absl::Status ParseOrder() {
    if (TakeWord("False")) return absl::OkStatus();
    if (TakeWord("True")) {
      return InvalidArgument("npy.fortran_order: True, need False (C order)");
    }
    return Malformed("need True or False");
  }

  absl::Status ParseShape(NpyHeader& header) {
    if (!Take('(')) return Malformed("need a tuple");
    while (!Take(')')) {
      SkipSpace();
      std::uint64_t size = 0;
      const char* begin = text_.data() + at_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), size);
      if (error != std::errc() || header.shape.size() == kMaxDimensions) {
        return Malformed("need at most 8 whole numbers");
      }
      at_ += static_cast<std::size_t>(end - begin);
      header.shape.push_back(size);
      if (!Take(',') && !Peek(')')) return Malformed("need a comma between sizes");
    }
    return absl::OkStatus();
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// Whether `bytes` is the product of the shape and the value size, without overflow.
bool HoldsExactly(std::uint64_t bytes, const NpyHeader& header) {
  std::uint64_t need = header.value_bytes;
  for (std::uint64_t size : header.shape) {
    if (size == 0) return bytes == 0;
  }
  for (std::uint64_t size : header.shape) {
    if (need > bytes / size) return false;
    need *= size;
  }
  return need == bytes;
}

absl::Status WrongShape(const NpyHeader& header, const char* need) {
  return InvalidArgument("npy.shape: (", absl::StrJoin(header.shape, ", "), "), need ", need);
}

bool IsCount(std::uint64_t size) {
  return size >= 1 && size <= kMaxCacheCount;
}

std::string EncodeHeader(std::span<const std::uint64_t> shape) {
  std::string text = absl::StrCat("{'descr': '<f4', 'fortran_order': False, 'shape': (",
                                  absl::StrJoin(shape, ", "), "), }");
  constexpr std::size_t kPrefix = kMagicBytes + 4;
  const std::size_t total = (kPrefix + text.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  text.append(total - kPrefix - text.size() - 1, ' ');
  text.push_back('\n');
  std::string out(kMagic, kMagicBytes);
  out +=
      {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return out + text;
}

// Values of float32, or of float64 rounded once.
absl::StatusOr<std::vector<float>> ReadValues(std::span<const std::byte> bytes,
                                              const NpyHeader& header) {
  const std::span<const std::byte> data = bytes.subspan(header.data_offset);
  std::vector<float> values(data.size() / header.value_bytes);
  if (header.value_bytes == 4) {
    std::memcpy(values.data(), data.data(), data.size());
    return values;
  }
  for (std::size_t k = 0; k < values.size(); ++k) {
    const auto value = LoadBytes<double>(data.data() + k * 8, ByteOrder::kLittle);
    if (std::isfinite(value) && std::abs(value) > std::numeric_limits<float>::max()) {
      return InvalidArgument("npy: value ", k, " is ", value, ", need the range of float32");
    }
    values[k] = static_cast<float>(value);
  }
  return values;
}

}  // namespace

std::string EncodeNpy(std::span<const std::uint64_t> shape, std::span<const float> values) {
  std::string bytes = EncodeHeader(shape);
  const std::size_t head = bytes.size();
  bytes.resize(head + values.size_bytes());
  if (!values.empty()) std::memcpy(bytes.data() + head, values.data(), values.size_bytes());
  return bytes;
}

absl::StatusOr<std::string> EncodeNpyHeader(const CacheInfo& info) {
  SINEW_RETURN_IF_ERROR(CheckCacheInfo(info));
  const std::uint64_t shape[] = {info.frames, info.vertices, 3};
  return EncodeHeader(shape);
}

absl::StatusOr<NpyHeader> ParseNpyHeader(std::span<const std::byte> bytes) {
  if (bytes.size() < kMagicBytes + 2 || std::memcmp(bytes.data(), kMagic, kMagicBytes) != 0) {
    return InvalidArgument("npy: does not start with \\x93NUMPY and a version");
  }
  const int major = std::to_integer<int>(bytes[6]), minor = std::to_integer<int>(bytes[7]);
  if ((major != 1 && major != 2) || minor != 0) {
    return InvalidArgument("npy.version: ", major, ".", minor, ", need 1.0 or 2.0");
  }
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t prefix = kMagicBytes + 2 + length_bytes;
  std::size_t length = 0;
  for (std::size_t k = 0; k < length_bytes && 8 + k < bytes.size(); ++k) {
    length |= std::to_integer<std::size_t>(bytes[8 + k]) << (8 * k);
  }
  if (bytes.size() < prefix || bytes.size() - prefix < length) {
    return InvalidArgument("npy: ", bytes.size(), " bytes, need a header of ", prefix + length);
  }
  NpyHeader header;
  header.data_offset = prefix + length;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + prefix, length);
  SINEW_RETURN_IF_ERROR(Dictionary(text).Parse(header));
  if (!HoldsExactly(bytes.size() - header.data_offset, header)) {
    return InvalidArgument(
        "npy: ", bytes.size() - header.data_offset, " bytes after the header, need exactly (",
        absl::StrJoin(header.shape, ", "), ") values of ", header.value_bytes, " bytes");
  }
  return header;
}

absl::StatusOr<PoseArray> ReadPosesNpy(std::span<const std::byte> bytes) {
  SINEW_ASSIGN_OR_RETURN(const NpyHeader header, ParseNpyHeader(bytes));
  const auto& shape = header.shape;
  const bool flat = shape.size() == 3 && shape[2] == 12;
  const bool matrices = shape.size() == 4 && shape[2] == 3 && shape[3] == 4;
  if ((!flat && !matrices) || !IsCount(shape[0]) || !IsCount(shape[1])) {
    return WrongShape(header, "(frames, joints, 12) or (frames, joints, 3, 4)");
  }
  PoseArray poses;
  poses.frames = static_cast<std::uint32_t>(shape[0]);
  poses.joints = static_cast<std::uint32_t>(shape[1]);
  SINEW_ASSIGN_OR_RETURN(poses.values, ReadValues(bytes, header));
  return poses;
}

absl::StatusOr<ControlArray> ReadControlsNpy(std::span<const std::byte> bytes) {
  SINEW_ASSIGN_OR_RETURN(const NpyHeader header, ParseNpyHeader(bytes));
  const auto& shape = header.shape;
  if (shape.size() != 2 || !IsCount(shape[0]) || !IsCount(shape[1])) {
    return WrongShape(header, "(frames, controls)");
  }
  ControlArray controls;
  controls.frames = static_cast<std::uint32_t>(shape[0]);
  controls.controls = static_cast<std::uint32_t>(shape[1]);
  SINEW_ASSIGN_OR_RETURN(controls.values, ReadValues(bytes, header));
  return controls;
}

absl::StatusOr<PointArray> ReadPointsNpy(std::span<const std::byte> bytes) {
  SINEW_ASSIGN_OR_RETURN(const NpyHeader header, ParseNpyHeader(bytes));
  const auto& shape = header.shape;
  if (shape.size() != 3 || shape[2] != 3 || !IsCount(shape[0]) || !IsCount(shape[1])) {
    return WrongShape(header, "(frames, vertices, 3)");
  }
  PointArray points;
  points.frames = static_cast<std::uint32_t>(shape[0]);
  points.vertices = static_cast<std::uint32_t>(shape[1]);
  SINEW_ASSIGN_OR_RETURN(points.values, ReadValues(bytes, header));
  return points;
}

}  // namespace sinew::bake
