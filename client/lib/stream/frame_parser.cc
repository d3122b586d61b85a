#include "client/lib/stream/frame_parser.h"

#include <absl/strings/str_cat.h>
#include <xxhash.h>
#if defined(__x86_64__)
#include <xxh_x86dispatch.h>  // the same values with the widest registers of the machine
#endif

#include <array>
#include <memory>
#include <utility>

#include "client/lib/codec/status_macros.h"

namespace sinew::client {
namespace {

constexpr std::array<std::uint32_t, 1> kFrames = {1};  // `frames` of a stream, `frame` of Deform
constexpr std::array<std::uint32_t, 3> kBulk = {v1::Frame::kPositionsFieldNumber,
                                                v1::Frame::kNormalsFieldNumber,
                                                v1::Frame::kChannelsFieldNumber};
constexpr std::array<std::uint32_t, 1> kChannelData = {v1::Channel::kDataFieldNumber};

absl::Status Malformed(const char* what) {
  return absl::InternalError(
      absl::StrCat(what, ": the server sent bytes that are no such message"));
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
    // A field that comes twice means its last value.
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
    const grpc::ByteBuffer& buffer, bool copy) {
  std::vector<grpc::Slice> slices;
  if (!buffer.Dump(&slices).ok()) {
    return absl::InternalError("message: cannot be read, need an uncompressed one");
  }
  if (copy) {
    for (grpc::Slice& slice : slices) slice = grpc::Slice(slice.begin(), slice.size());
  }
  return std::make_shared<const MessageBytes>(std::move(slices));
}

MessageBytes::MessageBytes(std::vector<grpc::Slice> slices) : slices_(std::move(slices)) {
  // From slices_, not the argument: small slices hold their bytes inside themselves.
  for (const grpc::Slice& slice : slices_) {
    pieces_.push_back(std::as_bytes(std::span(slice.begin(), slice.size())));
  }
}

absl::StatusOr<ParsedReply<v1::StreamDeformResponse>> ParseStreamReply(
    std::shared_ptr<const MessageBytes> bytes) {
  SplitResult split;
  ParsedReply<v1::StreamDeformResponse> reply;
  if (!SplitMessage(bytes->pieces(), kFrames, split) || !reply.rest.ParseFromString(split.rest)) {
    return Malformed("StreamDeformResponse");
  }
  reply.chunks.resize(split.taken.size());
  for (std::size_t i = 0; i < split.taken.size(); ++i) {
    reply.chunks[i].bytes = bytes;
    SINEW_RETURN_IF_ERROR(ParseChunk(split.taken[i].second, reply.chunks[i]));
  }
  return reply;
}

absl::StatusOr<ParsedReply<v1::DeformResponse>> ParseDeformReply(
    std::shared_ptr<const MessageBytes> bytes) {
  SplitResult split;
  ParsedReply<v1::DeformResponse> reply;
  if (!SplitMessage(bytes->pieces(), kFrames, split) || !reply.rest.ParseFromString(split.rest)) {
    return Malformed("DeformResponse");
  }
  if (split.taken.empty()) return reply;
  // A message field that comes in parts means all parts merged, which is their concatenation.
  Pieces whole;
  for (auto& [number, pieces] : split.taken) {
    // Each must be a message of its own: one cut off must not borrow from the next.
    SplitResult part;
    if (!SplitMessage(pieces, kBulk, part)) return Malformed("Frame");
    whole.insert(whole.end(), pieces.begin(), pieces.end());
  }
  reply.chunks.resize(1);
  reply.chunks[0].bytes = bytes;
  SINEW_RETURN_IF_ERROR(ParseChunk(whole, reply.chunks[0]));
  return reply;
}

std::uint64_t BulkChecksum(const FrameChunk& chunk) {
  // The one-shot call is faster where the bytes lie together, as small frames do.
  if (chunk.positions.size() == 1 && chunk.normals.empty() && chunk.channels.empty()) {
    return XXH3_64bits(chunk.positions[0].data(), chunk.positions[0].size());
  }
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                              XXH3_freeState);
  XXH3_64bits_reset(state.get());
  const auto add = [&](const Pieces& pieces) {
    for (const Piece& piece : pieces) XXH3_64bits_update(state.get(), piece.data(), piece.size());
  };
  add(chunk.positions);
  add(chunk.normals);
  for (const Pieces& channel : chunk.channels) add(channel);
  return XXH3_64bits_digest(state.get());
}

}  // namespace sinew::client
