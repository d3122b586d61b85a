#include "client/lib/stream/frame_parser.h"

#include <absl/strings/str_cat.h>

#include <array>
#include <memory>
#include <utility>

#include "core/base/bulk_checksum.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

constexpr std::array<std::uint32_t, 1> kFrames = {1};  // `frames` of a stream, `frame` of Deform
constexpr std::array<std::uint32_t, 3> kBulk = {v1::Frame::kPositionsFieldNumber,
                                                v1::Frame::kNormalsFieldNumber,
                                                v1::Frame::kChannelsFieldNumber};
constexpr std::array<std::uint32_t, 1> kChannelData = {v1::Channel::kDataFieldNumber};

absl::Status Malformed(const std::string& what) {
  return absl::InternalError(
      absl::StrCat(what, ": the server sent bytes that are not such a message"));
}

absl::Status ParseChannel(const Pieces& message, FrameChunk& chunk) {
  SplitResult split;
  v1::Channel& header = *chunk.header.add_channels();
  if (!SplitMessage(message, kChannelData, split) || !header.ParseFromString(split.rest)) {
    return Malformed("Channel");
  }
  Pieces& data = chunk.channels.emplace_back();
  if (!split.taken.empty()) data = std::move(split.taken.back().second);
  return absl::OkStatus();
}

absl::Status ParseChunk(const Pieces& message, FrameChunk& chunk) {
  SplitResult split;
  if (!SplitMessage(message, kBulk, split) || !chunk.header.ParseFromString(split.rest)) {
    return Malformed("Frame");
  }
  for (auto& [number, pieces] : split.taken) {
    // The last value of a repeated scalar field wins, as in the generated parser.
    if (number == v1::Frame::kPositionsFieldNumber) {
      chunk.positions = std::move(pieces);
    } else if (number == v1::Frame::kNormalsFieldNumber) {
      chunk.normals = std::move(pieces);
    } else {
      SINEW_RETURN_IF_ERROR(ParseChannel(pieces, chunk));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const MessageBytes>> MessageBytes::From(
    const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  if (!buffer.Dump(&slices).ok()) {
    return absl::InternalError("message: cannot be read, need an uncompressed one");
  }
  return std::make_shared<const MessageBytes>(std::move(slices));
}

MessageBytes::MessageBytes(std::vector<grpc::Slice> slices) : slices_(std::move(slices)) {
  // From slices_, not the argument: small slices store their bytes inline.
  for (const grpc::Slice& slice : slices_) {
    pieces_.push_back(std::as_bytes(std::span(slice.begin(), slice.size())));
  }
}

template <class Reply>
absl::StatusOr<ParsedReply<Reply>> ParseReply(std::shared_ptr<const MessageBytes> bytes) {
  SplitResult split;
  ParsedReply<Reply> reply;
  if (!SplitMessage(bytes->pieces(), kFrames, split) || !reply.rest.ParseFromString(split.rest)) {
    return Malformed(Reply::descriptor()->name());
  }
  reply.chunks.resize(split.taken.size());
  for (std::size_t i = 0; i < split.taken.size(); ++i) {
    reply.chunks[i].bytes = bytes;
    SINEW_RETURN_IF_ERROR(ParseChunk(split.taken[i].second, reply.chunks[i]));
  }
  return reply;
}
template absl::StatusOr<ParsedReply<v1::DeformResponse>> ParseReply(
    std::shared_ptr<const MessageBytes> bytes);
template absl::StatusOr<ParsedReply<v1::StreamDeformResponse>> ParseReply(
    std::shared_ptr<const MessageBytes> bytes);
template absl::StatusOr<ParsedReply<v1::WatchStreamResponse>> ParseReply(
    std::shared_ptr<const MessageBytes> bytes);

std::uint64_t BulkChecksum(const FrameChunk& chunk) {
  Pieces pieces = chunk.positions;
  pieces.insert(pieces.end(), chunk.normals.begin(), chunk.normals.end());
  for (const Pieces& channel : chunk.channels) {
    pieces.insert(pieces.end(), channel.begin(), channel.end());
  }
  return sinew::BulkChecksum(pieces);
}

}  // namespace sinew::client
