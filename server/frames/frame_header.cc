#include "server/frames/frame_header.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <bit>
#include <cstring>

#include "sinew/v1/deform_service.pb.h"

namespace sinew::server {
namespace {

using google::protobuf::internal::WireFormatLite;
using v1::Frame;
using Coded = google::protobuf::io::CodedOutputStream;

// Appends protobuf fields to a small buffer; fields of value 0 are left out, as proto3 does.
class FieldWriter {
 public:
  void Varint(int field, std::uint64_t value) {
    if (value == 0) return;
    Tag(field, WireFormatLite::WIRETYPE_VARINT);
    at_ = Coded::WriteVarint64ToArray(value, at_);
  }
  void Fixed64(int field, std::uint64_t value) {
    if (value == 0) return;
    Tag(field, WireFormatLite::WIRETYPE_FIXED64);
    at_ = Coded::WriteLittleEndian64ToArray(value, at_);
  }
  void Length(int field, std::uint64_t bytes) {
    Tag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
    at_ = Coded::WriteVarint64ToArray(bytes, at_);
  }
  void Bytes(int field, const void* data, std::size_t bytes) {
    Length(field, bytes);
    std::memcpy(at_, data, bytes);
    at_ += bytes;
  }
  void Append(const FieldWriter& other) {
    std::memcpy(at_, other.data(), other.size());
    at_ += other.size();
  }
  const std::uint8_t* data() const { return bytes_.data(); }
  std::size_t size() const { return static_cast<std::size_t>(at_ - bytes_.data()); }

 private:
  void Tag(int field, WireFormatLite::WireType type) {
    at_ = Coded::WriteVarint32ToArray(WireFormatLite::MakeTag(field, type), at_);
  }
  std::array<std::uint8_t, kHeadRoom> bytes_;
  std::uint8_t* at_ = bytes_.data();
};

void WriteBounds(const std::array<float, 6>& bounds, FieldWriter& out) {
  FieldWriter inner;
  inner.Bytes(v1::Bounds::kMinimumFieldNumber, bounds.data(), 3 * sizeof(float));
  inner.Bytes(v1::Bounds::kMaximumFieldNumber, bounds.data() + 3, 3 * sizeof(float));
  out.Bytes(Frame::kBoundsFieldNumber, inner.data(), inner.size());
}

void WriteTiming(const FrameTiming& timing, FieldWriter& out) {
  FieldWriter inner;
  inner.Varint(v1::Timing::kQueueNsFieldNumber, timing.queue_ns);
  inner.Varint(v1::Timing::kEvaluateNsFieldNumber, timing.evaluate_ns);
  inner.Varint(v1::Timing::kEncodeNsFieldNumber, timing.encode_ns);
  inner.Varint(v1::Timing::kPreviousSendNsFieldNumber, timing.previous_send_ns);
  out.Bytes(Frame::kTimingFieldNumber, inner.data(), inner.size());
}

void WriteFields(const FrameHeader& header, FieldWriter& out) {
  out.Varint(Frame::kFrameFieldNumber, header.frame);
  out.Varint(Frame::kVertexOffsetFieldNumber, header.vertex_offset);
  out.Varint(Frame::kVertexCountFieldNumber, header.vertex_count);
  out.Varint(Frame::kLastChunkFieldNumber, header.last_chunk ? 1 : 0);
  out.Varint(Frame::kEncodingFieldNumber, v1::ENCODING_FLOAT32);
  out.Fixed64(Frame::kChecksumFieldNumber, header.checksum);
  if (header.bounds) WriteBounds(*header.bounds, out);
  if (header.timing) WriteTiming(*header.timing, out);
  out.Varint(Frame::kSkippedFieldNumber, header.skipped);
  if (header.normal_bytes > 0) {
    out.Varint(Frame::kNormalEncodingFieldNumber, v1::ENCODING_FLOAT32);
  }
  out.Fixed64(Frame::kTimeFieldNumber, std::bit_cast<std::uint64_t>(header.time));
  out.Varint(Frame::kReplayedStepsFieldNumber, header.replayed_steps);
  out.Length(Frame::kPositionsFieldNumber, header.position_bytes);
}

BulkTag ToBulkTag(const FieldWriter& fields) {
  BulkTag tag{};
  tag.size = fields.size();
  std::memcpy(tag.bytes.data(), fields.data(), fields.size());
  return tag;
}

BulkTag MakeChannelTag(v1::Attribute attribute, v1::Encoding encoding, std::size_t bytes) {
  FieldWriter channel;
  channel.Varint(v1::Channel::kAttributeFieldNumber, attribute);
  channel.Varint(v1::Channel::kEncodingFieldNumber, encoding);
  channel.Length(v1::Channel::kDataFieldNumber, bytes);
  FieldWriter tag;
  tag.Length(Frame::kChannelsFieldNumber, channel.size() + bytes);
  tag.Append(channel);
  return ToBulkTag(tag);
}

}  // namespace

std::byte* WriteFrameHeader(const FrameHeader& header, std::byte* end) {
  FieldWriter fields;
  WriteFields(header, fields);
  std::size_t inner = fields.size() + header.position_bytes;
  if (header.normal_bytes > 0) {
    inner += MakeNormalsTag(header.normal_bytes).size + header.normal_bytes;
  }
  if (header.tangent_bytes > 0) {
    inner += MakeTangentsTag(header.tangent_bytes).size + header.tangent_bytes;
  }
  if (header.vertex_status_bytes > 0) {
    inner += MakeVertexStatusTag(header.vertex_status_bytes).size + header.vertex_status_bytes;
  }
  inner += header.muscle_bytes;
  FieldWriter wrapper;
  wrapper.Length(v1::StreamDeformResponse::kFramesFieldNumber, inner);
  std::byte* start = end - fields.size();
  std::memcpy(start, fields.data(), fields.size());
  start -= wrapper.size();
  std::memcpy(start, wrapper.data(), wrapper.size());
  return start;
}

BulkTag MakeNormalsTag(std::size_t normal_bytes) {
  FieldWriter tag;
  tag.Length(Frame::kNormalsFieldNumber, normal_bytes);
  return ToBulkTag(tag);
}

BulkTag MakeTangentsTag(std::size_t tangent_bytes) {
  return MakeChannelTag(v1::ATTRIBUTE_TANGENTS, v1::ENCODING_FLOAT32, tangent_bytes);
}

BulkTag MakeVertexStatusTag(std::size_t vertex_status_bytes) {
  return MakeChannelTag(v1::ATTRIBUTE_VERTEX_STATUS, v1::ENCODING_UINT8, vertex_status_bytes);
}

}  // namespace sinew::server
