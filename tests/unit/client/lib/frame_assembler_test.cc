#include "client/lib/stream/frame_assembler.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <cstring>
#include <functional>
#include <numeric>

#include "core/base/vertex_deltas.h"
#include "sinew/frame.h"

namespace sinew::client {
namespace {

std::vector<float> Values(std::size_t vertices) {
  std::vector<float> values(vertices * 3);
  std::iota(values.begin(), values.end(), 1.f);
  return values;
}

// Chunk of vertices [offset, offset + count) of a frame whose positions are Values.
v1::Frame Chunk(std::uint64_t frame, std::size_t offset, std::size_t count, bool last) {
  const std::vector<float> values = Values(offset + count);
  v1::Frame chunk;
  chunk.set_frame(frame);
  chunk.set_vertex_offset(offset);
  chunk.set_vertex_count(static_cast<std::uint32_t>(count));
  chunk.set_last_chunk(last);
  chunk.set_encoding(v1::ENCODING_FLOAT32);
  chunk.set_positions(values.data() + offset * 3, count * 12);
  return chunk;
}

FrameChunk Parsed(const v1::Frame& frame, bool sum = true, std::size_t cut = 0) {
  v1::DeformResponse reply;
  *reply.mutable_frame() = frame;
  const auto parse = [&] {
    const std::string bytes = reply.SerializeAsString();
    return std::move(ParseReply<v1::DeformResponse>(
                         std::make_shared<const MessageBytes>(std::vector<grpc::Slice>{
                             grpc::Slice(bytes.data(), cut),
                             grpc::Slice(bytes.data() + cut, bytes.size() - cut)}))
                         ->chunks.at(0));
  };
  if (sum) reply.mutable_frame()->set_checksum(BulkChecksum(parse()));
  return parse();
}

TEST(FrameAssembler, JoinsChunksInOrder) {
  FrameAssembler assembler(true, 1 << 20);
  v1::Frame first = Chunk(3, 0, 10, false);
  first.set_time(1.5);
  for (int i = 0; i < 3; ++i) {
    first.mutable_bounds()->add_minimum(static_cast<float>(-i));
    first.mutable_bounds()->add_maximum(static_cast<float>(i));
  }
  v1::Frame last = Chunk(3, 26, 4, true);
  last.mutable_timing()->set_evaluate_ns(77);
  EXPECT_EQ(*assembler.Add(Parsed(first)), nullptr);
  EXPECT_EQ(*assembler.Add(Parsed(Chunk(3, 10, 16, false), true, 60)), nullptr);
  EXPECT_TRUE(assembler.open());
  const auto data = assembler.Add(Parsed(last));
  ASSERT_TRUE(data.ok() && *data != nullptr);
  EXPECT_FALSE(assembler.open());
  const FrameView view(*data);
  EXPECT_EQ(view.frame(), 3u);
  EXPECT_EQ(view.time(), 1.5);
  EXPECT_EQ(view.vertices(), 30u);
  EXPECT_EQ(view.chunks(), 3u);
  EXPECT_EQ(view.timing().evaluate, absl::Nanoseconds(77));
  EXPECT_EQ(view.bounds()[5], 2.f);
  EXPECT_EQ(view.bytes(Attribute::kPositions).size(), 360u);
  EXPECT_EQ(*view.Positions(), Values(30));
  std::vector<float> out(90);
  ASSERT_TRUE(view.CopyPositions(out).ok());
  EXPECT_EQ(out, Values(30));
  EXPECT_TRUE(absl::IsInvalidArgument(view.CopyPositions(std::span(out).first(89))));
  EXPECT_TRUE(view.bytes(Attribute::kNormals).empty());
}

v1::Frame WithTangents(v1::Frame chunk, float value) {
  v1::Channel& other = *chunk.add_channels();
  other.set_attribute(static_cast<v1::Attribute>(42));  // of a later version
  other.set_data("unknown");
  v1::Channel& channel = *chunk.add_channels();
  channel.set_attribute(v1::ATTRIBUTE_TANGENTS);
  channel.set_encoding(v1::ENCODING_FLOAT32);
  const std::vector<float> values(std::size_t{chunk.vertex_count()} * 4, value);
  channel.set_data(values.data(), values.size() * 4);
  return chunk;
}

TEST(FrameAssembler, JoinsTangentsOfChunks) {
  FrameAssembler assembler(true, 1 << 20);
  ASSERT_TRUE(assembler.Add(Parsed(WithTangents(Chunk(3, 0, 10, false), 0.5f))).ok());
  const auto data = assembler.Add(Parsed(WithTangents(Chunk(3, 10, 4, true), 2)));
  ASSERT_TRUE(data.ok()) << data.status();
  const FrameView view(*data);
  EXPECT_EQ(view.encoding(Attribute::kTangents), Encoding::kFloat32);
  EXPECT_EQ(view.bytes(Attribute::kTangents).size(), 14u * 16);
  std::vector<float> out(14 * 4), want(14 * 4, 2);
  std::fill_n(want.begin(), 40, 0.5f);
  ASSERT_TRUE(view.CopyTangents(out).ok());
  EXPECT_EQ(out, want);
  EXPECT_TRUE(absl::IsInvalidArgument(view.CopyTangents(std::span(out).first(55))));
}

TEST(FrameAssembler, RefusesIncompleteTangents) {
  v1::Frame frame = WithTangents(Chunk(1, 0, 8, true), 1);
  frame.set_checksum(Parsed(frame).header.checksum());
  v1::Frame flipped = frame;
  (*flipped.mutable_channels(1)->mutable_data())[77] ^= 1;
  EXPECT_TRUE(absl::IsDataLoss(FrameAssembler(true, 1 << 20).Add(Parsed(flipped, false)).status()));
  v1::Frame cut = frame;
  cut.mutable_channels(1)->mutable_data()->pop_back();
  EXPECT_TRUE(absl::IsDataLoss(FrameAssembler(true, 1 << 20).Add(Parsed(cut)).status()));
  FrameAssembler assembler(true, 1 << 20);
  ASSERT_TRUE(assembler.Add(Parsed(WithTangents(Chunk(3, 0, 10, false), 1))).ok());
  EXPECT_FALSE(assembler.Add(Parsed(Chunk(3, 10, 4, true))).ok()) << "tangents vanish";
  FrameAssembler other(true, 1 << 20);
  ASSERT_TRUE(other.Add(Parsed(WithTangents(Chunk(3, 0, 10, false), 1))).ok());
  v1::Frame empty = WithTangents(Chunk(3, 10, 4, true), 1);
  empty.mutable_channels(1)->clear_data();
  EXPECT_FALSE(other.Add(Parsed(empty)).ok()) << "a channel without data";
}

v1::Frame WithVertexStatus(v1::Frame chunk, const std::string& vertex_status) {
  v1::Channel& channel = *chunk.add_channels();
  channel.set_attribute(v1::ATTRIBUTE_VERTEX_STATUS);
  channel.set_encoding(v1::ENCODING_UINT8);
  channel.set_data(vertex_status);
  return chunk;
}

TEST(FrameAssembler, JoinsVertexStatusOfChunks) {
  FrameAssembler assembler(true, 1 << 20);
  const v1::Frame first = WithVertexStatus(WithTangents(Chunk(3, 0, 3, false), 1), {0, 1, 2});
  const v1::Frame last = WithVertexStatus(WithTangents(Chunk(3, 3, 2, true), 1), {6, 77});
  ASSERT_TRUE(assembler.Add(Parsed(first)).ok());
  const auto data = assembler.Add(Parsed(last));
  ASSERT_TRUE(data.ok()) << data.status();
  const FrameView view(*data);
  EXPECT_EQ(view.encoding(Attribute::kVertexStatus), Encoding::kUint8);
  EXPECT_EQ(view.bytes(Attribute::kTangents).size(), 5u * 16);
  std::vector<VertexStatus> out(5);
  ASSERT_TRUE(view.CopyVertexStatus(out).ok());
  EXPECT_EQ(out,
            (std::vector<VertexStatus>{VertexStatus::kNotDisplaced, VertexStatus::kFitted,
                                       VertexStatus::kGradientDivergence, VertexStatus::kExcluded,
                                       static_cast<VertexStatus>(77)}));
  EXPECT_TRUE(absl::IsInvalidArgument(view.CopyVertexStatus(std::span(out).first(4))));
}

TEST(FrameAssembler, RefusesIncompleteVertexStatus) {
  v1::Frame frame = WithVertexStatus(Chunk(1, 0, 4, true), {0, 1, 2, 3});
  frame.set_checksum(Parsed(frame).header.checksum());
  v1::Frame flipped = frame;
  (*flipped.mutable_channels(0)->mutable_data())[2] ^= 1;
  EXPECT_TRUE(absl::IsDataLoss(FrameAssembler(true, 1 << 20).Add(Parsed(flipped, false)).status()));
  v1::Frame cut = frame;
  cut.mutable_channels(0)->mutable_data()->pop_back();
  EXPECT_TRUE(absl::IsDataLoss(FrameAssembler(true, 1 << 20).Add(Parsed(cut)).status()));
  FrameAssembler vanish(true, 1 << 20);
  ASSERT_TRUE(vanish.Add(Parsed(WithVertexStatus(Chunk(3, 0, 2, false), {1, 1}))).ok());
  EXPECT_FALSE(vanish.Add(Parsed(Chunk(3, 2, 2, true))).ok());
  FrameAssembler appear(true, 1 << 20);
  ASSERT_TRUE(appear.Add(Parsed(Chunk(3, 0, 2, false))).ok());
  EXPECT_FALSE(appear.Add(Parsed(WithVertexStatus(Chunk(3, 2, 2, true), {1, 1}))).ok());
}

TEST(FrameAssembler, ReturnsMusclesOfLastChunk) {
  FrameAssembler assembler(true, 1 << 20);
  v1::Frame last = Chunk(3, 10, 4, true);
  for (int k = 0; k < 2; ++k) {
    v1::PosedMuscle& muscle = *last.add_muscles();
    for (int i = 0; i < 12; ++i) muscle.add_frame(static_cast<float>(i + k));
    for (int i = 0; i < 3; ++i) muscle.add_radii(static_cast<float>(i - k));
  }
  ASSERT_TRUE(assembler.Add(Parsed(Chunk(3, 0, 10, false))).ok());
  const auto data = assembler.Add(Parsed(last));
  ASSERT_TRUE(data.ok()) << data.status();
  const FrameView view(*data);
  ASSERT_EQ(view.muscles().size(), 2u);
  EXPECT_EQ(view.muscles()[1].frame[11], 12.f);
  EXPECT_EQ(view.muscles()[1].radii[0], -1.f);
  v1::Frame torn = Chunk(1, 0, 4, true);
  torn.add_muscles()->add_radii(1);
  EXPECT_TRUE(absl::IsDataLoss(FrameAssembler(true, 1 << 20).Add(Parsed(torn)).status()));
}

TEST(FrameAssembler, SingleSliceIsContiguous) {
  FrameAssembler assembler(true, 1 << 20);
  const FrameView view(*assembler.Add(Parsed(Chunk(1, 0, 8, true))));
  const auto spans = view.bytes(Attribute::kPositions).spans();
  ASSERT_EQ(spans.size(), 1u);
  ASSERT_EQ(spans[0].size(), 96u);
  EXPECT_EQ(std::memcmp(spans[0].data(), Values(8).data(), 96), 0);
}

TEST(FrameAssembler, DetectsEveryFlippedByte) {
  for (std::size_t byte = 0; byte < 96; ++byte) {
    v1::Frame frame = Chunk(1, 0, 8, true);
    frame.set_checksum(Parsed(frame).header.checksum());
    (*frame.mutable_positions())[byte] ^= 1;
    EXPECT_TRUE(absl::IsDataLoss(FrameAssembler(true, 1 << 20).Add(Parsed(frame, false)).status()))
        << byte;
    EXPECT_TRUE(FrameAssembler(false, 1 << 20).Add(Parsed(frame, false)).ok());
  }
}

TEST(FrameAssembler, AcceptsFramesWithoutChecksum) {
  EXPECT_TRUE(FrameAssembler(true, 1 << 20).Add(Parsed(Chunk(1, 0, 8, true), false)).ok());
}

TEST(FrameAssembler, RefusesVerticesWithoutPositions) {
  v1::Frame frame = Chunk(1, 0, 8, true);
  frame.set_vertex_count(4'000'000'000u);
  frame.clear_positions();
  EXPECT_TRUE(absl::IsDataLoss(FrameAssembler(true, 1 << 20).Add(Parsed(frame)).status()));
  frame.set_encoding(static_cast<v1::Encoding>(99));
  EXPECT_TRUE(absl::IsDataLoss(FrameAssembler(true, 1 << 20).Add(Parsed(frame)).status()));
  frame.set_encoding(v1::ENCODING_FLOAT32);
  frame.set_compression(static_cast<v1::Compression>(3));
  EXPECT_TRUE(absl::IsUnimplemented(FrameAssembler(true, 1 << 20).Add(Parsed(frame)).status()));
}

TEST(FrameAssembler, RefusesIncompleteFrames) {
  const std::pair<const char*, std::function<void(v1::Frame&)>> cases[] = {
      {"gap", [](v1::Frame& f) { f.set_vertex_offset(11); }},
      {"overlap", [](v1::Frame& f) { f.set_vertex_offset(9); }},
      {"another frame", [](v1::Frame& f) { f.set_frame(4); }},
      {"another encoding",
       [](v1::Frame& f) {
         f.set_encoding(v1::ENCODING_Q16);
         f.mutable_positions()->resize(6 * 4);
       }},
      {"normals appear", [](v1::Frame& f) { f.set_normals(f.positions()); }},
      {"positions vanish", [](v1::Frame& f) { f.clear_positions(); }},
      {"count", [](v1::Frame& f) { f.set_vertex_count(5); }},
  };
  for (const auto& [name, spoil] : cases) {
    FrameAssembler assembler(true, 1 << 20);
    ASSERT_TRUE(assembler.Add(Parsed(Chunk(3, 0, 10, false))).ok());
    v1::Frame next = Chunk(3, 10, 4, true);
    spoil(next);
    EXPECT_FALSE(assembler.Add(Parsed(next)).ok()) << name;
  }
  EXPECT_FALSE(FrameAssembler(true, 1 << 20).Add(Parsed(Chunk(3, 5, 4, true))).ok())
      << "starts late";
}

v1::Frame Quantised(std::uint64_t first, std::uint32_t count, bool last, float step = 0.5f) {
  v1::Frame frame = Chunk(3, first, count, last);
  frame.set_encoding(v1::ENCODING_Q16);
  std::string words(count * 6, '\0');
  for (std::size_t i = 0; i < words.size(); i += 2) words[i] = static_cast<char>(first * 3 + i / 2);
  frame.set_positions(words);
  for (const float origin : {1.0f, 2.0f, 3.0f}) frame.mutable_quantisation()->add_origin(origin);
  for (int c = 0; c < 3; ++c) frame.mutable_quantisation()->add_step(step);
  return frame;
}

TEST(FrameView, DecodesQuantisedPiecesOfAnySize) {
  FrameAssembler assembler(true, 1 << 20);
  ASSERT_TRUE(assembler.Add(Parsed(Quantised(0, 5, false))).ok());
  const FrameView view(*assembler.Add(Parsed(Quantised(5, 20, true))));
  EXPECT_EQ(view.encoding(), Encoding::kQ16);
  EXPECT_EQ(view.quantisation().step[1], 0.5f);
  const auto positions = view.Positions();
  ASSERT_TRUE(positions.ok()) << positions.status();
  for (std::size_t i = 0; i < 75; ++i) {
    EXPECT_EQ((*positions)[i], static_cast<float>(i % 3 + 1) + 0.5f * static_cast<float>(i)) << i;
  }
  std::vector<float> small(72);
  EXPECT_TRUE(absl::IsInvalidArgument(view.CopyPositions(small)));
}

TEST(FrameAssembler, RefusesQuantisationThatIsIncompleteOrChanges) {
  v1::Frame bare = Quantised(0, 5, true);
  bare.clear_quantisation();
  EXPECT_TRUE(absl::IsDataLoss(FrameAssembler(true, 1 << 20).Add(Parsed(bare)).status()));
  bare = Quantised(0, 5, true);
  bare.mutable_quantisation()->add_step(1);
  EXPECT_TRUE(absl::IsDataLoss(FrameAssembler(true, 1 << 20).Add(Parsed(bare)).status()));
  FrameAssembler assembler(true, 1 << 20);
  ASSERT_TRUE(assembler.Add(Parsed(Quantised(0, 5, false))).ok());
  EXPECT_FALSE(assembler.Add(Parsed(Quantised(5, 5, true, 0.25f))).ok());
}

template <class Number>
std::string Zstd(const std::string& bytes, const std::string& base, std::size_t each) {
  const auto numbers_of = [](const std::string& of) {
    std::vector<Number> numbers(of.size() / sizeof(Number));
    std::memcpy(numbers.data(), of.data(), of.size());
    return numbers;
  };
  std::string planes(bytes.size(), '\0'), out(ZSTD_compressBound(bytes.size()), '\0');
  ToPlanes<Number>(numbers_of(bytes), numbers_of(base), each,
                   reinterpret_cast<std::byte*>(planes.data()));
  out.resize(ZSTD_compress(out.data(), out.size(), planes.data(), planes.size(), 1));
  return out;
}

// Quantised in the box of the frame before it, with the checksum of what it holds.
v1::Frame Compressed(std::uint64_t frame, std::uint64_t first, std::uint32_t count, bool last,
                     std::uint64_t base_frame = 0) {
  v1::Frame chunk = Quantised(first, count, last);
  chunk.set_frame(frame);
  std::string words = chunk.positions(), base = base_frame == 0 ? std::string() : words;
  for (char& byte : words) byte = static_cast<char>(byte + static_cast<char>(frame));
  for (char& byte : base) byte = static_cast<char>(byte + static_cast<char>(base_frame));
  chunk.set_positions(words);
  chunk.set_checksum(Parsed(chunk).header.checksum());
  chunk.set_compression(v1::COMPRESSION_ZSTD);
  chunk.set_base_frame(base_frame);
  chunk.set_positions(Zstd<std::uint16_t>(words, base, 3));
  return chunk;
}

absl::StatusOr<std::shared_ptr<FrameData>> AddTo(FrameAssembler& assembler, const v1::Frame& frame,
                                                 std::size_t cut = 0) {
  return assembler.Add(Parsed(frame, false, cut));
}

TEST(FrameAssembler, DecompressesPartsThatBuildOnTheFrameBefore) {
  FrameAssembler assembler(true, 1 << 20);
  ASSERT_TRUE(AddTo(assembler, Compressed(3, 0, 10, false)).ok());
  ASSERT_TRUE(AddTo(assembler, Compressed(3, 10, 15, true), 40).ok());
  // Parts of other sizes, and a cut within the compressed bytes.
  ASSERT_TRUE(AddTo(assembler, Compressed(9, 0, 3, false, 3)).ok());
  const auto data = AddTo(assembler, Compressed(9, 3, 22, true, 3), 60);
  ASSERT_TRUE(data.ok()) << data.status();
  const FrameView view(*data);
  EXPECT_EQ(view.compression(), Compression::kZstd);
  EXPECT_EQ(view.bytes(Attribute::kPositions).size(), 25u * 6);
  EXPECT_LT(view.received_bytes(), 25u * 6);
  const auto positions = view.Positions();
  ASSERT_TRUE(positions.ok()) << positions.status();
  for (std::size_t i = 0; i < 75; ++i) {
    const auto q = static_cast<float>((i + 9) % 256 + 9 * 256);
    EXPECT_EQ((*positions)[i], static_cast<float>(i % 3 + 1) + 0.5f * q) << i;
  }
}

TEST(FrameAssembler, RefusesFramesWhoseBaseIsNotTheOneBefore) {
  const auto refuses = [](const v1::Frame& base, const v1::Frame& frame) {
    FrameAssembler assembler(false, 1 << 20);
    EXPECT_TRUE(AddTo(assembler, base).ok());
    return absl::IsDataLoss(AddTo(assembler, frame).status());
  };
  FrameAssembler empty(false, 1 << 20);
  EXPECT_TRUE(absl::IsDataLoss(AddTo(empty, Compressed(3, 0, 10, true, 2)).status()));
  const v1::Frame base = Compressed(3, 0, 10, true), next = Compressed(4, 0, 10, true, 3);
  EXPECT_FALSE(refuses(base, next));
  EXPECT_TRUE(refuses(base, Compressed(4, 0, 10, true, 2))) << "another";
  EXPECT_TRUE(refuses(base, Compressed(4, 0, 10, true, 4))) << "itself";
  EXPECT_TRUE(refuses(Compressed(3, 0, 9, true), next)) << "smaller";
  EXPECT_TRUE(refuses(Compressed(3, 0, 10, false), next)) << "incomplete";
  EXPECT_TRUE(refuses(Quantised(0, 10, true), next)) << "not compressed";
  v1::Frame floats = Chunk(3, 0, 10, true);
  floats.set_positions(Zstd<std::uint32_t>(floats.positions(), "", 3));
  floats.set_compression(v1::COMPRESSION_ZSTD);
  EXPECT_TRUE(refuses(floats, next)) << "another encoding";
  v1::Frame with_normals = next;
  with_normals.set_normal_encoding(v1::ENCODING_OCT8);
  with_normals.set_normals(Zstd<std::uint8_t>(std::string(20, 'n'), "", 2));
  EXPECT_TRUE(refuses(base, with_normals)) << "without normals";
  FrameAssembler assembler(false, 1 << 20);
  ASSERT_TRUE(AddTo(assembler, base).ok());
  ASSERT_TRUE(AddTo(assembler, Compressed(4, 0, 5, false, 3)).ok());
  EXPECT_FALSE(AddTo(assembler, Compressed(4, 5, 5, true)).ok()) << "only one part builds on it";
}

TEST(FrameAssembler, RefusesDamagedCompression) {
  const v1::Frame good = Compressed(3, 0, 2000, true);
  const auto status_of = [](const v1::Frame& frame, std::size_t max_bytes = 1 << 20) {
    FrameAssembler assembler(true, max_bytes);
    return AddTo(assembler, frame).status();
  };
  EXPECT_TRUE(status_of(good, 12000).ok());
  EXPECT_TRUE(absl::IsDataLoss(status_of(good, 11999))) << "more than the caller accepts";
  const std::pair<const char*, std::function<void(v1::Frame&)>> cases[] = {
      {"cut", [](v1::Frame& f) { f.mutable_positions()->pop_back(); }},
      {"not zstd", [](v1::Frame& f) { f.set_positions("zstd"); }},
      {"empty", [](v1::Frame& f) { f.clear_positions(); }},
      {"fewer vertices", [](v1::Frame& f) { f.set_vertex_count(1999); }},
      {"more vertices", [](v1::Frame& f) { f.set_vertex_count(2001); }},
      {"no vertices", [](v1::Frame& f) { f.set_vertex_count(0); }},
      {"very many vertices", [](v1::Frame& f) { f.set_vertex_count(4'000'000'000u); }},
      {"bomb",
       [](v1::Frame& f) {
         f.set_positions(Zstd<std::uint16_t>(std::string(100 << 20, '\0'), "", 3));
       }},
      {"without quantisation", [](v1::Frame& f) { f.clear_quantisation(); }},
      {"another checksum", [](v1::Frame& f) { f.set_checksum(f.checksum() + 1); }},
  };
  for (const auto& [name, spoil] : cases) {
    v1::Frame frame = good;
    spoil(frame);
    EXPECT_TRUE(absl::IsDataLoss(status_of(frame))) << name << ": " << status_of(frame);
  }
  for (std::size_t byte = 0; byte < good.positions().size(); ++byte) {
    v1::Frame frame = good;
    (*frame.mutable_positions())[byte] ^= 16;
    const absl::Status status = status_of(frame);  // some bits of a zstd header mean nothing
    EXPECT_TRUE(absl::IsDataLoss(status) || status.ok()) << byte << ": " << status;
  }
}

TEST(FrameView, KeepsBytesOfUnknownEncoding) {
  v1::Frame frame = Chunk(1, 0, 4, true);
  frame.set_encoding(static_cast<v1::Encoding>(99));
  const FrameView view(*FrameAssembler(true, 1 << 20).Add(Parsed(frame)));
  std::vector<float> out(12);
  EXPECT_TRUE(absl::IsUnimplemented(view.CopyPositions(out)));
  EXPECT_EQ(view.bytes(Attribute::kPositions).size(), 48u);
}

TEST(FrameView, DefaultIsEmpty) {
  const FrameView view;
  EXPECT_TRUE(view.empty());
  EXPECT_EQ(view.vertices(), 0u);
  EXPECT_TRUE(view.bytes(Attribute::kPositions).empty());
  EXPECT_TRUE(view.CopyPositions({}).ok());
  EXPECT_TRUE(view.bytes(Attribute::kTangents).empty());
  EXPECT_EQ(view.encoding(Attribute::kTangents), Encoding::kUnspecified);
  EXPECT_TRUE(view.bytes(Attribute::kVertexStatus).empty());
  EXPECT_EQ(view.encoding(Attribute::kVertexStatus), Encoding::kUnspecified);
  EXPECT_TRUE(view.muscles().empty());
}

}  // namespace
}  // namespace sinew::client
