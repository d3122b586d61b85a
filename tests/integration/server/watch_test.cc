// WatchStream: several viewers of one published stream.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/integration/server/http_get.h"
#include "tests/integration/server/server_fixture.h"
#include "tests/support/wait_until.h"

namespace sinew::testing {
namespace {

using grpc::StatusCode;

// One WatchStream call through a connection of its own.
class Viewer {
 public:
  Viewer(const std::string& address, const std::string& name) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(64 << 20);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    stub_ = v1::DeformService::NewStub(
        grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
    Watch(name);
  }
  ~Viewer() {
    context_->TryCancel();
    if (call_ != nullptr) call_->Finish();
  }

  // Begins again.
  void Watch(const std::string& name) {
    context_ = std::make_unique<grpc::ClientContext>();
    v1::WatchStreamRequest request;
    request.set_name(name);
    call_ = stub_->WatchStream(context_.get(), request);
  }
  // The first message's `opened`.
  v1::WatchOpened Opened() {
    v1::WatchStreamResponse response;
    EXPECT_TRUE(call_->Read(&response));
    EXPECT_TRUE(response.has_opened());
    for (const v1::Frame& piece : response.frames()) first_.push_back(piece);
    return response.opened();
  }
  // The next frame with the bulk of all its pieces; none at the end.
  std::optional<v1::Frame> Next() {
    std::optional<v1::Frame> frame;
    while (true) {
      std::vector<v1::Frame> pieces = std::exchange(first_, {});
      if (pieces.empty()) {
        v1::WatchStreamResponse response;
        if (!call_->Read(&response)) return std::nullopt;
        pieces.assign(response.frames().begin(), response.frames().end());
      }
      for (v1::Frame& piece : pieces) {
        if (frame) {
          frame->mutable_positions()->append(piece.positions());
          frame->mutable_normals()->append(piece.normals());
        } else {
          frame = piece;
        }
        if (piece.last_chunk()) return frame;
      }
    }
  }
  // Reads until this frame; how many were skipped on the way.
  std::optional<v1::Frame> NextUntil(std::uint64_t number, std::uint64_t* skipped = nullptr) {
    while (std::optional<v1::Frame> frame = Next()) {
      if (skipped != nullptr) *skipped += frame->skipped();
      if (frame->frame() >= number) return frame;
    }
    return std::nullopt;
  }
  void Cancel() { context_->TryCancel(); }
  grpc::Status Finish() {
    while (Next()) {
    }
    return std::exchange(call_, nullptr)->Finish();
  }

 private:
  std::unique_ptr<v1::DeformService::Stub> stub_;
  std::unique_ptr<grpc::ClientContext> context_;
  std::unique_ptr<grpc::ClientReader<v1::WatchStreamResponse>> call_;
  std::vector<v1::Frame> first_;  // that came with the opening
};

// With frames in one piece, in several pieces, and quantised and compressed.
enum class Form { kWhole, kPieces, kCompressed };

class WatchTest : public ServerTest, public ::testing::WithParamInterface<Form> {
 protected:
  void StartWithTube(const TubeShape& shape = {}) {
    shape_ = shape;
    Start();
    rig_ = stubs().UploadTube(shape);
  }
  v1::StreamOpen OpenPublished(const std::string& name, const std::string& recipe = "dqs") {
    v1::StreamOpen open = OpenRecipe(rig_, recipe);
    open.set_publish(name);
    v1::OutputOptions& output = *open.mutable_output();
    output.add_attributes(v1::ATTRIBUTE_POSITIONS);
    output.add_attributes(v1::ATTRIBUTE_NORMALS);
    if (GetParam() == Form::kPieces) output.set_chunk_bytes(4096);
    if (GetParam() == Form::kCompressed) {
      output.add_encodings(v1::ENCODING_Q16);
      output.add_normal_encodings(v1::ENCODING_OCT8);
      output.add_compressions(v1::COMPRESSION_ZSTD);
    }
    return open;
  }
  std::string address() { return server().addresses().front(); }
  std::string Metric(const std::string& name) { return MetricOf(server().http_address(), name); }
  v1::Frame Exchange(Stream& stream, std::uint64_t frame) {
    stream.Send(TubePose(frame, static_cast<float>(frame), shape_));
    auto answers = stream.ReadUntil(frame);
    EXPECT_EQ(answers.size(), 1u);
    return answers.empty() ? v1::Frame() : answers.front().frame;
  }

  TubeShape shape_;
  std::string rig_;
};
INSTANTIATE_TEST_SUITE_P(All, WatchTest,
                         ::testing::Values(Form::kWhole, Form::kPieces, Form::kCompressed),
                         [](const auto& form) {
                           return std::string(form.param == Form::kWhole    ? "whole"
                                              : form.param == Form::kPieces ? "pieces"
                                                                            : "compressed");
                         });

TEST_P(WatchTest, ViewersGetThePublishersBits) {
  config.network.http = "127.0.0.1:0";
  StartWithTube({.rings = 60, .segments = 50});
  Stream stream(stubs(), OpenPublished("hero"));
  const v1::StreamOpened opened = stream.Opened();
  Viewer one(address(), "hero"), two(address(), "hero");
  for (Viewer* viewer : {&one, &two}) {
    const v1::WatchOpened watched = viewer->Opened();
    EXPECT_EQ(watched.session(), opened.session());
    EXPECT_EQ(watched.determinism_digest(), opened.determinism_digest());
    EXPECT_EQ(watched.vertices(), opened.vertices());
    EXPECT_EQ(watched.source().rig(), rig_);
    EXPECT_EQ(watched.source().recipe_text(), "dqs");
  }
  for (std::uint64_t number = 1; number <= 30; ++number) {
    stream.Send(TubePose(number, static_cast<float>(number), shape_));
    v1::StreamDeformResponse response;
    std::string positions, normals;
    for (bool last = false; !last;) {
      ASSERT_TRUE(stream.Read(response));
      for (const v1::Frame& piece : response.frames()) {
        EXPECT_EQ(piece.base_frame(), 0u);
        positions += piece.positions();
        normals += piece.normals();
        last = piece.last_chunk();
      }
    }
    stream.Acknowledge(number);
    for (Viewer* viewer : {&one, &two}) {
      const std::optional<v1::Frame> frame = viewer->Next();
      ASSERT_TRUE(frame);
      EXPECT_EQ(frame->frame(), number);
      EXPECT_EQ(frame->skipped(), 0u);
      EXPECT_EQ(frame->base_frame(), 0u);
      EXPECT_SAME_BYTES(frame->positions(), positions);
      EXPECT_SAME_BYTES(frame->normals(), normals);
    }
  }
  EXPECT_EQ(Metric("sinew_frame_evaluate_seconds_count"), "30");
  EXPECT_EQ(Metric("sinew_frames_total"), "90");
  EXPECT_EQ(Metric("sinew_viewer_frames_skipped_total"), "0");
  EXPECT_EQ(Metric("sinew_limit_used{limit=\"max-published-streams\"}"), "1");
}

TEST_P(WatchTest, LateViewerGetsNewestFrameAtOnce) {
  StartWithTube();
  Stream stream(stubs(), OpenPublished("hero"));
  stream.Opened();
  for (std::uint64_t number = 1; number <= 5; ++number) Exchange(stream, number);
  Viewer viewer(address(), "hero");
  viewer.Opened();
  const std::optional<v1::Frame> frame = viewer.Next();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->frame(), 5u);
  EXPECT_EQ(frame->skipped(), 0u);
}

TEST_P(WatchTest, SlowViewerSkipsAndDelaysNoOne) {
  StartWithTube({.rings = 2400, .segments = 100});
  v1::StreamOpen open = OpenPublished("hero");
  open.mutable_output()->clear_compressions();  // 5.8 or 1.9 MB a frame
  Stream stream(stubs(), open);
  stream.Opened();
  Viewer slow(address(), "hero"), quick(address(), "hero");
  slow.Opened();
  quick.Opened();
  constexpr std::uint64_t kFrames = 40;
  std::uint64_t quick_skipped = 0;
  for (std::uint64_t number = 1; number <= kFrames; ++number) {
    Exchange(stream, number);  // although `slow` reads nothing
    const std::optional<v1::Frame> frame = quick.NextUntil(number, &quick_skipped);
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->frame(), number);
  }
  EXPECT_EQ(quick_skipped, 0u);
  std::uint64_t skipped = 0, seen = 0;
  while (true) {
    const std::optional<v1::Frame> frame = slow.Next();
    ASSERT_TRUE(frame);
    ++seen;
    skipped += frame->skipped();
    if (frame->frame() == kFrames) break;  // the newest frame always comes
  }
  EXPECT_GT(skipped, kFrames / 2);
  EXPECT_EQ(seen + skipped, kFrames);
}

TEST_P(WatchTest, EndOfPublisherIsClearAndItMayComeBack) {
  StartWithTube();
  std::optional<Viewer> viewer;
  for (int round = 0; round < 3; ++round) {
    Stream stream(stubs(), OpenPublished("hero"));
    stream.Opened();
    if (viewer)
      viewer->Watch("hero");
    else
      viewer.emplace(address(), "hero");
    viewer->Opened();
    Exchange(stream, 1);
    if (round == 0) {
      stream.HalfClose();
      EXPECT_CODE(stream.Finish(), StatusCode::OK);
    } else {
      stream.Cancel();
    }
    const std::optional<v1::Frame> frame = viewer->Next();
    ASSERT_TRUE(frame);  // what was published before the end still comes
    EXPECT_EQ(frame->frame(), 1u);
    const grpc::Status status = viewer->Finish();
    EXPECT_CODE(status, StatusCode::UNAVAILABLE);
    EXPECT_EQ(ReasonOf(status), "PUBLISHER_ENDED");
    viewer->Watch("hero");
    EXPECT_CODE(viewer->Finish(), StatusCode::NOT_FOUND);
  }
}

TEST_P(WatchTest, NamesAreChecked) {
  StartWithTube();
  for (const std::string& bad :
       {std::string("a b"), std::string("a/b"), std::string(65, 'a'), std::string("h\xc3\xa9ro")}) {
    Stream stream(stubs(), OpenPublished(bad));
    const grpc::Status status = stream.Finish();
    EXPECT_CODE(status, StatusCode::INVALID_ARGUMENT);
    EXPECT_EQ(FieldOf(status), "open.publish");
  }
  for (const std::string& good : {std::string("A.b_c-9"), std::string(64, 'z')}) {
    Stream stream(stubs(), OpenPublished(good));
    stream.Opened();
  }
  Stream first(stubs(), OpenPublished("hero"));
  first.Opened();
  Stream second(stubs(), OpenPublished("hero"));
  EXPECT_CODE(second.Finish(), StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(Exchange(first, 1).frame(), 1u);  // goes on
  Viewer viewer(address(), "hera");
  EXPECT_CODE(viewer.Finish(), StatusCode::NOT_FOUND);
}

TEST_P(WatchTest, BytesOfViewersAreLimited) {
  config.compute.frame_bytes = 12'000'000;
  StartWithTube({.rings = 600, .segments = 100});  // 1.4 MB a frame
  Stream stream(stubs(), OpenPublished("hero"));
  stream.Opened();
  Viewer viewer(address(), "hero");
  const grpc::Status refused = viewer.Finish();
  EXPECT_CODE(refused, StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_NE(refused.error_message().find("max-frame-bytes"), std::string::npos);
  EXPECT_EQ(Exchange(stream, 1).frame(), 1u);
}

TEST_P(WatchTest, StreamsAndViewersAreLimited) {
  config.streams.published = 2;
  config.streams.viewers = 2;
  StartWithTube();
  Stream one(stubs(), OpenPublished("one")), two(stubs(), OpenPublished("two"));
  one.Opened();
  two.Opened();
  {
    Stream three(stubs(), OpenPublished("three"));
    const grpc::Status status = three.Finish();
    EXPECT_CODE(status, StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_NE(status.error_message().find("max-published-streams"), std::string::npos);
  }
  std::optional<Viewer> first(std::in_place, address(), "one");
  first->Opened();
  Viewer second(address(), "one"), third(address(), "one");
  second.Opened();
  const grpc::Status refused = third.Finish();
  EXPECT_CODE(refused, StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_NE(refused.error_message().find("max-viewers"), std::string::npos);
  std::uint64_t number = 0;
  first.reset();  // gives its place back
  WaitUntil([&] {
    third.Watch("one");
    Exchange(one, ++number);
    return third.Next().has_value();
  });
}

TEST_P(WatchTest, DrainEndsViewers) {
  StartWithTube();
  Stream stream(stubs(), OpenPublished("hero"));
  stream.Opened();
  Viewer viewer(address(), "hero");
  viewer.Opened();
  server().Drain();
  const grpc::Status status = viewer.Finish();
  EXPECT_CODE(status, StatusCode::UNAVAILABLE);
  EXPECT_EQ(ReasonOf(status), "DRAINING");
}

// For ThreadSanitizer: viewers come, read and go at random times while publishers do.
TEST_P(WatchTest, RandomViewersLeaveNothingBehind) {
  config.network.http = "127.0.0.1:0";
  StartWithTube({.rings = 40, .segments = 30});
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> frames = 0;
  std::vector<std::thread> threads;
  for (unsigned v = 0; v < 4; ++v) {
    threads.emplace_back([&, v] {
      std::mt19937 random(v);
      while (!stop) {
        Viewer viewer(address(), v % 2 == 0 ? "even" : "odd");
        for (auto reads = random() % 20; reads > 0 && viewer.Next(); --reads) ++frames;
      }
    });
  }
  std::mt19937 random(7);
  for (int round = 0; round < 12; ++round) {
    Stream even(stubs(), OpenPublished("even")), odd(stubs(), OpenPublished("odd", "lbs"));
    for (std::uint64_t number = 1; number <= 1 + random() % 30; ++number) {
      for (Stream* stream : {&even, &odd}) {
        stream->Send(TubePose(number, static_cast<float>(number), shape_));
        stream->ReadUntil(number);
      }
    }
    even.Cancel();
    odd.Cancel();
    even.Finish();
    odd.Finish();
    WaitUntil([&] { return Metric("sinew_limit_used{limit=\"max-published-streams\"}") == "0"; });
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(frames, 0u);
  stubs().WaitFor(&v1::ServerStats::streams, 0);
  WaitUntil(
      [&] { return RunningCalls(server().http_address(), "DeformService/WatchStream") == 0; });
  // A call gives its memory back a moment after it has ended.
  WaitUntil([&] { return Metric("sinew_limit_used{limit=\"max-frame-bytes\"}") == "0"; });
}

}  // namespace
}  // namespace sinew::testing
