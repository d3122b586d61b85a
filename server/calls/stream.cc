#include "server/calls/stream.h"

#include <absl/strings/str_cat.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <utility>

#include "core/base/status.h"
#include "server/base/status.h"
#include "server/calls/open_session.h"
#include "server/convert/unknown_fields.h"

namespace sinew::server {
namespace {

constexpr std::uint32_t kOrderedWindow = 8, kLatestWindow = 2;
// In the transport, ready, ready, being filled.
constexpr std::uint64_t kBuffers = 4;

}  // namespace

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* StreamCall::Start(
    Runtime& runtime, const RpcMethod& method, grpc::CallbackServerContext* context) {
  auto stream = std::make_shared<StreamCall>(runtime, method, context);
  stream->self_ = stream;
  const std::lock_guard lock(stream->mutex_);
  absl::Status status = stream->call_.Begin();
  if (status.ok()) {
    absl::StatusOr<ConcurrencyLimit::Permit> pass = runtime.streams.Enter();
    status = pass.status();
    if (pass.ok()) stream->permit_ = *std::move(pass);
  }
  if (!status.ok()) {
    stream->End(status);
    return stream.get();
  }
  runtime.AddStream(stream);
  stream->StartRead(&stream->read_);
  return stream.get();
}

void StreamCall::OnReadDone(bool ok) {
  v1::StreamDeformRequest request;
  absl::Status status;
  if (ok &&
      !grpc::SerializationTraits<v1::StreamDeformRequest>::Deserialize(&read_, &request).ok()) {
    status = InvalidField("request", "the bytes are not a StreamDeformRequest");
  }
  std::unique_lock lock(mutex_);
  if (ended_) return;
  if (!ok) {
    reads_done_ = true;
    if (!opened_) EndWith(InvalidField("open", "the stream ended without one"));
  } else {
    if (status.ok()) status = CatchExceptions([&] { return Receive(request); });
    if (!status.ok()) {
      EndWith(status);
      return;
    }
    StartRead(&read_);
  }
  Pump(lock);
}

absl::Status StreamCall::Receive(v1::StreamDeformRequest& request) {
  if (HasUnknownFields(request)) return RefuseUnknownFields(request, "");
  if (!opened_) {
    if (!request.has_open()) return InvalidField("open", "not set, need it in the first message");
    opened_ = true;
    SINEW_RETURN_IF_ERROR(Open(request.open()));
  } else if (request.has_open()) {
    return InvalidField("open", "set again, need it in the first message only");
  }
  if (request.has_received()) {
    SINEW_RETURN_IF_ERROR(window_->Acknowledge(request.received()));
    if (!window_->full()) full_since_.reset();
  }
  for (v1::Pose& pose : *request.mutable_poses()) SINEW_RETURN_IF_ERROR(Take(pose));
  return absl::OkStatus();
}

absl::Status StreamCall::Open(const v1::StreamOpen& open) {
  SINEW_RETURN_IF_ERROR(RefuseUnknownFields(open, "open"));
  if (!v1::OrderMode_IsValid(open.mode())) {
    return InvalidField("open.mode", absl::StrCat("got ", static_cast<int>(open.mode()),
                                                  ", need ORDERED or LATEST"));
  }
  const StreamConfig& limits = runtime_.config.streams;
  if (open.window() > limits.window) {
    return LimitPassed("open.window", open.window(), limits.window, "frames", "max-window");
  }
  const bool latest = open.mode() == v1::ORDER_MODE_LATEST;
  open_ = open;
  if (open_.window() == 0) {
    open_.set_window(static_cast<std::uint32_t>(
        std::min<std::uint64_t>(latest ? kLatestWindow : kOrderedWindow, limits.window)));
  }
  window_.emplace(latest, open_.window(), limits.backlog);
  FindTarget(runtime_, open_.target(), call_.stop_token(),
             [self = shared_from_this()](absl::StatusOr<std::shared_ptr<Session>> session) {
               self->runtime_.arenas.Post([self, session = std::move(session)]() mutable {
                 const std::lock_guard lock(self->mutex_);
                 self->Found(std::move(session));
               });
             });
  return absl::OkStatus();
}

absl::Status StreamCall::Take(v1::Pose& pose) {
  if (draining_) {  // the notice said so
    left_out_ = true;
    return absl::OkStatus();
  }
  SINEW_RETURN_IF_ERROR(window_->Take(pose.frame(), waiting_.size()));
  if (window_->replaces() && !waiting_.empty()) {
    ++skipped_;
    if (waiting_.front().pose.reset()) pose.set_reset(true);
    runtime_.metrics.skipped.Increment();
    waiting_.clear();
    unvetted_bytes_ = 0;
  }
  waiting_.push_back({std::move(pose), Clock::now(), absl::OkStatus()});
  if (evaluator_ != nullptr) {
    Vet(waiting_.back());
    return absl::OkStatus();
  }
  unvetted_bytes_ += waiting_.back().pose.ByteSizeLong();
  const std::uint64_t limit = runtime_.config.streams.waiting_pose_bytes;
  if (unvetted_bytes_ <= limit) return absl::OkStatus();
  return LimitPassed("poses", unvetted_bytes_, limit, "bytes before the stream is open",
                     "max-waiting-pose-bytes");
}

// A pose that cannot be evaluated waits for its answer without its bytes.
void StreamCall::Vet(Waiting& waiting) const {
  waiting.refused = evaluator_->Check(waiting.pose);
  if (waiting.refused.ok()) return;
  v1::Pose bare;
  bare.set_frame(waiting.pose.frame());
  bare.set_reset(waiting.pose.reset());
  waiting.pose = std::move(bare);
}

void StreamCall::Found(absl::StatusOr<std::shared_ptr<Session>> session) {
  if (ended_) return;
  const absl::Status status = session.ok()
                                  ? CatchExceptions([&] { return Prepare(*std::move(session)); })
                                  : WithPath(session.status(), "open");
  if (!status.ok()) EndWith(status);
}

absl::Status StreamCall::Prepare(std::shared_ptr<Session> session) {
  session_ = session;
  absl::StatusOr<std::unique_ptr<Evaluator>> evaluator =
      Evaluator::Create(runtime_.evaluators, std::move(session), open_.layout(), open_.output());
  if (!evaluator.ok()) return WithPath(evaluator.status(), "open");
  evaluator_ = *std::move(evaluator);
  for (Waiting& waiting : waiting_) Vet(waiting);
  SINEW_ASSIGN_OR_RETURN(reservation_,
                         runtime_.frames->Reserve(kBuffers * evaluator_->frame_bytes()));
  // The bind may be over at any moment, also here and now: what follows it runs in the arena,
  // without this lock.
  bind_wait_ = session_->bound->WhenDone([self = shared_from_this()] {
    self->runtime_.arenas.Post([self] {
      std::unique_lock lock(self->mutex_);
      self->Ready();
      self->Pump(lock);
    });
  });
  return absl::OkStatus();
}

void StreamCall::Ready() {
  if (ended_) return;
  if (const absl::Status status = evaluator_->Ready(); !status.ok()) {
    EndWith(status);
    return;
  }
  v1::StreamDeformResponse response;
  v1::StreamOpened& opened = *response.mutable_opened();
  opened.set_session(session_->name);
  opened.set_determinism_digest(session_->determinism_digest);
  opened.set_vertices(evaluator_->vertices());
  opened.set_window(open_.window());
  opened.set_chunk_bytes(evaluator_->output().chunk_bytes);
  opened.set_backlog(static_cast<std::uint32_t>(runtime_.config.streams.backlog));
  opened.set_stateful(evaluator_->stateful());
  outbox_.Push(response);
  ready_ = true;
}

// Starts what may start: a write, and one evaluation after the other.
void StreamCall::Pump(std::unique_lock<std::mutex>& lock) {
  while (true) {
    WriteNext();
    EndIfDone();
    if (ended_ || !ready_ || evaluating_ || waiting_.empty()) return;
    // A client that sends no more cannot acknowledge either: what it has sent is bounded, so answer
    // it all.
    if (!reads_done_ && !window_->MayStart(outbox_.frames_ready())) return;
    if (reads_done_ && outbox_.frames_ready() >= 2) return;
    evaluating_ = true;
    if (!evaluator_->Cheap()) {
      StartInArena();
      return;
    }
    const Waiting waiting = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    Evaluate(waiting, false);
    lock.lock();
  }
}

void StreamCall::StartInArena() {
  auto waiting = std::make_shared<Waiting>(std::move(waiting_.front()));
  waiting_.pop_front();
  runtime_.arenas.Post([self = shared_from_this(), waiting] {
    self->Evaluate(*waiting, true);
    std::unique_lock lock(self->mutex_);
    self->Pump(lock);
  });
}

void StreamCall::Evaluate(const Waiting& waiting, bool parallel) {
  const auto started = Clock::now();
  auto result = CatchExceptions([&]() -> absl::StatusOr<std::optional<OutgoingFrame>> {
    if (!waiting.refused.ok()) {
      if (waiting.pose.reset()) evaluator_->Reset();
      return waiting.refused;
    }
    return evaluator_->Evaluate(waiting.pose, parallel, !waiting.pose.no_output());
  });
  const std::lock_guard lock(mutex_);
  evaluating_ = false;
  if (!ended_) Answered(waiting, std::move(result), started);
}

void StreamCall::Answered(const Waiting& waiting,
                          absl::StatusOr<std::optional<OutgoingFrame>> result,
                          Clock::time_point started) {
  if (result.ok() && !result->has_value()) return;  // asked for no output
  window_->Start(waiting.pose.frame());
  if (window_->full() && !full_since_) full_since_ = Clock::now();
  if (!result.ok()) {
    v1::StreamDeformResponse response;
    v1::FrameProblem& problem = *response.add_problems();
    problem.set_frame(waiting.pose.frame());
    *problem.mutable_problem() = ToProblem(result.status());
    outbox_.Push(response);
    runtime_.metrics.frame_problems.Increment();
    return;
  }
  OutgoingFrame& frame = **result;
  frame.skipped = std::exchange(skipped_, 0);
  const auto queued = started - waiting.arrived;
  frame.timing.queue_ns = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(queued).count());
  runtime_.metrics.queue_seconds.Observe(static_cast<double>(frame.timing.queue_ns) * 1e-9);
  outbox_.Push(std::move(frame));
}

void StreamCall::OnWriteDone(bool ok) {
  std::unique_lock lock(mutex_);
  if (Wrote(ok)) Pump(lock);
}

void StreamCall::EndIfDone() {
  if (ended_ || !waiting_.empty() || evaluating_ || writing_ || !outbox_.empty()) return;
  // A client that asked for no more has got it all, also while draining.
  if (reads_done_ && ready_ && !left_out_) EndWith(absl::OkStatus());
  if (draining_) EndWith(Draining());
}

void StreamCall::EndWith(const absl::Status& status) {
  waiting_.clear();
  if (evaluator_ != nullptr) evaluator_->Stop();  // what runs is for nobody
  End(status);
}

void StreamCall::OnCancel() {
  call_.Cancel();
  std::uint64_t waiting = 0;
  {
    const std::lock_guard lock(mutex_);
    EndWith(absl::CancelledError("stream: cancelled"));
    waiting = bind_wait_;
  }
  if (waiting != 0) session_->bound->Forget(waiting);
}

void StreamCall::OnDone() {
  if (bind_wait_ != 0) session_->bound->Forget(bind_wait_);
  self_.reset();
}

void StreamCall::Tick(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const std::chrono::duration<double> limit(runtime_.config.streams.stall_seconds);
  CutIfBlocked(now, limit);
  if (ended_) return;
  if (!opened_ && now - created_ > limit) {
    EndWith(Stalled("it has not been opened", limit.count()));
  } else if (full_since_ && !reads_done_ && now - *full_since_ > limit) {
    EndWith(Stalled(absl::StrCat(window_->unacknowledged(), " frames have not been acknowledged"),
                    limit.count()));
  } else if (session_ != nullptr && session_->ended.load()) {
    EndWith(absl::NotFoundError("session: it was deleted"));
  } else if (session_ != nullptr) {  // an open stream is a use
    runtime_.sessions.Use(session_->name, std::chrono::system_clock::now()).IgnoreError();
  }
}

void StreamCall::Drain() {
  std::unique_lock lock(mutex_);
  if (ended_ || draining_) return;
  draining_ = true;
  if (!opened_ || !ready_) {
    EndWith(Draining());
    return;
  }
  v1::StreamDeformResponse response;
  v1::Notice& notice = *response.mutable_notice();
  notice.set_kind(v1::Notice::KIND_DRAINING);
  notice.mutable_grace()->set_seconds(
      static_cast<std::int64_t>(runtime_.config.network.drain_seconds));
  notice.set_last_frame(window_->last_taken());
  outbox_.Push(response);
  Pump(lock);
}

}  // namespace sinew::server
