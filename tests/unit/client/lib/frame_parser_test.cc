#include "client/lib/stream/frame_parser.h"

#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <random>

namespace sinew::client {
namespace {

// A message cut in two at `cut`; both parts are real slices.
std::shared_ptr<const MessageBytes> Cut(const std::string& bytes, std::size_t cut) {
  return std::make_shared<const MessageBytes>(std::vector<grpc::Slice>{
      grpc::Slice(bytes.data(), cut), grpc::Slice(bytes.data() + cut, bytes.size() - cut)});
}

std::shared_ptr<const MessageBytes> Whole(const std::string& bytes) {
  return Cut(bytes, bytes.size());
}

v1::Frame SampleFrame(std::uint64_t number) {
  v1::Frame frame;
  frame.set_frame(number);
  frame.set_vertex_offset(300);
  frame.set_vertex_count(4);
  frame.set_last_chunk(true);
  frame.set_encoding(v1::ENCODING_FLOAT32);
  frame.set_checksum(0x0123456789abcdef);
  for (int i = 0; i < 3; ++i) {
    frame.mutable_bounds()->add_minimum(-1.5f * static_cast<float>(i));
    frame.mutable_bounds()->add_maximum(2.5f * static_cast<float>(i));
  }
  frame.mutable_timing()->set_evaluate_ns(12345678901);
  frame.set_skipped(3);
  frame.set_time(0.25);
  frame.set_positions(std::string(48, 'p'));
  frame.set_normals(std::string(48, 'n'));
  v1::Channel* channel = frame.add_channels();
  channel->set_attribute(v1::ATTRIBUTE_VERTEX_STATUS);
  channel->set_data("vertex_status");
  return frame;
}

v1::StreamDeformResponse SampleReply() {
  v1::StreamDeformResponse reply;
  *reply.add_frames() = SampleFrame(7);
  *reply.add_frames() = SampleFrame(8);
  reply.mutable_frames(1)->clear_normals();
  reply.mutable_opened()->set_session("sessions/x");
  v1::FrameProblem* problem = reply.add_problems();
  problem->set_frame(9);
  problem->mutable_problem()->set_message("got nan");
  reply.mutable_notice()->set_kind(v1::Notice::KIND_DRAINING);
  return reply;
}

// The message as the generated parser would have it, put together from what our parser found.
v1::Frame Rebuild(const FrameChunk& chunk) {
  v1::Frame frame = chunk.header;
  frame.set_positions(Flatten(chunk.positions));
  frame.set_normals(Flatten(chunk.normals));
  for (int i = 0; i < frame.channels_size(); ++i) {
    frame.mutable_channels(i)->set_data(Flatten(chunk.channels.at(static_cast<std::size_t>(i))));
  }
  return frame;
}

std::string Rebuild(const ParsedReply<v1::StreamDeformResponse>& parsed) {
  v1::StreamDeformResponse reply = parsed.rest;
  for (const FrameChunk& chunk : parsed.chunks) *reply.add_frames() = Rebuild(chunk);
  return reply.SerializeAsString();
}

// Both parsers take `bytes` or both refuse it, and they find the same.
void ExpectSameAsGenerated(const std::string& bytes, const std::shared_ptr<const MessageBytes>& in,
                           const std::string& what) {
  const google::protobuf::LogSilencer silencer;  // both complain about bad UTF-8
  v1::StreamDeformResponse generated;
  const bool valid = generated.ParseFromString(bytes);
  const auto ours = ParseReply<v1::StreamDeformResponse>(in);
  ASSERT_EQ(ours.ok(), valid) << what << ": " << ours.status();
  if (!valid) return;
  EXPECT_EQ(Rebuild(*ours), generated.SerializeAsString()) << what;
}

TEST(FrameParser, MatchesGeneratedParserAtEveryCut) {
  const std::string bytes = SampleReply().SerializeAsString();
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    ExpectSameAsGenerated(bytes, Cut(bytes, cut), "cut " + std::to_string(cut));
  }
}

TEST(FrameParser, ReadsSlicesOfOneByte) {
  const std::string bytes = SampleReply().SerializeAsString();
  std::vector<grpc::Slice> slices;
  for (const char& byte : bytes) slices.emplace_back(&byte, 1);
  ExpectSameAsGenerated(bytes, std::make_shared<const MessageBytes>(slices), "bytes");
}

TEST(FrameParser, MatchesGeneratedParserOnEveryTruncation) {
  const std::string bytes = SampleReply().SerializeAsString();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string part = bytes.substr(0, size);
    ExpectSameAsGenerated(part, Cut(part, size / 2), "size " + std::to_string(size));
  }
}

TEST(FrameParser, MatchesGeneratedParserOnDamagedBytes) {
  const std::string bytes = SampleReply().SerializeAsString();
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::string damaged = bytes;
    for (int i = 0; i < 1 + round % 3; ++i) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    ExpectSameAsGenerated(damaged, Cut(damaged, random() % (damaged.size() + 1)),
                          "round " + std::to_string(round));
    if (HasFatalFailure()) return;
  }
}

TEST(FrameParser, MatchesGeneratedParserOnUnusualEncodings) {
  const std::string bytes = SampleReply().SerializeAsString();
  const std::string frame = SampleFrame(5).SerializeAsString();
  const auto wrap = [](const std::string& message) {
    std::string length;
    for (std::size_t n = message.size();; n >>= 7) {
      if (n < 128) {
        length += static_cast<char>(n);
        break;
      }
      length += static_cast<char>((n & 127) | 128);
    }
    return "\x0a" + length + message;
  };
  const std::string group = "\xa3\x06\x08\x01\xab\x06\x0a\x01x\xac\x06\xa4\x06";  // 100 around 101
  const std::pair<const char*, std::string> cases[] = {
      {"empty", ""},
      {"unknown varint before", "\xa0\x06\x05" + bytes},
      {"unknown fixed32 and fixed64", bytes + "\xa5\x06zzzz" + "\xa1\x06zzzzzzzz"},
      {"unknown bytes", bytes + "\xa2\x06\x03zzz"},
      {"unknown group", bytes + group},
      {"unknown group in a frame", wrap(frame + group)},
      {"group never closed", bytes + "\xa3\x06\x08\x01"},
      {"group closed twice", bytes + group + "\xa4\x06"},
      {"groups crossed", bytes + "\xa3\x06\xab\x06\xa4\x06\xac\x06"},
      {"field zero", bytes + std::string("\x00\x01", 2)},
      {"wire type six", bytes + "\x0e"},
      {"frames as a varint", bytes + "\x08\x05"},
      {"positions as a varint", wrap(frame + "\xf0\x01\x05")},
      {"positions twice", wrap(frame + "\xf2\x01\x02zz")},
      {"positions emptied", wrap(frame + std::string("\xf2\x01\x00", 3))},
      {"bounds unpacked and twice", wrap(frame + std::string("\x3a\x05\x0d\0\0\x80\x3f", 7))},
      {"scalar twice", wrap(frame + "\x08\x63\x08\x64")},
      {"overlong varint", wrap(frame + std::string("\x10\x81\x80\x80\x00", 5))},
      {"varint of ten bytes", wrap(frame + "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")},
      {"varint of eleven bytes", wrap(frame + "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")},
      {"uint32 too large", wrap(frame + "\x18\xff\xff\xff\xff\xff\xff\x01")},
      {"future encoding", wrap(frame + "\x28\x63")},
      {"length beyond the end", "\x0a\x7f" + frame.substr(0, 5)},
      {"length of 2^63", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f" + frame},
      {"invalid UTF-8", bytes + "\x12\x03\x0a\x01\xff"},
      {"channel in parts", wrap(frame + "\x82\x02\x04\x1a\x02zz")},
  };
  for (const auto& [name, message] : cases) {
    for (std::size_t cut = 0; cut <= message.size(); ++cut) {
      ExpectSameAsGenerated(message, Cut(message, cut), name);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(FrameParser, ReferencesVertexDataWithoutCopy) {
  v1::StreamDeformResponse reply;
  *reply.add_frames() = SampleFrame(1);
  reply.mutable_notice()->set_last_frame(7);
  reply.mutable_frames(0)->set_positions(std::string(5000, 'q'));
  const std::string bytes = reply.SerializeAsString();
  const auto message = Whole(bytes);
  const auto parsed = ParseReply<v1::StreamDeformResponse>(message);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->rest.notice().last_frame(), 7u);
  ASSERT_EQ(parsed->chunks[0].positions.size(), 1u);
  const Piece piece = parsed->chunks[0].positions[0], all = message->pieces()[0];
  EXPECT_TRUE(piece.data() >= all.data() && piece.data() + piece.size() <= all.data() + all.size());
}

TEST(FrameParser, RepeatedFrameFieldsAreSeveralChunks) {
  v1::DeformResponse first, second;
  first.mutable_frame()->set_frame(4);
  first.mutable_frame()->set_positions("abc");
  second.mutable_frame()->set_positions("xyz!");
  second.set_determinism_digest("n2");
  const std::string bytes = first.SerializeAsString() + second.SerializeAsString();
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    const auto parsed = ParseReply<v1::DeformResponse>(Cut(bytes, cut));
    ASSERT_TRUE(parsed.ok());
    ASSERT_EQ(parsed->chunks.size(), 2u);
    EXPECT_EQ(Rebuild(parsed->chunks[0]).SerializeAsString(), first.frame().SerializeAsString());
    EXPECT_EQ(Rebuild(parsed->chunks[1]).SerializeAsString(), second.frame().SerializeAsString());
    EXPECT_EQ(parsed->rest.determinism_digest(), "n2");
  }
  EXPECT_TRUE(ParseReply<v1::DeformResponse>(Whole(""))->chunks.empty());
  // The first part is cut off inside a field; the second must not complete it.
  EXPECT_FALSE(
      ParseReply<v1::DeformResponse>(Whole(std::string("\x0a\x01\x08\x0a\x01\x08", 6))).ok());
}

TEST(BulkChecksum, CoversVertexDataInFieldOrder) {
  v1::DeformResponse reply;
  *reply.mutable_frame() = SampleFrame(1);
  const std::string bulk = std::string(48, 'p') + std::string(48, 'n') + "vertex_status";
  const std::string bytes = reply.SerializeAsString();
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    const auto parsed = ParseReply<v1::DeformResponse>(Cut(bytes, cut));
    EXPECT_EQ(BulkChecksum(parsed->chunks.at(0)), XXH3_64bits(bulk.data(), bulk.size()));
  }
  reply.mutable_frame()->clear_normals();
  reply.mutable_frame()->clear_channels();
  EXPECT_EQ(
      BulkChecksum(ParseReply<v1::DeformResponse>(Whole(reply.SerializeAsString()))->chunks.at(0)),
      XXH3_64bits(bulk.data(), 48));
}

TEST(MessageBytes, ReferencesTheBuffer) {
  const std::string text(1000, 'x');
  const grpc::Slice slice(text);
  const auto bytes = MessageBytes::From(grpc::ByteBuffer(&slice, 1));
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(static_cast<const void*>((*bytes)->pieces()[0].data()), slice.begin());
  EXPECT_EQ(Flatten((*bytes)->pieces()), text);
}

}  // namespace
}  // namespace sinew::client
