#include "server/calls/compute_weights.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <utility>

#include "core/base/digest.h"
#include "core/base/status.h"
#include "server/base/status.h"
#include "server/convert/rig.h"
#include "server/convert/weights.h"
#include "server/threads/time_limit.h"

namespace sinew::server {
namespace {

constexpr std::chrono::milliseconds kPeriod{100};

// Equal rigs give equal bytes.
std::string Serialised(const v1::Rig& rig) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  rig.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

}  // namespace

grpc::ServerWriteReactor<v1::ComputeWeightsResponse>* ComputeWeightsCall::Start(
    Runtime& runtime, const RpcMethod& method, grpc::CallbackServerContext* context,
    const v1::ComputeWeightsRequest* request) {
  auto weigh = std::make_shared<ComputeWeightsCall>(runtime, method, context);
  weigh->self_ = weigh;
  absl::Status status = weigh->call_.Begin();
  if (status.ok()) {
    absl::StatusOr<ConcurrencyLimit::Permit> pass = runtime.weights.Enter();
    status = pass.status();
    if (pass.ok()) weigh->permit_ = *std::move(pass);
  }
  if (status.ok()) status = CatchExceptions([&] { return weigh->Receive(*request); });
  // Held until the timer is there: the job may be over at once.
  const std::lock_guard lock(weigh->mutex_);
  if (status.ok()) status = runtime.bound->InLine([weigh] { weigh->Run(); });
  if (!status.ok()) {
    weigh->End(status);
    return weigh.get();
  }
  runtime.AddStream(weigh);
  weigh->timer_ = runtime.timers.Every(kPeriod, [weak = weigh->weak_from_this()] {
    if (const auto self = weak.lock()) self->Look();
  });
  return weigh.get();
}

absl::Status ComputeWeightsCall::Receive(const v1::ComputeWeightsRequest& request) {
  request_ = request;
  SINEW_ASSIGN_OR_RETURN(
      options_, ReadWeightOptions(request_, runtime_.config.weights, runtime_.config.rigs));
  SINEW_ASSIGN_OR_RETURN(hex_, ParseRigName("rig", request_.rig()));
  if (runtime_.rigs->Has(hex_)) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat(request_.rig(), ": no such rig on this server"));
}

void ComputeWeightsCall::Run() {
  ConcurrencyLimit::Permit pass;  // what runs counts, also for a client that is gone
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    pass = std::move(permit_);
  }
  absl::StatusOr<v1::ComputeWeightsResponse> response = CatchExceptions([&] { return Compute(); });
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  permit_ = std::move(pass);
  if (!response.ok()) {
    End(response.status());
    return;
  }
  last_ = *std::move(response);
  computed_ = true;
  WriteNext();
}

absl::StatusOr<v1::ComputeWeightsResponse> ComputeWeightsCall::Compute() {
  const WeightsConfig& limits = runtime_.config.weights;
  const TimeLimit time(runtime_.timers, limits.seconds, "weights", "max-weight-seconds",
                       [weak = weak_from_this()] {
                         if (const auto self = weak.lock()) self->call_.Cancel();
                       });
  SINEW_ASSIGN_OR_RETURN(const std::string bytes, runtime_.rigs->Bytes(hex_));
  SINEW_ASSIGN_OR_RETURN(v1::Rig rig, ParseRig(bytes));
  SINEW_ASSIGN_OR_RETURN(const RigWeightsInput input,
                         ReadWeightsInput(rig, request_, runtime_.config.rigs));
  const auto start = std::chrono::steady_clock::now();
  const absl::StatusOr<RigWeights> weights = ComputeRigWeights(
      input, options_,
      {.stop = call_.stop_token(),
       .memory_limit = limits.memory_bytes,
       .progress = [this](double done) { progress_.store(static_cast<float>(done)); }});
  if (absl::IsResourceExhausted(weights.status())) {
    return LimitPassed("weights", StdView(absl::StripPrefix(weights.status().message(), "bind: ")),
                       "max-weight-bytes");
  }
  if (!weights.ok()) return time.Named(WithRequestField(weights.status()));
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  runtime_.log->info("weights of {} took {:.3f} s", request_.rig(), taken.count());
  SINEW_RETURN_IF_ERROR(ReplaceSkins(input, *weights, rig));
  SINEW_ASSIGN_OR_RETURN(v1::ComputeWeightsResponse response, Store(rig));
  *response.mutable_report() = ToProto(weights->report);
  return response;
}

absl::StatusOr<v1::ComputeWeightsResponse> ComputeWeightsCall::Store(const v1::Rig& rig) {
  const std::string bytes = Serialised(rig);
  const std::uint64_t limit = runtime_.config.rigs.bytes;
  if (bytes.size() > limit) {
    return LimitPassed("rig", bytes.size(), limit, "bytes", "max-rig-bytes");
  }
  if (call_.stop_token().stop_requested()) return absl::CancelledError("weights: cancelled");
  SINEW_ASSIGN_OR_RETURN(const auto stored, runtime_.rigs->Put(Sha256Hex(bytes), bytes, {}));
  v1::ComputeWeightsResponse response;
  response.set_progress(1);
  *response.mutable_rig() = stored->summary;
  return response;
}

void ComputeWeightsCall::Look() {
  const std::lock_guard lock(mutex_);
  WriteNext();
}

void ComputeWeightsCall::WriteNext() {
  if (ended_ || writing_ || last_sent_) return;
  if (computed_) {
    response_ = std::move(last_);
    last_sent_ = true;
  } else {
    const float now = progress_.load();
    if (now == said_) return;
    said_ = now;
    response_.set_progress(now);
  }
  writing_ = true;
  write_start_ = std::chrono::steady_clock::now();
  StartWrite(&response_);
}

void ComputeWeightsCall::OnWriteDone(bool ok) {
  const std::lock_guard lock(mutex_);
  writing_ = false;
  if (!ok) {
    call_.Cancel();
    End(absl::CancelledError("weights: the client is gone"));
  } else if (last_sent_) {
    End(absl::OkStatus());
  } else if (computed_) {  // it was done during this write
    WriteNext();
  }
  FinishOnce();
}

// A write under way is let out first, so that the status arrives with its details.
void ComputeWeightsCall::End(const absl::Status& status) {
  if (ended_) return;
  ended_ = true;
  permit_ = ConcurrencyLimit::Permit();  // before the client knows: it may come again at once
  final_ = call_.End(status);
  if (!writing_ || absl::IsCancelled(status)) FinishOnce();
}

void ComputeWeightsCall::FinishOnce() {
  if (!ended_ || finished_) return;
  finished_ = true;
  Finish(final_);
}

void ComputeWeightsCall::Stop(const absl::Status& status) {
  call_.Cancel();  // what is being computed is for nobody
  const std::lock_guard lock(mutex_);
  End(status);
}

void ComputeWeightsCall::OnCancel() {
  Stop(absl::CancelledError("weights: cancelled"));
}

void ComputeWeightsCall::Drain() {
  Stop(Draining());
}

void ComputeWeightsCall::Tick(std::chrono::steady_clock::time_point now) {
  const std::chrono::duration<double> limit(runtime_.config.streams.stall_seconds);
  const std::lock_guard lock(mutex_);
  if (!writing_ || now - write_start_ <= limit) return;
  call_.Cancel();
  End(Stalled("nothing has been read", limit.count()));
  if (finished_) return;
  FinishOnce();
  CutOff(*context_, final_);
}

void ComputeWeightsCall::OnDone() {
  call_.Cancel();
  {
    const std::lock_guard lock(mutex_);
    runtime_.timers.Cancel(timer_);
  }
  self_.reset();
}

}  // namespace sinew::server
