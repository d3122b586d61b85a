#include "client/lib/stream/stream_core.h"

#include <absl/strings/str_cat.h>
#include <absl/time/clock.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "client/lib/codec/message_codec.h"
#include "client/lib/codec/status_codec.h"
#include "client/lib/rpc/recovery.h"
#include "client/lib/rpc/retry.h"
#include "client/lib/stream/frame_parser.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

constexpr char kMethod[] = "/sinew.v1.DeformService/StreamDeform";
constexpr std::size_t kBatchBytes = 512 << 10;  // of poses per message, unless one pose is larger

// How long after Send or Next the thread leaves the call to them: while a pose has no answer, and
// while nothing is to be expected.
constexpr std::chrono::milliseconds kRestInFlight{5}, kRestIdle{1000};
constexpr std::chrono::milliseconds kLookIdle{250};
// For a look without waiting: gRPC would take "now" for the next full millisecond, and what is
// earlier than this for the end of time.
constexpr std::chrono::system_clock::time_point kPast{};

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// `allowed` with NONE moved to its end, if NONE comes first and others follow; else empty.
google::protobuf::RepeatedField<int> ForSlowLines(google::protobuf::RepeatedField<int> allowed) {
  if (allowed.size() < 2 || allowed[0] != v1::COMPRESSION_NONE) return {};
  std::rotate(allowed.begin(), allowed.begin() + 1, allowed.end());
  return allowed;
}

grpc::Slice ToSlice(const v1::StreamDeformRequest& request) {
  return grpc::Slice(request.SerializeAsString());
}

}  // namespace

// Tags of the completion queue.
enum StreamCore::Event : std::intptr_t { kStarted = 1, kRead, kWritten, kFinished };
void* StreamCore::Tag(Event event) {
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(event));
}

// One StreamDeform call. The core's mutex guards the states and the start of writes; the rest
// belongs to the thread that serves the call.
struct StreamCore::Call {
  Call(bool verify, std::size_t most_bytes) : assembler(verify, most_bytes) {}

  std::unique_ptr<grpc::ClientContext> context;
  grpc::CompletionQueue queue;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream;
  std::optional<grpc::Slice> opener;  // not sent yet
  bool writing = false, half_closed = false, finished = false;
  bool reads = false;  // the next read is to be started
  FrameAssembler assembler;
  grpc::ByteBuffer buffer;
  grpc::Status status;   // from the server
  absl::Status failure;  // the error for which the client cancelled

  ~Call() {
    queue.Shutdown();
    void* tag;
    bool ok;
    while (queue.Next(&tag, &ok)) {
    }
  }
};

StreamCore::StreamCore(std::shared_ptr<Connection> connection, v1::StreamOpen open,
                       const StreamOptions& options, RestoreTarget restore)
    : connection_(std::move(connection)),
      traceparent_(connection_->Traceparent()),
      verify_(options.output.checksums),
      restore_(std::move(restore)),
      open_(std::move(open)),
      for_slow_lines_(ForSlowLines(open_.output().compressions())),
      poses_(options.mode, options.window, options.max_queued) {}

StreamCore::~StreamCore() {
  Cancel();
  if (thread_.joinable()) thread_.join();
}

absl::Status StreamCore::Start(const CallOptions& call) {
  thread_ = std::thread([this] { Run(); });
  std::stop_callback cancel(call.stop, [this] { Cancel(); });
  Lock lock(mutex_);
  const bool decided = changed_.wait_until(lock, absl::ToChronoTime(connection_->Deadline(call)),
                                           [this] { return opened_ || ended_.has_value(); });
  if (!decided) {
    return absl::DeadlineExceededError(
        absl::StrCat("stream: not accepted by the server within the deadline",
                     failure_.ok() ? "" : "; the last failure: ", failure_.message()));
  }
  if (ended_) return ended_->ok() ? absl::InternalError("stream: ended at once") : *ended_;
  return absl::OkStatus();
}

absl::StatusOr<std::uint64_t> StreamCore::Send(const Pose& pose) {
  Lock lock(mutex_);
  if (ended_ && !ended_->ok()) return *ended_;
  if (finishing_) return absl::FailedPreconditionError("stream: Send after Finish");
  SINEW_ASSIGN_OR_RETURN(const std::uint64_t frame, poses_.Check(pose.frame));
  v1::StreamDeformRequest request;
  *request.add_poses() = FromPose(pose);
  request.mutable_poses(0)->set_frame(frame);
  poses_.Push({.frame = frame, .wire = ToSlice(request)});
  StartWrites(lock);
  LeaveCall(lock);
  return frame;
}

std::size_t StreamCore::room() const {
  Lock lock(mutex_);
  return finishing_ || ended_ ? 0 : poses_.room();
}

absl::StatusOr<std::optional<StreamItem>> StreamCore::Next(absl::Duration timeout) {
  const auto decided = [this] { return cancelled_ || !ready_.empty() || ended_.has_value(); };
  const bool endless = timeout == absl::InfiniteDuration();
  auto deadline =
      timeout > absl::ZeroDuration() ? absl::ToChronoTime(absl::Now() + timeout) : kPast;
  if (endless) deadline = std::chrono::system_clock::time_point::max();
  Lock lock(mutex_);
  in_next_ = true;
  bool late = false;
  while (!decided() && !late) {
    if (TakesTurns(lock) && !serving_) {
      late = !Serve(lock, *call_, deadline);
    } else if (endless) {
      changed_.wait(lock);
    } else {
      late = changed_.wait_until(lock, deadline) == std::cv_status::timeout;
    }
  }
  in_next_ = false;
  if (cancelled_) return absl::CancelledError("cancelled by the caller");
  if (!decided()) {
    LeaveCall(lock);
    return absl::DeadlineExceededError("stream: no frame within the timeout");
  }
  if (ready_.empty()) {
    if (ended_->ok()) return std::nullopt;
    return *ended_;
  }
  StreamItem item = std::move(ready_.front());
  ready_.pop_front();
  poses_.Consume(item.frame);
  StartWrites(lock);
  LeaveCall(lock);
  return item;
}

void StreamCore::Finish() {
  Lock lock(mutex_);
  finishing_ = true;
  StartWrites(lock);
  rest_.notify_one();
}

void StreamCore::Cancel() {
  stop_.request_stop();
  const Lock lock(mutex_);
  cancelled_ = true;
  if (call_ != nullptr) call_->context->TryCancel();
  changed_.notify_all();
  rest_.notify_one();
}

StreamInfo StreamCore::info() const {
  Lock lock(mutex_);
  return info_;
}

void StreamCore::Run() {
  const auto restore =
      restore_ ? Restore([this](const auto&) { return RestoreLost(); }) : Restore();
  Recovery opening(*connection_, Repeat::kAttempts, absl::InfiniteFuture(), stop_.get_token(),
                   restore);
  Recovery resuming(*connection_, Repeat::kPersist, absl::InfiniteFuture(), stop_.get_token(),
                    restore);
  while (true) {
    absl::Status status = Settle(RunCall());
    Lock lock(mutex_);
    if (progressed_) {
      resuming.Progress();
    } else if (accepted_) {
      resuming.Reopened(absl::Now() - *accepted_, owing_);
    }
    failure_ = Explained(status);
    line_ = {};
    slow_ = std::exchange(changing_, false);
    if (slow_ && absl::IsUnavailable(status)) continue;
    Recovery& recovery = opened_ ? resuming : opening;
    lock.unlock();
    if (status.ok() || !recovery.TryAgain(status)) {
      lock.lock();
      ended_ = std::move(status);
      changed_.notify_all();
      return;
    }
  }
}

// Decides what the end of a call means for the stream. Unanswered poses wait again.
absl::Status StreamCore::Settle(absl::Status status) {
  const Lock lock(mutex_);
  const bool drained = std::exchange(draining_, false);
  if (cancelled_) return absl::CancelledError("cancelled by the caller");
  const bool complete = finishing_ && poses_.answered_all();
  poses_.Requeue();
  // Every frame has arrived, so the status of the call does not matter.
  if (complete && (status.ok() || IsBroken(status, false))) return absl::OkStatus();
  // The server has not noticed yet that the connection is gone, and its call holds the name.
  if (opened_ && absl::IsAlreadyExists(status)) return absl::UnavailableError(status.message());
  if (status.ok() || drained) {
    return absl::UnavailableError(
        absl::StrCat("stream: ended early by the server: ", status.message()));
  }
  return status;
}

absl::Status StreamCore::RestoreLost() {
  SINEW_ASSIGN_OR_RETURN(const Target target, restore_(stop_.get_token()));
  SINEW_ASSIGN_OR_RETURN(*open_.mutable_target(), FromTarget(target));
  return absl::OkStatus();
}

// Opens the stream once and serves it to its end.
absl::Status StreamCore::RunCall() {
  Call call(verify_, connection_->options().max_receive_bytes);
  call.context = connection_->NewContext(absl::InfiniteFuture(), traceparent_,
                                         connection_->routes().Of(open_.target()));
  v1::StreamDeformRequest opener;
  *opener.mutable_open() = open_;
  {
    const Lock lock(mutex_);
    if (slow_) *opener.mutable_open()->mutable_output()->mutable_compressions() = for_slow_lines_;
  }
  call.opener = ToSlice(opener);
  call.stream = connection_->raw().PrepareCall(call.context.get(), kMethod, &call.queue);
  {
    const Lock lock(mutex_);
    progressed_ = false;
    accepted_.reset();
    if (cancelled_) return absl::CancelledError("cancelled by the caller");
    call.writing = true;  // until the call has started
    call_ = &call;
  }
  call.stream->StartCall(Tag(kStarted));
  Lock lock(mutex_);
  while (!call.finished || call.writing) {
    if (MayRest(lock)) {
      Rest(lock);
    } else if (serving_) {
      WaitForTurn(lock);
    } else if (TakesTurns(lock) && poses_.unanswered() == 0 && !call.writing) {
      Idle(lock, call);
    } else {
      Serve(lock, call, std::chrono::system_clock::time_point::max());
    }
  }
  return call.failure.ok() ? FromGrpc(call.status) : call.failure;
}

// At most one pose has no answer, so that receiving a frame has nothing to overlap with: the caller
// of Next may serve the call itself, which saves waking it.
bool StreamCore::TakesTurns(const Lock& /*lock*/) const {
  return call_ != nullptr && opened_ && !finishing_ && !draining_ && !cancelled_ &&
         poses_.unanswered() <= 1;
}

bool StreamCore::MayRest(const Lock& lock) const {
  if (!TakesTurns(lock)) return false;
  const auto limit = poses_.unanswered() > 0 ? kRestInFlight : kRestIdle;
  return in_next_ || (!call_->writing && std::chrono::steady_clock::now() - last_use_ < limit);
}

// Looks again from time to time rather than being woken by each Send and Next.
void StreamCore::Rest(Lock& lock) {
  if (in_next_) {
    changed_.notify_all();  // Next may have begun to wait while it was not its turn
    WaitForTurn(lock);
  } else {
    rest_.wait_for(lock, kRestInFlight);
  }
}

// Looks for what the server sends unasked, such as a notice. A thread that waits for it would
// receive the frames of other streams of this process and pass them on, at 60 us each.
void StreamCore::Idle(Lock& lock, Call& call) {
  resting_ = true;
  rest_.wait_for(lock, kLookIdle);
  resting_ = false;
  while (TakesTurns(lock) && !serving_ && !in_next_ && Serve(lock, call, kPast)) {
  }
}

void StreamCore::WaitForTurn(Lock& lock) {
  resting_ = true;
  rest_.wait(lock);
  resting_ = false;
}

// Send and Next call this before they return, after which only the stream's thread serves the call.
// Handles events that are already queued, such as the completion of the write just started.
void StreamCore::LeaveCall(Lock& lock) {
  last_use_ = std::chrono::steady_clock::now();
  while (TakesTurns(lock) && !serving_ && !in_next_ && call_->writing) {
    if (!Serve(lock, *call_, kPast)) break;
  }
  if (resting_ || !MayRest(lock)) rest_.notify_one();
}

// Handles the next event of a call, if there is one before the deadline.
bool StreamCore::Serve(Lock& lock, Call& call, std::chrono::system_clock::time_point deadline) {
  serving_ = true;
  lock.unlock();
  // Not when the read before ends, because it takes some 10 us: a caller has its frame by now, and
  // has sent the next pose.
  if (std::exchange(call.reads, false)) call.stream->Read(&call.buffer, Tag(kRead));
  void* tag = nullptr;
  bool ok = false;
  const auto next = call.queue.AsyncNext(&tag, &ok, deadline);
  if (next == grpc::CompletionQueue::GOT_EVENT) {
    Handle(call, static_cast<Event>(reinterpret_cast<std::intptr_t>(tag)), ok);
  }
  lock.lock();
  serving_ = false;
  changed_.notify_all();
  if (!MayRest(lock)) rest_.notify_one();
  return next == grpc::CompletionQueue::GOT_EVENT;
}

void StreamCore::Handle(Call& call, Event event, bool ok) {
  switch (event) {
    case kStarted:
      OnWritten(call, ok);
      break;
    case kWritten:
      OnWritten(call, ok);
      return;
    case kRead:
      // The caller of Next may have too little memory for a frame.
      try {
        ok = ok && OnRead(call);
      } catch (const std::bad_alloc&) {
        ok = EndWith(call, absl::ResourceExhaustedError("frame: out of memory"));
      }
      break;
    case kFinished: {
      const Lock lock(mutex_);
      call.finished = true;
      return;
    }
  }
  call.reads = ok;
  if (ok) return;
  const Lock lock(mutex_);
  call_ = nullptr;  // no write starts from here on
  call.stream->Finish(&call.status, Tag(kFinished));
}

void StreamCore::OnWritten(Call& call, bool ok) {
  const Lock lock(mutex_);
  call.writing = false;
  if (!ok) call.half_closed = true;
  StartWrites(lock);
}

bool StreamCore::EndWith(Call& call, absl::Status failure) {
  call.failure = std::move(failure);
  call.context->TryCancel();
  return false;
}

// False: stop reading.
bool StreamCore::OnRead(Call& call) {
  const absl::Status status = TakeReply(call.buffer, call.assembler);
  if (!status.ok()) return EndWith(call, status);
  const Lock lock(mutex_);
  StartWrites(lock);
  return true;
}

void StreamCore::StartWrites(const Lock& lock) {
  if (call_ == nullptr || call_->writing || call_->half_closed) return;
  const std::vector<grpc::Slice> message = NextMessage(lock);
  if (!message.empty()) {
    call_->writing = true;
    call_->stream->Write(grpc::ByteBuffer(message.data(), message.size()), Tag(kWritten));
  } else if (NothingMoreToSend(lock)) {
    call_->writing = call_->half_closed = true;
    call_->stream->WritesDone(Tag(kWritten));
  }
}

// Concatenated messages are one merged message, so each pose is serialised only once, however often
// it is sent.
std::vector<grpc::Slice> StreamCore::NextMessage(const Lock& /*lock*/) {
  if (call_->opener) return {*std::exchange(call_->opener, std::nullopt)};
  std::vector<grpc::Slice> message;
  std::size_t bytes = 0;
  while (!draining_ && bytes < kBatchBytes) {
    QueuedPose* pose = poses_.TakeNext();
    if (pose == nullptr) break;
    pose->sent = Now();
    message.push_back(pose->wire);
    bytes += pose->wire.size();
  }
  if (const auto number = poses_.TakeAcknowledgement(draining_ || !message.empty())) {
    v1::StreamDeformRequest acknowledgement;
    acknowledgement.set_received(*number);
    message.push_back(ToSlice(acknowledgement));
  }
  return message;
}

bool StreamCore::NothingMoreToSend(const Lock& /*lock*/) const {
  if (draining_) return poses_.first_unanswered().value_or(last_answered_ + 1) > last_answered_;
  return finishing_ && poses_.answered_all();
}

absl::Status StreamCore::TakeReply(const grpc::ByteBuffer& buffer, FrameAssembler& assembler) {
  SINEW_ASSIGN_OR_RETURN(std::shared_ptr<const MessageBytes> bytes, MessageBytes::From(buffer));
  SINEW_ASSIGN_OR_RETURN(auto reply, ParseReply<v1::StreamDeformResponse>(std::move(bytes)));
  if (reply.rest.has_opened()) SINEW_RETURN_IF_ERROR(TakeOpened(reply.rest.opened()));
  SINEW_RETURN_IF_ERROR(TakeItems(std::move(reply.chunks), reply.rest.problems(), assembler));
  const Lock lock(mutex_);
  if (reply.rest.notice().kind() == v1::Notice::KIND_DRAINING) {
    draining_ = true;
    last_answered_ = reply.rest.notice().last_frame();
  }
  // A caller that does not call Next must not delay the shutdown of the server. Another server can
  // compute the rest.
  if (draining_ && ready_.size() >= info_.window) call_->context->TryCancel();
  return absl::OkStatus();
}

absl::Status StreamCore::TakeOpened(const v1::StreamOpened& opened) {
  const Lock lock(mutex_);
  if (opened_ && (opened.determinism_digest() != info_.determinism_digest ||
                  opened.vertices() != info_.vertices)) {
    return DeterminismMismatch(opened.determinism_digest(), info_.determinism_digest);
  }
  const std::uint32_t resumed = opened_ ? info_.resumed + 1 : 0;
  info_ = {.session = opened.session(),
           .determinism_digest = opened.determinism_digest(),
           .vertices = opened.vertices(),
           .window = opened.window(),
           .chunk_bytes = opened.chunk_bytes(),
           .resumed = resumed};
  poses_.Open(opened.window(), opened.backlog());
  accepted_ = absl::Now();
  owing_ = poses_.unanswered() > 0;
  opened_ = true;
  changed_.notify_all();
  return absl::OkStatus();
}

absl::Status StreamCore::TakeItems(
    std::vector<FrameChunk> chunks,
    const google::protobuf::RepeatedPtrField<v1::FrameProblem>& problems,
    FrameAssembler& assembler) {
  auto problem = problems.begin();
  const auto take_problems_before = [&](std::uint64_t frame) -> absl::Status {
    for (; problem != problems.end() && problem->frame() < frame; ++problem) {
      SINEW_RETURN_IF_ERROR(TakeItem(problem->frame(), ToStatus(problem->problem()), nullptr));
    }
    return absl::OkStatus();
  };
  for (FrameChunk& chunk : chunks) {
    SINEW_RETURN_IF_ERROR(take_problems_before(chunk.header.frame()));
    SINEW_RETURN_IF_ERROR(CheckRange(chunk.header));
    SINEW_ASSIGN_OR_RETURN(std::shared_ptr<FrameData> frame, assembler.Add(std::move(chunk)));
    if (frame == nullptr) continue;
    const std::uint64_t number = frame->frame;
    SINEW_RETURN_IF_ERROR(TakeItem(number, absl::OkStatus(), std::move(frame)));
  }
  return take_problems_before(std::numeric_limits<std::uint64_t>::max());
}

// Before memory is spent on it: compressed vertices need few bytes.
absl::Status StreamCore::CheckRange(const v1::Frame& header) const {
  const Lock lock(mutex_);
  const std::uint64_t end = header.vertex_offset() + header.vertex_count();
  if (header.vertex_offset() <= info_.vertices && end <= info_.vertices) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("frame ", header.frame(), ": got ", end, " vertices, need ", info_.vertices));
}

absl::Status StreamCore::TakeItem(std::uint64_t frame, absl::Status problem,
                                  std::shared_ptr<FrameData> data) {
  const Lock lock(mutex_);
  SINEW_ASSIGN_OR_RETURN(const QueuedPose pose, poses_.Answer(frame));
  skipped_ += pose.replaced;
  if (data != nullptr) {
    if (data->vertices != info_.vertices) {
      return absl::InternalError(absl::StrCat("frame ", frame, ": got ", data->vertices,
                                              " vertices, need ", info_.vertices));
    }
    data->skipped += std::exchange(skipped_, 0);
    MeasureLine(lock, pose, *data);
  }
  ready_.push_back({.frame = frame,
                    .problem = std::move(problem),
                    .view = data == nullptr ? FrameView() : FrameView(data)});
  progressed_ = true;
  changed_.notify_all();
  return absl::OkStatus();
}

// From when the server had the frame, by the times that it reports; on the way, the pose's time
// counts, too.
void StreamCore::MeasureLine(const Lock& /*lock*/, const QueuedPose& pose, const FrameData& data) {
  if (for_slow_lines_.empty() || slow_ || draining_ || finishing_) return;
  const FrameTiming& timing = data.timing;
  line_.Add(pose.sent + absl::ToDoubleSeconds(timing.queue + timing.evaluate + timing.encode),
            Now(), data.received_bytes);
  if (!line_.slow()) return;
  changing_ = draining_ = true;
  last_answered_ = poses_.last_unanswered().value_or(data.frame);
}

}  // namespace sinew::client
