#include "server/calls/stream.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <utility>

#include "core/base/counted_text.h"
#include "core/base/status.h"
#include "server/base/status.h"
#include "server/convert/unknown_fields.h"

namespace sinew::server {
namespace {

constexpr std::uint32_t kOrderedWindow = 8, kLatestWindow = 2;
// Frames in the transport, ready (two) and being evaluated.
constexpr std::uint64_t kBuffers = 4;
// A viewer holds a frame in the transport and one of which parts are left.
constexpr std::uint64_t kViewerBuffers = 2;

}  // namespace

absl::Status StreamCall::OnAdmitted() {
  SINEW_RETURN_IF_ERROR(TakePlace());
  ReadInTurn();
  return absl::OkStatus();
}

void StreamCall::OnReadDone(bool ok) {
  v1::StreamDeformRequest request;
  std::uint64_t size = 0;
  absl::Status status;
  if (ok) {
    const absl::StatusOr<std::uint64_t> checked =
        CheckFields(*request.GetDescriptor(), read_, runtime_.config.network);
    status = checked.status();
    if (status.ok()) {
      size = *checked;
      status = Parse(read_, request);
    }
    read_.Clear();
  }
  const absl::MutexLock lock(&mutex_);
  EndRead();
  if (ended_) return;
  if (!ok) {
    reads_done_ = true;
    if (!opened_) End(InvalidField("open", "not set, need it in the first message"));
  } else {
    if (status.ok()) {
      status = CatchExceptions([&]() -> absl::Status {
        mutex_.AssertHeld();
        Quota::Permit held;
        if (evaluator_ == nullptr) {
          SINEW_ASSIGN_OR_RETURN(held, runtime_.held_bytes.Take(call_.caller().client(), size));
        }
        return Receive(request, held);
      });
    }
    if (!status.ok()) {
      End(status);
      return;
    }
  }
  Pump();
  // Last, because it takes some 10 us: a cheap pose has been evaluated and its frame written by
  // now.
  if (ok && !ended_) StartRead(&read_);
}

absl::Status StreamCall::Receive(v1::StreamDeformRequest& request, const Quota::Permit& held) {
  if (HasUnknownFields(request)) return RefuseUnknownFields(request, "");
  if (!opened_) {
    if (!request.has_open()) return InvalidField("open", "not set, need it in the first message");
    opened_ = true;
    opening_ = held;
    SINEW_RETURN_IF_ERROR(Open(request.open()));
  } else if (request.has_open()) {
    return InvalidField("open", "set again, need it in the first message only");
  }
  if (request.has_received()) {
    SINEW_RETURN_IF_ERROR(window_->Acknowledge(request.received()));
    if (!window_->full()) full_since_.reset();
  }
  for (v1::Pose& pose : *request.mutable_poses()) SINEW_RETURN_IF_ERROR(Accept(pose, held));
  return absl::OkStatus();
}

absl::Status StreamCall::Open(const v1::StreamOpen& open) {
  SINEW_RETURN_IF_ERROR(RefuseUnknownFields(open, "open"));
  if (!v1::OrderMode_IsValid(open.mode())) {
    return InvalidField("open.mode", absl::StrCat("got ", static_cast<int>(open.mode()),
                                                  ", need ORDERED or LATEST"));
  }
  const StreamConfig& limits = runtime_.config.streams;
  SINEW_RETURN_IF_ERROR(
      CheckLimit("open.window", open.window(), limits.window, "frames", "max-window"));
  const bool latest = open.mode() == v1::ORDER_MODE_LATEST;
  layout_ = open.layout();
  output_ = open.output();
  const std::uint64_t usual = latest ? kLatestWindow : kOrderedWindow;
  window_.emplace(latest, open.window() != 0 ? open.window() : std::min(usual, limits.window),
                  limits.backlog);
  if (!open.publish().empty()) {
    auto broadcast = runtime_.broadcasts.Publish(call_.caller(), open.publish());
    if (!broadcast.ok()) return WithPath(broadcast.status(), "open");
    broadcast_ = *std::move(broadcast);
  }
  FindSession(open.target(), "open.target", &StreamCall::Prepare);
  return absl::OkStatus();
}

absl::Status StreamCall::Accept(v1::Pose& pose, const Quota::Permit& held) {
  if (draining_) {  // after the last_frame of the notice
    left_out_ = true;
    return absl::OkStatus();
  }
  SINEW_RETURN_IF_ERROR(window_->Take(pose.frame(), waiting_.size()));
  std::uint32_t replaced = 0;
  if (window_->replaces() && !waiting_.empty()) {
    replaced = waiting_.front().replaced + 1;
    runtime_.metrics.skipped.Increment();
    waiting_.clear();
    unchecked_bytes_ = 0;
  }
  last_pose_ = runtime_.clock.Now();
  waiting_.push_back({std::move(pose), last_pose_, replaced, absl::OkStatus(), held});
  if (evaluator_ != nullptr) {
    CheckPose(waiting_.back());
    return absl::OkStatus();
  }
  unchecked_bytes_ += waiting_.back().pose.ByteSizeLong();
  return CheckLimit("poses", unchecked_bytes_, runtime_.config.streams.waiting_pose_bytes,
                    "bytes before the stream is open", "max-waiting-pose-bytes");
}

// A pose that cannot be evaluated waits for its answer without its bytes.
void StreamCall::CheckPose(Waiting& waiting) const {
  waiting.refused = evaluator_->Check(waiting.pose);
  if (waiting.refused.ok()) return;
  v1::Pose bare;
  bare.set_frame(waiting.pose.frame());
  waiting.pose = std::move(bare);
}

absl::Status StreamCall::Prepare(std::shared_ptr<Session> session) {
  sessions_.push_back(session);
  const bool published = broadcast_ != nullptr;
  absl::StatusOr<std::unique_ptr<Evaluator>> evaluator =
      Evaluator::Create(runtime_.evaluators, session, layout_, output_, call_.stop_token(),
                        published ? Evaluator::Frames::kPublished : Evaluator::Frames::kInOrder);
  if (!evaluator.ok()) return WithPath(evaluator.status(), "open");
  const std::string client = call_.caller().client();
  SINEW_ASSIGN_OR_RETURN(
      frames_held_,
      runtime_.frame_bytes.Take(client, (*evaluator)->frame_bytes(kBuffers + (published ? 1 : 0))));
  const std::uint64_t pose_bytes = sizeof(Waiting) + (*evaluator)->pose_bytes();
  SINEW_ASSIGN_OR_RETURN(poses_held_,
                         runtime_.held_bytes.Take(client, window_->most_waiting() * pose_bytes));
  evaluator_ = *std::move(evaluator);
  for (Waiting& waiting : waiting_) {
    waiting.held.reset();
    CheckPose(waiting);
  }
  layout_.Clear();
  output_.Clear();
  opening_.reset();
  WhenBound(session, &StreamCall::OnBound);
  return absl::OkStatus();
}

void StreamCall::OnBound() {
  if (const absl::Status status = evaluator_->Ready(); !status.ok()) {
    End(status);
    return;
  }
  v1::StreamDeformResponse response;
  v1::StreamOpened& opened = *response.mutable_opened();
  opened.set_session(sessions_[0]->name);
  opened.set_determinism_digest(sessions_[0]->determinism_digest);
  opened.set_vertices(evaluator_->vertices());
  opened.set_window(static_cast<std::uint32_t>(window_->size()));
  opened.set_chunk_bytes(evaluator_->output().chunk_bytes);
  opened.set_backlog(static_cast<std::uint32_t>(runtime_.config.streams.backlog));
  outbox_.Push(response);
  if (broadcast_ != nullptr) {
    v1::WatchOpened watched;
    watched.set_session(opened.session());
    *watched.mutable_source() = sessions_[0]->source;
    watched.set_determinism_digest(opened.determinism_digest());
    watched.set_vertices(opened.vertices());
    broadcast_->Open(std::move(watched), evaluator_->frame_bytes(kViewerBuffers));
  }
  ready_ = true;
  last_pose_ = runtime_.clock.Now();
  Pump();
}

void StreamCall::Pump() {
  while (true) {
    WriteNext();
    EndIfDone();
    if (ended_ || !ready_ || evaluating_ || waiting_.empty()) return;
    // A client that sends no more cannot acknowledge either. What it has sent is bounded, so all of
    // it is answered.
    if (!reads_done_ && !window_->MayStart(outbox_.frames_ready())) return;
    if (reads_done_ && outbox_.frames_ready() >= 2) return;
    evaluating_ = true;
    if (!evaluator_->Cheap()) {
      // Taken out of the queue here: in LATEST mode a newer pose replaces only what has not
      // started.
      PostFrame(evaluator_->lane(),
                [waiting = std::make_shared<Waiting>(TakeFirst())](StreamCall& self) {
                  self.mutex_.AssertHeld();
                  self.EvaluatePose(*waiting, true);
                  self.Pump();
                });
      return;
    }
    EvaluatePose(TakeFirst(), false);
  }
}

StreamCall::Waiting StreamCall::TakeFirst() {
  Waiting first = std::move(waiting_.front());
  waiting_.pop_front();
  return first;
}

void StreamCall::EvaluatePose(const Waiting& waiting, bool parallel) {
  const Clock::Time started = runtime_.clock.Now();
  auto result = Unlocked([&]() -> absl::StatusOr<OutgoingFrame> {
    SINEW_RETURN_IF_ERROR(waiting.refused);
    return evaluator_->EvaluateFrame(waiting.pose, parallel);
  });
  evaluating_ = false;
  if (!ended_) Answer(waiting, std::move(result), started);
}

void StreamCall::Answer(const Waiting& waiting, absl::StatusOr<OutgoingFrame> result,
                        Clock::Time started) {
  window_->Start(waiting.pose.frame());
  skipped_ += waiting.replaced;
  if (window_->full() && !full_since_) full_since_ = runtime_.clock.Now();
  if (!result.ok()) {
    v1::StreamDeformResponse response;
    AddProblem(waiting.pose.frame(), result.status(), response);
    outbox_.Push(response);
    return;
  }
  OutgoingFrame& frame = *result;
  frame.header.set_skipped(std::exchange(skipped_, 0));
  frame.timing.set_queue_ns(Observe(started - waiting.arrived, runtime_.metrics.queue_seconds));
  if (broadcast_ != nullptr) WakeViewers(broadcast_->Show(frame));
  outbox_.Push(std::move(frame));
}

void StreamCall::WakeViewers(bool needed) {
  if (!needed) return;
  runtime_.control.PostStep(call_.caller().client(),
                            [stream = broadcast_](const absl::Status&) { stream->WakeViewers(); });
}

void StreamCall::EndIfDone() {
  if (ended_ || !waiting_.empty() || evaluating_ || writing_ || !outbox_.empty()) return;
  // A client that has half-closed and has all its answers is done, also while draining.
  if (reads_done_ && ready_ && !left_out_) End(absl::OkStatus());
  if (draining_) End(Draining());
}

void StreamCall::OnEnd() {
  waiting_.clear();
  opening_.reset();
  if (broadcast_ != nullptr) WakeViewers(runtime_.broadcasts.Remove(*broadcast_));
  FrameCall::OnEnd();
}

void StreamCall::OnTick(Clock::Time now) {
  if (full_since_ && !reads_done_ && now - *full_since_ > stall_limit()) {
    End(Stalled(absl::StrCat(CountedText(window_->unacknowledged(), "frame has", "frames have"),
                             " not been acknowledged"),
                stall_limit()));
  } else if (ready_ && waiting_.empty() && !evaluating_ && now - last_pose_ > idle_limit()) {
    End(WithReason(
        absl::UnavailableError(absl::StrFormat(
            "stream: no pose for %g s (max-idle-seconds); open it again", idle_limit().count())),
        v1::REASON_IDLE));
  } else {
    FrameCall::OnTick(now);
  }
}

void StreamCall::OnDrain() {
  if (draining_) return;
  draining_ = true;
  if (!opened_ || !ready_) {
    End(Draining());
    return;
  }
  v1::StreamDeformResponse response;
  v1::Notice& notice = *response.mutable_notice();
  notice.set_kind(v1::Notice::KIND_DRAINING);
  notice.set_last_frame(window_->last_taken());
  outbox_.Push(response);
  Pump();
}

}  // namespace sinew::server
