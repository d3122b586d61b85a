#include "sinew/frame.h"

#include <absl/strings/str_cat.h>

#include <cstring>
#include <utility>

#include "client/lib/stream/decode.h"
#include "client/lib/stream/frame_assembler.h"

namespace sinew::client {
namespace {

const FrameData& Get(const std::shared_ptr<const FrameData>& data) {
  static const FrameData empty;
  return data == nullptr ? empty : *data;
}

// An attribute that is in no frame has the data of kUnspecified: none.
std::size_t IndexOf(Attribute attribute) {
  const auto index = static_cast<std::size_t>(attribute);
  return index < kAttributeCount ? index : 0;
}

absl::Status CopyDecoded(const FrameView& view, Attribute attribute, const char* name,
                         std::span<std::byte> out, Encoding decoded = Encoding::kFloat32) {
  const Encoding encoding = view.encoding(attribute);
  const ByteSpans& bytes = view.bytes(attribute);
  const bool sent = !bytes.empty() || encoding != Encoding::kUnspecified;
  if (sent && encoding != decoded) {
    return absl::UnimplementedError(
        absl::StrCat(name, ": this library does not decode encoding ", static_cast<int>(encoding)));
  }
  return bytes.CopyTo(out);
}

}  // namespace

ByteSpans::ByteSpans(std::vector<std::span<const std::byte>> spans) : spans_(std::move(spans)) {
  for (const std::span<const std::byte>& span : spans_) size_ += span.size();
}

absl::Status ByteSpans::CopyTo(std::span<std::byte> out) const {
  if (out.size() != size_) {
    return absl::InvalidArgumentError(
        absl::StrCat("out: got ", out.size(), " bytes, need ", size_));
  }
  for (const std::span<const std::byte>& span : spans_) {
    std::memcpy(out.data(), span.data(), span.size());
    out = out.subspan(span.size());
  }
  return absl::OkStatus();
}

std::uint64_t FrameView::frame() const {
  return Get(data_).frame;
}
double FrameView::time() const {
  return Get(data_).time;
}
std::uint64_t FrameView::vertices() const {
  return Get(data_).vertices;
}
std::array<float, 6> FrameView::bounds() const {
  return Get(data_).bounds;
}
FrameTiming FrameView::timing() const {
  return Get(data_).timing;
}
std::uint32_t FrameView::skipped() const {
  return Get(data_).skipped;
}
std::uint32_t FrameView::chunks() const {
  return Get(data_).chunks;
}
Compression FrameView::compression() const {
  return Get(data_).compression;
}
std::uint64_t FrameView::received_bytes() const {
  return Get(data_).received_bytes;
}
Encoding FrameView::encoding(Attribute attribute) const {
  return Get(data_).attributes[IndexOf(attribute)].encoding;
}
Quantisation FrameView::quantisation() const {
  return Get(data_).quantisation;
}
const ByteSpans& FrameView::bytes(Attribute attribute) const {
  return Get(data_).attributes[IndexOf(attribute)].bytes;
}
std::span<const PosedMuscle> FrameView::muscles() const {
  return Get(data_).muscles;
}

absl::Status FrameView::CopyPositions(std::span<float> out) const {
  if (encoding() == Encoding::kQ16)
    return DecodeQ16(bytes(Attribute::kPositions), quantisation(), out);
  return CopyDecoded(*this, Attribute::kPositions, "positions", std::as_writable_bytes(out));
}

absl::StatusOr<std::vector<float>> FrameView::Positions() const {
  std::vector<float> positions;
  const Encoding encoded = encoding();
  if (encoded == Encoding::kFloat32 || encoded == Encoding::kQ16) positions.resize(vertices() * 3);
  if (absl::Status copied = CopyPositions(positions); !copied.ok()) return copied;
  return positions;
}

absl::Status FrameView::CopyNormals(std::span<float> out) const {
  const Encoding normals = encoding(Attribute::kNormals);
  if (normals == Encoding::kOct8) return DecodeOct8(bytes(Attribute::kNormals), out);
  if (normals == Encoding::kOct16) return DecodeOct16(bytes(Attribute::kNormals), out);
  return CopyDecoded(*this, Attribute::kNormals, "normals", std::as_writable_bytes(out));
}

absl::Status FrameView::CopyTangents(std::span<float> out) const {
  return CopyDecoded(*this, Attribute::kTangents, "tangents", std::as_writable_bytes(out));
}

absl::Status FrameView::CopyVertexStatus(std::span<VertexStatus> out) const {
  return CopyDecoded(*this, Attribute::kVertexStatus, "vertex_status", std::as_writable_bytes(out),
                     Encoding::kUint8);
}

}  // namespace sinew::client
