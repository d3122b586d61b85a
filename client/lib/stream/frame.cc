#include "sinew/frame.h"

#include <absl/strings/str_cat.h>

#include <cstring>
#include <utility>

#include "client/lib/stream/frame_assembler.h"

namespace sinew::client {
namespace {

const FrameData& Empty() {
  static const FrameData empty;
  return empty;
}

absl::Status CopyDecoded(const char* name, Encoding encoding, const ByteSpans& bytes,
                         std::span<std::byte> out, Encoding decoded = Encoding::kFloat32) {
  if (!bytes.empty() && encoding != decoded) {
    return absl::UnimplementedError(
        absl::StrCat(name, ": got encoding ", static_cast<int>(encoding), ", this library decodes ",
                     decoded == Encoding::kFloat32 ? "float32" : "uint8"));
  }
  return bytes.CopyTo(out);
}

}  // namespace

ByteSpans::ByteSpans(std::vector<std::span<const std::byte>> spans) : spans_(std::move(spans)) {
  for (const std::span<const std::byte>& span : spans_) size_ += span.size();
}

std::span<const std::byte> ByteSpans::Contiguous() const {
  return spans_.size() == 1 ? spans_.front() : std::span<const std::byte>();
}

absl::Status ByteSpans::CopyTo(std::span<float> out) const {
  return CopyTo(std::as_writable_bytes(out));
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
  return data_ ? data_->frame : 0;
}
double FrameView::time() const {
  return data_ ? data_->time : 0;
}
std::uint64_t FrameView::vertices() const {
  return data_ ? data_->vertices : 0;
}
std::array<float, 6> FrameView::bounds() const {
  return data_ ? data_->bounds : Empty().bounds;
}
FrameTiming FrameView::timing() const {
  return data_ ? data_->timing : FrameTiming();
}
std::uint32_t FrameView::skipped() const {
  return data_ ? data_->skipped : 0;
}
std::uint32_t FrameView::replayed_steps() const {
  return data_ ? data_->replayed_steps : 0;
}
std::uint32_t FrameView::chunks() const {
  return data_ ? data_->chunks : 0;
}
Encoding FrameView::encoding() const {
  return data_ ? data_->encoding : Encoding::kUnspecified;
}
Encoding FrameView::normal_encoding() const {
  return data_ ? data_->normal_encoding : Encoding::kUnspecified;
}
Encoding FrameView::tangent_encoding() const {
  return data_ ? data_->tangent_encoding : Encoding::kUnspecified;
}
Encoding FrameView::vertex_status_encoding() const {
  return data_ ? data_->vertex_status_encoding : Encoding::kUnspecified;
}
const ByteSpans& FrameView::positions() const {
  return (data_ ? *data_ : Empty()).positions;
}
const ByteSpans& FrameView::normals() const {
  return (data_ ? *data_ : Empty()).normals;
}
const ByteSpans& FrameView::tangents() const {
  return (data_ ? *data_ : Empty()).tangents;
}
const ByteSpans& FrameView::vertex_status() const {
  return (data_ ? *data_ : Empty()).vertex_status;
}
std::span<const PosedMuscle> FrameView::muscles() const {
  return (data_ ? *data_ : Empty()).muscles;
}

absl::Status FrameView::CopyPositions(std::span<float> out) const {
  return CopyDecoded("positions", encoding(), positions(), std::as_writable_bytes(out));
}

absl::Status FrameView::CopyNormals(std::span<float> out) const {
  return CopyDecoded("normals", normal_encoding(), normals(), std::as_writable_bytes(out));
}

absl::Status FrameView::CopyTangents(std::span<float> out) const {
  return CopyDecoded("tangents", tangent_encoding(), tangents(), std::as_writable_bytes(out));
}

absl::Status FrameView::CopyVertexStatus(std::span<VertexStatus> out) const {
  return CopyDecoded("vertex_status", vertex_status_encoding(), vertex_status(),
                     std::as_writable_bytes(out), Encoding::kUint8);
}

}  // namespace sinew::client
