#include "server/frames/frame_header.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <cstring>
#include <string>

#include "sinew/v1/deform_service.pb.h"

namespace sinew::server {
namespace {

using google::protobuf::internal::WireFormatLite;
using v1::Frame;
using Coded = google::protobuf::io::CodedOutputStream;

// Tag and length of a field of `bytes` bytes, the first of which are `begin`.
BulkTag MakeTag(int field, std::size_t bytes, const BulkTag& begin = {}) {
  BulkTag tag{};
  auto* const data = reinterpret_cast<std::uint8_t*>(tag.bytes.data());
  std::uint8_t* at = Coded::WriteVarint32ToArray(
      WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED), data);
  at = Coded::WriteVarint64ToArray(bytes, at);
  std::memcpy(at, begin.bytes.data(), begin.size);
  tag.size = static_cast<std::size_t>(at - data) + begin.size;
  return tag;
}

BulkTag MakeChannelTag(v1::Attribute attribute, v1::Encoding encoding, std::size_t bytes) {
  v1::Channel fields;
  fields.set_attribute(attribute);
  fields.set_encoding(encoding);
  const BulkTag data = MakeTag(v1::Channel::kDataFieldNumber, bytes);
  BulkTag channel{.bytes = {}, .size = fields.ByteSizeLong() + data.size};
  fields.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(channel.bytes.data()));
  std::memcpy(channel.bytes.data() + channel.size - data.size, data.bytes.data(), data.size);
  return MakeTag(Frame::kChannelsFieldNumber, channel.size + bytes, channel);
}

}  // namespace

std::byte* WriteFrameHeader(const v1::Frame& fields, const BulkSizes& bulk, std::byte* end) {
  const std::size_t size = fields.ByteSizeLong();
  const BulkTag positions = MakeTag(Frame::kPositionsFieldNumber, bulk.positions);
  std::size_t inner = size + positions.size + bulk.positions + bulk.muscles;
  if (bulk.normals > 0) inner += MakeNormalsTag(bulk.normals).size + bulk.normals;
  if (bulk.tangents > 0) inner += MakeTangentsTag(bulk.tangents).size + bulk.tangents;
  if (bulk.vertex_status > 0) {
    inner += MakeVertexStatusTag(bulk.vertex_status).size + bulk.vertex_status;
  }
  const BulkTag wrapper = MakeTag(v1::StreamDeformResponse::kFramesFieldNumber, inner);
  std::byte* const start = end - positions.size - size - wrapper.size;
  std::memcpy(start, wrapper.bytes.data(), wrapper.size);
  fields.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(start + wrapper.size));
  std::memcpy(end - positions.size, positions.bytes.data(), positions.size);
  return start;
}

BulkTag MakeNormalsTag(std::size_t normal_bytes) {
  return MakeTag(Frame::kNormalsFieldNumber, normal_bytes);
}

BulkTag MakeTangentsTag(std::size_t tangent_bytes) {
  return MakeChannelTag(v1::ATTRIBUTE_TANGENTS, v1::ENCODING_FLOAT32, tangent_bytes);
}

BulkTag MakeVertexStatusTag(std::size_t vertex_status_bytes) {
  return MakeChannelTag(v1::ATTRIBUTE_VERTEX_STATUS, v1::ENCODING_UINT8, vertex_status_bytes);
}

}  // namespace sinew::server
