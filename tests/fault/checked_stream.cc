#include "tests/fault/checked_stream.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace sinew::testing {
namespace {

const absl::Duration kLongest = absl::Minutes(2);  // without a frame

}  // namespace

client::StreamOptions CheckedOptions(std::uint32_t window, bool compressed) {
  client::StreamOptions options{.output = CheckedOutput(), .window = window};
  if (compressed) options.output.MakeCompressed();
  return options;
}

absl::StatusOr<bool> CheckedStream::Take() {
  absl::StatusOr<std::optional<client::StreamItem>> next = stream_.Next(kLongest);
  if (!next.ok()) {
    if (absl::IsDeadlineExceeded(next.status())) {
      suite_.Violated(absl::StrCat("frame ", taken_ + 1, " of ", sent_, " does not arrive"));
    }
    return next.status();
  }
  if (!next->has_value()) return false;
  const client::StreamItem& item = **next;
  if (item.frame != taken_ + 1 || item.frame > sent_) {
    suite_.Violated(absl::StrCat("got frame ", item.frame, ", need frame ", taken_ + 1, " of ",
                                 sent_, " accepted poses"));
  } else if (!item.problem.ok()) {
    suite_.Violated(absl::StrCat("frame ", item.frame, ": ", item.problem.ToString()));
  } else if (SumOf(item.view) != motion_.Sum(item.frame)) {
    suite_.Violated(absl::StrCat("frame ", item.frame, " (", motion_.recipe,
                                 ") differs from the undisturbed one"));
  }
  taken_ = item.frame;
  ++suite_.frames;
  return true;
}

void CheckedStream::Fill() {
  while (stream_.room() > 0) {
    const auto sent = stream_.Send({.joint_transforms = motion_.Pose(sent_ + 1)});
    if (!sent.ok()) return;  // the stream has ended: Take returns why
    ++sent_;
  }
}

bool CheckedStream::AwaitEnd() {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (std::chrono::steady_clock::now() < deadline) {
    const auto sent = stream_.Send({.joint_transforms = motion_.Pose(sent_ + 1)});
    if (sent.ok()) {
      ++sent_;
      continue;
    }
    // Without a reason it is the client's own: its queue is full.
    const bool queue_is_full =
        absl::IsResourceExhausted(sent.status()) && client::Details(sent.status()).reason.empty();
    if (!queue_is_full) return true;
    Pass(std::chrono::milliseconds(5));
  }
  return false;
}

absl::Status CheckedStream::Advance(std::uint64_t frames) {
  while (taken_ < frames && !suite_.failed()) {
    Fill();
    const absl::StatusOr<bool> took = Take();
    if (!took.ok()) return took.status();
    if (!*took) {
      suite_.Violated("the stream ended without an error before Finish");
      return absl::InternalError("ended");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckedStream::TakeRest() {
  while (!suite_.failed()) {
    const absl::StatusOr<bool> took = Take();
    if (!took.ok()) return took.status();
    if (!*took) break;
  }
  return absl::OkStatus();
}

absl::Status CheckedStream::Finish() {
  stream_.Finish();
  const absl::Status status = TakeRest();
  if (status.ok() && taken_ != sent_ && !suite_.failed()) {
    suite_.Violated(absl::StrCat("the stream ended with OK after ", taken_, " frames of ", sent_,
                                 " accepted poses"));
  }
  return status;
}

StreamPump::StreamPump(Suite& suite, const Motion& motion, std::string rig_bytes,
                       const client::ClientOptions& options, Random dice, absl::StatusCode end)
    : suite_(suite),
      motion_(motion),
      rig_bytes_(std::move(rig_bytes)),
      client_(Connected(suite, options)),
      dice_(dice),
      end_(end),
      thread_(suite.Thread([this] { Run(); })) {}

void StreamPump::Stop() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

bool StreamPump::Await(std::uint64_t frames) const {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (frames_ < frames && std::chrono::steady_clock::now() < deadline && !suite_.failed()) {
    Pass(std::chrono::microseconds(200));
  }
  return frames_ >= frames;
}

void StreamPump::Run() {
  while (!stop_ && !suite_.failed()) OneStream();
}

void StreamPump::OneStream() {
  const auto ends = {absl::StatusCode::kUnavailable, end_};
  // A short lease may end before the stream is open, if the server is paused.
  const auto character =
      client::Character::Create(client_, rig_bytes_, motion_.recipe, {.ttl = absl::Minutes(1)});
  if (!character.ok()) {
    suite_.CheckEnd(character.status(), "Character::Create", ends);
    return;
  }
  auto opened = character->OpenStream(CheckedOptions(32, dice_.Below(2) == 1));
  if (!opened.ok()) {
    suite_.CheckEnd(opened.status(), "OpenStream", ends);
    return;
  }
  CheckedStream stream(suite_, motion_, *std::move(opened));
  const std::uint64_t frames = 500 + dice_.Below(20'000);
  absl::Status status;
  while (status.ok() && stream.taken() < frames && !stop_ && !suite_.failed()) {
    const std::uint64_t before = stream.taken();
    status = stream.Advance(std::min(frames, before + 16));
    frames_ += stream.taken() - before;
  }
  if (status.ok()) status = stream.Finish();
  const std::uint32_t resumed = stream.stream().info().resumed;
  resumed_ += resumed;
  suite_.Checked("streams opened again behind their last frame", resumed);
  suite_.CheckEnd(status, "streams", ends);
}

void CheckDeform(Suite& suite, const client::Client& client, const client::Target& target,
                 const Motion& motion, std::uint64_t frame) {
  CheckFrame(suite,
             client.Deform(target, {}, {.joint_transforms = motion.Pose(frame)}, CheckedOutput()),
             motion, frame);
}

void CheckFrame(Suite& suite, const absl::StatusOr<client::FrameView>& view, const Motion& motion,
                std::uint64_t frame) {
  if (!view.ok()) {
    suite.Violated(absl::StrCat("Deform: ", view.status().ToString()));
    return;
  }
  if (SumOf(*view) != motion.Sum(frame)) {
    suite.Violated(absl::StrCat("Deform of pose ", frame, " (", motion.recipe,
                                ") differs from the undisturbed frame"));
  }
  ++suite.frames;
}

}  // namespace sinew::testing
