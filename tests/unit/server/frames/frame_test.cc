// Frames on their way out: header, buffers, messages.
#include <gtest/gtest.h>
#include <xxhash.h>

#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "core/base/bulk_checksum.h"
#include "server/convert/posed_muscle.h"
#include "server/frames/compression.h"
#include "server/frames/frame_header.h"
#include "server/frames/outbox.h"
#include "sinew/v1/deform_service.pb.h"

namespace sinew::server {
namespace {

v1::StreamDeformResponse Generated(const v1::Frame& header, const std::string& positions,
                                   const std::string& normals, const std::string& tangents,
                                   const std::string& vertex_status,
                                   std::span<const PosedMuscle> muscles) {
  v1::StreamDeformResponse response;
  v1::Frame& frame = *response.add_frames();
  frame = header;
  frame.set_positions(positions);
  if (!normals.empty()) frame.set_normals(normals);
  if (!tangents.empty()) {
    v1::Channel& channel = *frame.add_channels();
    channel.set_attribute(v1::ATTRIBUTE_TANGENTS);
    channel.set_encoding(v1::ENCODING_FLOAT32);
    channel.set_data(tangents);
  }
  if (!vertex_status.empty()) {
    v1::Channel& channel = *frame.add_channels();
    channel.set_attribute(v1::ATTRIBUTE_VERTEX_STATUS);
    channel.set_encoding(v1::ENCODING_UINT8);
    channel.set_data(vertex_status);
  }
  for (const PosedMuscle& from : muscles) {
    v1::PosedMuscle& muscle = *frame.add_muscles();
    for (const float value : from.frame.m) muscle.add_frame(value);
    for (const float radius : from.radii) muscle.add_radii(radius);
  }
  return response;
}

std::string ByHand(const v1::Frame& header, const std::string& positions,
                   const std::string& normals, const std::string& tangents,
                   const std::string& vertex_status, const std::string& muscles) {
  std::vector<std::byte> room(kHeadRoom);
  const BulkSizes sizes = {.positions = positions.size(),
                           .normals = normals.size(),
                           .tangents = tangents.size(),
                           .vertex_status = vertex_status.size(),
                           .muscles = muscles.size()};
  const std::byte* start = WriteFrameHeader(header, sizes, room.data() + room.size());
  std::string bytes(reinterpret_cast<const char*>(start),
                    static_cast<std::size_t>(room.data() + room.size() - start));
  bytes += positions;
  const auto append = [&](const BulkTag& tag, const std::string& bulk) {
    bytes.append(reinterpret_cast<const char*>(tag.bytes.data()), tag.size);
    bytes += bulk;
  };
  if (!normals.empty()) append(MakeNormalsTag(normals.size()), normals);
  if (!tangents.empty()) append(MakeTangentsTag(tangents.size()), tangents);
  if (!vertex_status.empty()) append(MakeVertexStatusTag(vertex_status.size()), vertex_status);
  return bytes + muscles;
}

std::vector<PosedMuscle> SomeMuscles(std::size_t count) {
  std::vector<PosedMuscle> muscles(count);
  for (std::size_t k = 0; k < count; ++k) {
    const auto number = static_cast<float>(k);
    muscles[k].frame.m[3] = 1.5f * number;
    muscles[k].frame.m[0] = k % 2 == 0 ? 0.0f : -1.0f;
    muscles[k].radii[0] = 2 + number;
    muscles[k].radii[2] = 0.25f;
  }
  return muscles;
}

TEST(FrameHeader, EqualsGeneratedSerialiser) {
  std::mt19937_64 random(7);
  const auto pick = [&](std::uint64_t value) { return random() % 3 == 0 ? 0 : value; };
  for (int round = 0; round < 2000; ++round) {
    v1::Frame header;
    header.set_frame(pick(random() >> (random() % 64)));
    header.set_vertex_offset(pick(random() >> (random() % 64)));
    header.set_vertex_count(static_cast<std::uint32_t>(random() >> (32 + random() % 32)));
    header.set_last_chunk(random() % 2 == 0);
    header.set_encoding(v1::ENCODING_FLOAT32);
    header.set_checksum(pick(random()));
    header.set_skipped(static_cast<std::uint32_t>(pick(random() >> 32)));
    header.set_time(random() % 3 == 0 ? 0.0 : random() % 3 == 0 ? -0.0 : 1.5 * round);
    if (random() % 2 == 0) {
      for (const float value : {-1.0f, 0.0f, 2.5f}) header.mutable_bounds()->add_minimum(value);
      for (const float value : {1e30f, -0.0f, 3.0f}) header.mutable_bounds()->add_maximum(value);
    }
    if (random() % 2 == 0) {
      v1::Timing& timing = *header.mutable_timing();
      timing.set_queue_ns(pick(random() >> (random() % 64)));
      timing.set_evaluate_ns(pick(random() >> (random() % 64)));
      timing.set_encode_ns(pick(random() >> (random() % 64)));
      timing.set_previous_send_ns(pick(random() >> (random() % 64)));
    }
    const std::string positions(12 * (1 + random() % 2000), 'p');
    const std::string normals(random() % 2 == 0 ? positions.size() : 0, 'n');
    if (!normals.empty()) header.set_normal_encoding(v1::ENCODING_FLOAT32);
    const std::string tangents(random() % 2 == 0 ? positions.size() / 3 * 4 : 0, 't');
    const std::string vertex_status(random() % 2 == 0 ? positions.size() / 12 : 0, '\1');
    const std::vector<PosedMuscle> muscles = SomeMuscles(random() % 4);
    const std::string fields = MuscleFields(muscles);
    ASSERT_EQ(fields.size(), muscles.size() * kMuscleBytes);
    ASSERT_EQ(ByHand(header, positions, normals, tangents, vertex_status, fields),
              Generated(header, positions, normals, tangents, vertex_status, muscles)
                  .SerializeAsString());
  }
}

TEST(FrameHeader, LongestHeaderFits) {
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  v1::Frame header;
  header.set_frame(kMost);
  header.set_vertex_offset(kMost);
  header.set_checksum(kMost);
  header.set_vertex_count(~std::uint32_t{0});
  header.set_skipped(~std::uint32_t{0});
  header.set_last_chunk(true);
  header.set_encoding(v1::ENCODING_FLOAT32);
  header.set_normal_encoding(v1::ENCODING_FLOAT32);
  header.set_time(1);
  header.set_compression(v1::COMPRESSION_ZSTD);
  header.set_base_frame(kMost);
  for (int i = 0; i < 3; ++i) {
    header.mutable_quantisation()->add_origin(0);
    header.mutable_quantisation()->add_step(0);
    header.mutable_bounds()->add_minimum(0);
    header.mutable_bounds()->add_maximum(0);
  }
  header.mutable_timing()->set_queue_ns(kMost);
  header.mutable_timing()->set_evaluate_ns(kMost);
  header.mutable_timing()->set_encode_ns(kMost);
  header.mutable_timing()->set_previous_send_ns(kMost);
  const BulkSizes bulk = {.positions = 1u << 29,
                          .normals = 1u << 29,
                          .tangents = 1u << 29,
                          .vertex_status = 1u << 29,
                          .muscles = 1u << 29};
  std::vector<std::byte> room(kHeadRoom);
  EXPECT_GE(WriteFrameHeader(header, bulk, room.data() + room.size()), room.data());
  // Pieces behind the first have neither bounds nor skipped; if not compressed, 192 bytes of room.
  header.clear_bounds();
  header.clear_skipped();
  header.clear_compression();
  header.clear_base_frame();
  EXPECT_GE(WriteFrameHeader(header, bulk, room.data() + room.size()), room.data() + 64);
}

std::string BytesOf(grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(buffer.Dump(&slices).ok());
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

OutgoingFrame MakeFrame(FramePool& pool, std::uint64_t number, std::uint32_t vertices,
                        const Output& output) {
  OutgoingFrame frame(pool, output, vertices);
  std::vector<float> values(std::size_t{vertices} * 3);
  std::iota(values.begin(), values.end(), static_cast<float>(number));
  std::memcpy(frame.positions().data(), values.data(), frame.positions().size());
  if (output.normals) {
    std::fill(values.begin(), values.end(), 0.5f);
    std::memcpy(frame.normals().data(), values.data(), frame.normals().size());
  }
  if (output.tangents) {
    values.resize(std::size_t{vertices} * 4);
    std::iota(values.begin(), values.end(), -1.0f);
    std::memcpy(frame.tangents().data(), values.data(), frame.tangents().size());
  }
  for (std::size_t v = 0; v < frame.vertex_status().size(); ++v) {
    frame.vertex_status()[v] = static_cast<std::byte>((v + number) % 7);
  }
  if (output.muscles) frame.muscles = MuscleFields(SomeMuscles(3));
  frame.header.set_frame(number);
  frame.header.mutable_bounds()->add_minimum(1);
  frame.Seal();
  return frame;
}

TEST(OutgoingFrame, ArraysAreCacheLineAligned) {
  const auto pool = FramePool::Create(1 << 20);
  for (const std::uint32_t vertices : {1u, 15u, 160u, 161u, 5000u}) {
    OutgoingFrame frame(
        *pool, {.normals = true, .tangents = true, .vertex_status = true, .chunk_bytes = 4096},
        vertices);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(frame.positions().data()) % 64, 0u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(frame.normals().data()) % 64, 0u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(frame.tangents().data()) % 64, 0u);
    EXPECT_EQ(frame.positions().size(), vertices * 12u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(frame.vertex_status().data()) % 64, 0u);
    EXPECT_EQ(frame.tangents().size(), vertices * 16u);
    EXPECT_EQ(frame.vertex_status().size(), vertices);
  }
}

TEST(Outbox, SplitsLargeFrames) {
  const auto pool = FramePool::Create(1 << 20);
  const Output output{.normals = true,
                      .tangents = true,
                      .vertex_status = true,
                      .muscles = true,
                      .chunk_bytes = 64 << 10};
  constexpr std::uint32_t kVertices = 10'000;
  Outbox outbox;
  outbox.Push(MakeFrame(*pool, 5, kVertices, output));
  EXPECT_EQ(outbox.frames_ready(), 1u);
  std::string positions, normals, tangents, vertex_status;
  std::uint64_t completed = 0, messages = 0;
  while (!outbox.empty()) {
    grpc::ByteBuffer buffer;
    completed += outbox.Next(77, buffer).frames;
    EXPECT_EQ(outbox.frames_ready(), 0u);
    v1::StreamDeformResponse response;
    ASSERT_TRUE(response.ParseFromString(BytesOf(buffer)));
    ASSERT_EQ(response.frames_size(), 1);
    const v1::Frame& piece = response.frames(0);
    ASSERT_EQ(piece.channels_size(), 2);
    const v1::Channel& channel = piece.channels(0);
    EXPECT_EQ(channel.attribute(), v1::ATTRIBUTE_TANGENTS);
    EXPECT_EQ(channel.encoding(), v1::ENCODING_FLOAT32);
    EXPECT_EQ(piece.vertex_count() * 16, channel.data().size());
    const v1::Channel& of_status = piece.channels(1);
    EXPECT_EQ(of_status.attribute(), v1::ATTRIBUTE_VERTEX_STATUS);
    EXPECT_EQ(of_status.encoding(), v1::ENCODING_UINT8);
    EXPECT_EQ(piece.vertex_count(), of_status.data().size());
    EXPECT_EQ(piece.muscles_size(), piece.last_chunk() ? 3 : 0);
    const std::string bulk =
        piece.positions() + piece.normals() + channel.data() + of_status.data();
    EXPECT_LE(bulk.size(), output.chunk_bytes);
    EXPECT_EQ(piece.vertex_offset() * 12, positions.size());
    EXPECT_EQ(piece.vertex_count() * 12, piece.positions().size());
    EXPECT_EQ(piece.has_bounds(), messages == 0);
    EXPECT_EQ(piece.has_timing(), piece.last_chunk());
    EXPECT_EQ(piece.checksum(), XXH3_64bits(bulk.data(), bulk.size()));
    positions += piece.positions();
    normals += piece.normals();
    tangents += channel.data();
    vertex_status += of_status.data();
    ++messages;
    EXPECT_EQ(piece.last_chunk(), outbox.empty());
    EXPECT_EQ(piece.timing().previous_send_ns(), piece.last_chunk() ? 77u : 0u);
  }
  EXPECT_EQ(completed, 1u);
  EXPECT_EQ(messages, 7u);
  EXPECT_EQ(positions.size(), kVertices * 12u);
  const OutgoingFrame again = MakeFrame(*pool, 5, kVertices, output);
  EXPECT_EQ(std::memcmp(positions.data(), again.positions().data(), positions.size()), 0);
  EXPECT_EQ(std::memcmp(normals.data(), again.normals().data(), normals.size()), 0);
  EXPECT_EQ(std::memcmp(tangents.data(), again.tangents().data(), tangents.size()), 0);
  EXPECT_EQ(std::memcmp(vertex_status.data(), again.vertex_status().data(), vertex_status.size()),
            0);
}

TEST(Outbox, SendsSmallFramesTogether) {
  const auto pool = FramePool::Create(1 << 20);
  Outbox outbox;
  v1::StreamDeformResponse problem;
  problem.add_problems()->set_frame(1);
  outbox.Push(problem);
  for (std::uint64_t n = 2; n < 12; ++n) outbox.Push(MakeFrame(*pool, n, 1000, {}));
  grpc::ByteBuffer buffer;
  EXPECT_EQ(outbox.Next(0, buffer).frames, 5u);  // 12 kB each, up to 64 kB
  v1::StreamDeformResponse response;
  ASSERT_TRUE(response.ParseFromString(BytesOf(buffer)));
  EXPECT_EQ(response.problems_size(), 1);
  ASSERT_EQ(response.frames_size(), 5);
  EXPECT_EQ(response.frames(4).frame(), 6u);
  EXPECT_EQ(outbox.frames_ready(), 5u);
}

TEST(Compressor, EachFrameBuildsOnTheOneBefore) {
  const auto pool = FramePool::Create(1 << 20);
  const Output output{.normals = true, .zstd = true};
  Compressor deltas(*pool, true), alone(*pool, false);
  for (std::uint64_t n = 1; n < 200; ++n) {
    OutgoingFrame frame = MakeFrame(*pool, 3 * n, 100, output);
    deltas.Compress(frame);
    EXPECT_EQ(frame.header.compression(), v1::COMPRESSION_ZSTD);
    EXPECT_EQ(frame.header.base_frame(), n % 64 == 1 ? 0u : 3 * (n - 1));
    EXPECT_LT(frame.sent_bytes(), 600u) << "of 2400";
    OutgoingFrame other = MakeFrame(*pool, n, 100, output);
    alone.Compress(other);
    EXPECT_EQ(other.header.base_frame(), 0u);
  }
}

TEST(Compressor, MemoryIsBounded) {
  const auto pool = FramePool::Create(1 << 20);
  std::mt19937 random(5);
  for (const std::uint32_t vertices : {1u, 100u, 5000u}) {
    const Output output{.normals = true, .tangents = true, .zstd = true, .chunk_bytes = 4096};
    OutgoingFrame frame(*pool, output, vertices);
    for (const auto bytes : {frame.positions(), frame.normals(), frame.tangents()}) {
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    }
    frame.Seal();
    frame.header.set_frame(1);
    Compressor compressor(*pool, true);
    compressor.Compress(frame);
    EXPECT_GE(frame.sent_bytes(), frame.bulk_bytes());
    EXPECT_LE(frame.sent_bytes() + frame.pieces() * kHeadRoom,
              Compressor::Bytes(output, vertices, 2) - Compressor::Bytes(output, vertices, 1));
  }
}

TEST(FramePool, SlicesHoldBuffersUntilReleased) {
  const auto pool = FramePool::Create(1 << 20);
  const std::byte* address = nullptr;
  {
    grpc::Slice slice;
    {
      const FrameBuffer buffer = pool->Acquire(10'000);
      address = buffer.data();
      slice = buffer.MakeSlice(100, 200);
    }
    EXPECT_EQ(pool->idle_bytes(), 0u);
    EXPECT_EQ(reinterpret_cast<const std::byte*>(slice.begin()), address + 100);
    EXPECT_EQ(slice.size(), 200u);
  }
  EXPECT_GE(pool->idle_bytes(), 10'000u);
  EXPECT_EQ(pool->Acquire(9'900).data(), address);
}

TEST(FramePool, SlicesOutlivePool) {
  grpc::Slice slice;
  {
    auto pool = FramePool::Create(1 << 20);
    slice = pool->Acquire(100).MakeSlice(0, 100);
  }
  EXPECT_EQ(slice.size(), 100u);
}

TEST(FramePool, KeepsNoMoreThanBudget) {
  const auto pool = FramePool::Create(8192);
  { const FrameBuffer a = pool->Acquire(4096), b = pool->Acquire(4096), c = pool->Acquire(4096); }
  EXPECT_EQ(pool->idle_bytes(), 8192u);
}

}  // namespace
}  // namespace sinew::server
