// unary_call.h - unary RPCs that are a short function from request to reply.
#pragma once

#include <absl/status/status.h>

#include <functional>
#include <memory>
#include <utility>

#include "core/base/status.h"
#include "server/base/catch_exceptions.h"
#include "server/calls/call_reactor.h"
#include "server/calls/rpc_service.h"

namespace sinew::server {

template <class Request, class Response>
class UnaryCall final : public CallReactor<UnaryCall<Request, Response>> {
 public:
  struct Functions {
    // Where the body runs; null = gRPC's thread. Must be short.
    std::function<Workers*(const Call& call, const Request&)> choose_lane;
    // Runs without the mutex; a cancelled call requests stop of call.stop_token() and is answered
    // at once.
    std::function<absl::Status(Call& call, const Request&, Response&)> body;
    // Instead of choose_lane: posts the work that runs the body, as PostWithRig.
    std::function<Step(const Call& call, const Request&, Workers::Work work, StepMoved moved)>
        post = {};
    // Whether the body can run at once instead.
    std::function<bool(const Call& call, const Request&)> ready = {};
  };

  // functions: outlive the call.
  UnaryCall(const RpcMethod& method, grpc::CallbackServerContext* context,
            const Functions* functions)
      : Base(method, context), functions_(*functions) {}

 private:
  using Base = CallReactor<UnaryCall>;
  friend Base;

  absl::Status OnStart() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) {
    SINEW_RETURN_IF_ERROR(ParseRequest(this->call_, this->read_, request_));
    posts_ = functions_.post && !(functions_.ready && functions_.ready(this->call_, request_));
    if (posts_) return Post();
    if (functions_.post) return absl::OkStatus();
    lane_ = functions_.choose_lane(this->call_, request_);
    if (lane_ == nullptr) return absl::OkStatus();
    const std::uint64_t number = ++this->runtime_.steps;
    SINEW_ASSIGN_OR_RETURN(
        const Workers::Ticket ticket,
        lane_->Post(this->call_.caller().client(),
                    [self = this->Self()](const absl::Status& turn) { self->Run(turn); }));
    this->SetStep({number, [lane = lane_, ticket] { lane->Remove(ticket); }});
    return absl::OkStatus();
  }

  void OnStarted() override {
    if (lane_ == nullptr && !posts_) Run(absl::OkStatus());
  }

  absl::Status Post() ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) {
    SINEW_ASSIGN_OR_RETURN(Quota::Permit waits,
                           this->runtime_.waiting_calls.Take(this->call_.caller().client()));
    const auto run = [self = this->Self(), waits = std::make_shared<Quota::Permit>(
                                               std::move(waits))](const absl::Status& turn) {
      waits->reset();
      self->Run(turn);
    };
    this->SetStep(functions_.post(this->call_, request_, run, this->MovesStep()));
    return absl::OkStatus();
  }

  // turn: as in Workers::Work.
  void Run(const absl::Status& turn) {
    Response response;
    absl::Status status = turn;
    if (status.ok()) {
      status = CatchExceptions(
          [&]() -> absl::Status { return functions_.body(this->call_, request_, response); });
      if (status.ok()) this->call_.ReportChange();
    }
    const absl::MutexLock lock(&this->mutex_);
    if (this->ended_) return;
    // Counted until it has been read.
    if (status.ok()) status = this->call_.Hold(response.ByteSizeLong());
    if (status.ok()) this->SetReply(ToBytes(response));
    this->End(status);
  }

  const Functions& functions_;
  Request request_;  // constant after OnStart, like lane_ and posts_
  Workers* lane_ = nullptr;
  bool posts_ = false;
};

// For RpcService::Add.
template <class Request, class Response>
RpcService::Begin Unary(decltype(UnaryCall<Request, Response>::Functions::choose_lane) choose_lane,
                        decltype(UnaryCall<Request, Response>::Functions::body) body) {
  using ThisCall = UnaryCall<Request, Response>;
  using Functions = typename ThisCall::Functions;
  return [functions = std::make_shared<const Functions>(
              Functions{std::move(choose_lane), std::move(body)})](
             const RpcMethod& method, grpc::CallbackServerContext* context) {
    return ThisCall::Start(method, context, functions.get());
  };
}

// Always runs the body on `lane`.
template <class Request, class Response>
RpcService::Begin Unary(Workers* lane,
                        decltype(UnaryCall<Request, Response>::Functions::body) body) {
  return Unary<Request, Response>([lane](const Call&, const Request&) { return lane; },
                                  std::move(body));
}
template <class Request, class Response>
RpcService::Begin Unary(decltype(UnaryCall<Request, Response>::Functions::body) body) {
  return Unary<Request, Response>(static_cast<Workers*>(nullptr), std::move(body));
}

// Runs the body where, and when, post(...) calls the work that it is given; at once if ready(...).
template <class Request, class Response>
RpcService::Begin PostedUnary(decltype(UnaryCall<Request, Response>::Functions::post) post,
                              decltype(UnaryCall<Request, Response>::Functions::body) body,
                              decltype(UnaryCall<Request, Response>::Functions::ready) ready = {}) {
  using ThisCall = UnaryCall<Request, Response>;
  using Functions = typename ThisCall::Functions;
  return [functions = std::make_shared<const Functions>(
              Functions{{}, std::move(body), std::move(post), std::move(ready)})](
             const RpcMethod& method, grpc::CallbackServerContext* context) {
    return ThisCall::Start(method, context, functions.get());
  };
}

}  // namespace sinew::server
