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

absl::Status ComputeWeightsCall::OnStart() {
  SINEW_RETURN_IF_ERROR(ParseRequest(call_, read_, request_));
  SINEW_ASSIGN_OR_RETURN(
      options_, ReadWeightOptions(request_, runtime_.config.weights, runtime_.config.rigs));
  SINEW_ASSIGN_OR_RETURN(hex_, ParseRigName("rig", request_.rig()));
  call_.SetObject(request_.rig());
  if (!runtime_.rigs->Has({call_.caller().tenant, hex_})) return UnknownRig(hex_);
  PostStep(runtime_.weighing, [](ComputeWeightsCall& call) {
    call.runtime_.arenas.Bind(Arenas::Binds::kWeights, [&call] { call.Run(); });
  });
  StartUpdates();
  return absl::OkStatus();
}

void ComputeWeightsCall::Run() {
  // A job counts against the limit until it is done, even if the client is gone before.
  Quota::Permit permit;
  {
    const absl::MutexLock lock(&mutex_);
    if (ended_) return;
    permit = permit_;
  }
  absl::StatusOr<v1::ComputeWeightsResponse> response = CatchExceptions([&] { return Compute(); });
  const absl::MutexLock lock(&mutex_);
  permit.reset();
  if (ended_) return;
  if (!response.ok()) {
    End(response.status());
    return;
  }
  last_ = *std::move(response);
  UpdateLast();
}

absl::StatusOr<v1::ComputeWeightsResponse> ComputeWeightsCall::Compute() {
  const WeightsConfig& limits = runtime_.config.weights;
  const TimeLimit time(runtime_.timers, limits.seconds, "weights", "max-weight-seconds",
                       [weak = weak_from_this()] {
                         if (const auto self = weak.lock()) self->call_.Cancel();
                       });
  SINEW_ASSIGN_OR_RETURN(RigStore::Message message,
                         runtime_.rigs->GetMessage({call_.caller().tenant, hex_}));
  v1::Rig& rig = message.rig;
  SINEW_ASSIGN_OR_RETURN(const RigWeightsInput input,
                         ReadWeightsInput(rig, request_, runtime_.config.rigs));
  message.held.reset();  // storing the result takes one of its own
  const auto start = std::chrono::steady_clock::now();
  const absl::StatusOr<RigWeights> weights = ComputeRigWeights(
      input, options_,
      {.stop = call_.stop_token(),
       .memory_limit = limits.memory_bytes,
       .progress = [this](double done) { progress_.store(static_cast<float>(done)); }});
  if (absl::IsResourceExhausted(weights.status())) {
    return LimitExceeded("weights",
                         StdView(absl::StripPrefix(weights.status().message(), "bind: ")),
                         "max-weight-bytes");
  }
  if (!weights.ok()) return time.Named(WithDetails(weights.status()));
  runtime_.log->info("weights of {} took {:.3f} s", request_.rig(), SecondsSince(start));
  SINEW_RETURN_IF_ERROR(ReplaceSkins(input, *weights, rig));
  SINEW_ASSIGN_OR_RETURN(v1::ComputeWeightsResponse response, Store(rig));
  *response.mutable_report() = ToProto(weights->report);
  return response;
}

absl::StatusOr<v1::ComputeWeightsResponse> ComputeWeightsCall::Store(const v1::Rig& rig) {
  const std::string bytes = Serialised(rig);
  SINEW_RETURN_IF_ERROR(
      CheckLimit("rig", bytes.size(), runtime_.config.rigs.bytes, "bytes", "max-rig-bytes"));
  if (call_.stop_token().stop_requested()) return absl::CancelledError("weights: cancelled");
  SINEW_ASSIGN_OR_RETURN(const auto stored,
                         runtime_.rigs->Put(call_.caller(), Sha256Hex(bytes), bytes, {}));
  call_.ReportChange();
  v1::ComputeWeightsResponse response;
  response.set_progress(1);
  *response.mutable_rig() = stored->summary;
  return response;
}

bool ComputeWeightsCall::HasNews() {
  return over_ || progress_.load() != sent_progress_;
}

absl::StatusOr<bool> ComputeWeightsCall::Report(v1::ComputeWeightsResponse& response) {
  if (over_) {
    response = std::move(last_);
  } else {
    sent_progress_ = progress_.load();
    response.set_progress(sent_progress_);
  }
  return over_;
}

void ComputeWeightsCall::OnDrain() {
  End(Draining());
}

}  // namespace sinew::server
