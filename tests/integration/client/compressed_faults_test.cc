// Compressed frames, each of which builds on the one before, over connections that break.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "tests/fault/tcp_proxy.h"
#include "tests/integration/client/options.h"
#include "tests/integration/client/test_character.h"
#include "tests/integration/server/sinewd_process.h"
#include "tests/support/random.h"

namespace sinew::client {
namespace {

constexpr std::uint64_t kPoses = 97, kFrames = 100'000;

using Values = std::vector<float>;

Values ValuesOf(const FrameView& view) {
  Values values(view.vertices() * 6);
  EXPECT_TRUE(view.CopyPositions(std::span(values).first(values.size() / 2)).ok());
  EXPECT_TRUE(view.CopyNormals(std::span(values).last(values.size() / 2)).ok());
  return values;
}

// Streams of both modes, with windows, parts and breaks by a seeded dice: frames may be skipped and
// streams opened again, but what arrives is what an undisturbed call without compression gives.
TEST(CompressedFaults, NeverShowWrongFrame) {
  const sinew::testing::SinewdProcess server;
  sinew::testing::TcpProxy proxy(server.address());
  const auto character = Character::Create(*Client::Connect(QuickOptions(proxy.address())),
                                           *EncodeRig(MakeTube(12, 8)), "dqs");
  ASSERT_TRUE(character.ok()) << character.status();
  OutputOptions output;
  output.attributes = {Attribute::kPositions, Attribute::kNormals};
  output.MakeCompact();
  std::vector<Values> expected;
  for (std::uint64_t f = 0; f < kPoses; ++f) {
    const auto view = character->Deform({}, {.joint_transforms = TubePose(f)}, output);
    ASSERT_TRUE(view.ok()) << view.status();
    expected.push_back(ValuesOf(*view));
  }
  output.MakeCompressed();

  sinew::testing::Random random(7);
  const auto dice = [&](double sides) { return static_cast<std::uint64_t>(random.Next() * sides); };
  std::uint64_t frames = 0, skipped = 0, resumed = 0, bytes = 0;
  while (frames < kFrames) {
    const bool latest = dice(3) == 0;
    output.chunk_bytes = dice(4) == 0 ? 4096 : 0;
    auto stream = character->OpenStream({.output = output,
                                         .mode = latest ? OrderMode::kLatest : OrderMode::kOrdered,
                                         .window = static_cast<std::uint32_t>(1 + dice(16))});
    ASSERT_TRUE(stream.ok()) << stream.status();
    const std::uint64_t poses = 1 + dice(8000);
    std::uint64_t sent = 0, taken = 0, disturb = 1 + dice(3000);
    const auto send = [&] {
      for (auto burst = 1 + dice(40); burst > 0 && sent < poses && stream->room() > 0; --burst) {
        ASSERT_TRUE(stream->Send({.joint_transforms = TubePose(++sent % kPoses)}).ok());
      }
      if (sent == poses) stream->Finish();
    };
    while (taken < poses) {
      send();
      const auto item = stream->Next(absl::Seconds(60));
      ASSERT_TRUE(item.ok()) << item.status();
      ASSERT_TRUE(item->has_value() && (*item)->problem.ok());
      const FrameView& view = (*item)->view;
      ASSERT_EQ(ValuesOf(view), expected[(*item)->frame % kPoses]) << (*item)->frame;
      ASSERT_GT((*item)->frame, taken);
      ASSERT_EQ(view.skipped(), (*item)->frame - taken - 1);
      ASSERT_TRUE(latest || (*item)->frame == taken + 1);
      taken = (*item)->frame;
      skipped += view.skipped();
      bytes += view.received_bytes();
      ++frames;
      if (--disturb == 0) {
        disturb = 1 + dice(3000);
        dice(2) == 0 ? proxy.Reset() : proxy.ResetAfter(dice(5000));
      }
    }
    resumed += stream->info().resumed;
  }
  EXPECT_GT(skipped, 1000u);
  EXPECT_GT(resumed, 20u);
  EXPECT_LT(bytes, frames * expected[0].size()) << "6 of the 8 bytes a vertex without compression";
}

struct Changed {
  std::uint64_t plain = 0, compressed = 0, resumed = 0;
};

// 150 poses through a stream that may change, every frame right and as the frames before it allow.
Changed StreamThrough(const Character& character, const std::vector<Values>& expected,
                      OrderMode mode, std::uint64_t depth) {
  OutputOptions output;
  output.MakeCompressedIfSlow();
  auto stream = character.OpenStream({.output = output, .mode = mode});
  EXPECT_TRUE(stream.ok()) << stream.status();
  Changed changed;
  std::uint64_t sent = 0, taken = 0;
  while (taken < 150) {
    for (; sent < 150 && sent < taken + depth; ++sent) {
      EXPECT_TRUE(stream->Send({.joint_transforms = TubePose((sent + 1) % kPoses)}).ok());
    }
    if (sent == 150) stream->Finish();
    const auto item = stream->Next(absl::Seconds(60));
    if (!item.ok() || !item->has_value()) {
      ADD_FAILURE() << item.status();
      return changed;
    }
    const FrameView& view = (*item)->view;
    EXPECT_EQ(view.skipped(), view.frame() - taken - 1);
    taken = view.frame();
    Values values(view.vertices() * 3);
    EXPECT_TRUE(view.CopyPositions(values).ok());
    EXPECT_EQ(values, expected[taken % kPoses]) << taken;
    const bool compressed = view.compression() == Compression::kZstd;
    EXPECT_TRUE(compressed || changed.compressed == 0) << "it changes once";
    ++(compressed ? changed.compressed : changed.plain);
  }
  EXPECT_EQ(*stream->Next(absl::Seconds(60)), std::nullopt);
  changed.resumed = stream->info().resumed;
  return changed;
}

// Frames of 72 kB at 10 MB/s are compressed from the 17th on, but for those in flight; frames of 60
// kB never are.
TEST(CompressedIfSlow, StreamChangesOnSlowLineOnce) {
  const sinew::testing::SinewdProcess server;
  sinew::testing::TcpProxy proxy(server.address());
  const auto client = Client::Connect(QuickOptions(proxy.address()));
  for (const std::uint32_t rings : {60, 50}) {
    const auto character = Character::Create(*client, *EncodeRig(MakeTube(rings, 100)), "dqs");
    ASSERT_TRUE(character.ok()) << character.status();
    std::vector<Values> expected;
    for (std::uint64_t f = 0; f < kPoses; ++f) {
      const auto view = character->Deform({}, {.joint_transforms = TubePose(f)}, {});
      ASSERT_TRUE(view.ok()) << view.status();
      ASSERT_TRUE(view->CopyPositions(expected.emplace_back(view->vertices() * 3)).ok());
    }
    proxy.Throttle(10'000'000);
    for (const std::uint64_t depth : {1, 20}) {
      const Changed ordered = StreamThrough(*character, expected, OrderMode::kOrdered, depth);
      EXPECT_EQ(ordered.plain + ordered.compressed, 150u);
      EXPECT_EQ(ordered.resumed, rings == 60 ? 1u : 0u);
      EXPECT_GE(ordered.plain, rings == 60 ? 16u : 150u);
      EXPECT_LE(ordered.plain, rings == 60 ? 50 + depth : 150u)
          << "14 pass while the proxy has rested";
    }
    const Changed latest = StreamThrough(*character, expected, OrderMode::kLatest, 2);
    EXPECT_EQ(latest.compressed > 0, rings == 60);
    proxy.Throttle(0);
  }
}

}  // namespace
}  // namespace sinew::client
