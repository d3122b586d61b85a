// unary_call.h - unary RPCs that are a short function from request to reply.
#pragma once

#include <absl/status/status.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <functional>
#include <utility>

#include "core/base/status.h"
#include "server/base/catch_exceptions.h"
#include "server/calls/call_reactor.h"

namespace sinew::server {

template <class Request, class Response>
class UnaryCall final : public CallReactor<UnaryCall<Request, Response>, grpc::ServerUnaryReactor> {
 public:
  // Runs without the mutex; a cancelled call requests stop of call.stop_token() and is answered at
  // once.
  using Body = std::function<absl::Status(Call& call, const Request&, Response&)>;
  // Where the body runs; null = gRPC's thread. Must be short.
  using ChooseLane = std::function<Workers*(const Call& call, const Request&)>;

  UnaryCall(const RpcMethod& method, grpc::CallbackServerContext* context,
            const grpc::ByteBuffer* request, grpc::ByteBuffer* response, ChooseLane choose_lane,
            Body body)
      : Base(method, context),
        bytes_(request),
        response_(response),
        choose_lane_(std::move(choose_lane)),
        body_(std::move(body)) {}

 private:
  using Base = CallReactor<UnaryCall, grpc::ServerUnaryReactor>;
  friend Base;

  absl::Status OnStart() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(this->mutex_) {
    SINEW_RETURN_IF_ERROR(ParseRequest(this->call_, *bytes_, request_));
    lane_ = choose_lane_(this->call_, request_);
    if (lane_ == nullptr) return absl::OkStatus();
    SINEW_ASSIGN_OR_RETURN(
        const Workers::Ticket ticket,
        lane_->Post(this->call_.caller().client(),
                    [self = this->Self()](const absl::Status& turn) { self->Run(turn); }));
    this->SetStep({lane_, ticket});
    return absl::OkStatus();
  }

  void OnStarted() override {
    if (lane_ == nullptr) Run(absl::OkStatus());
  }

  // turn: as in Workers::Work.
  void Run(const absl::Status& turn) {
    Response response;
    absl::Status status = turn;
    if (status.ok()) {
      status =
          CatchExceptions([&]() -> absl::Status { return body_(this->call_, request_, response); });
    }
    const absl::MutexLock lock(&this->mutex_);
    if (this->ended_) return;
    // Counted until it has been read.
    if (status.ok()) status = this->call_.Hold(response.ByteSizeLong());
    if (status.ok()) *response_ = ToBytes(response);
    this->End(status);
  }

  const grpc::ByteBuffer* const bytes_;
  grpc::ByteBuffer* const response_;
  const ChooseLane choose_lane_;
  const Body body_;
  Request request_;  // constant after OnStart, like lane_
  Workers* lane_ = nullptr;
};

template <class Request, class Response>
grpc::ServerUnaryReactor* RunUnary(const RpcMethod& method, grpc::CallbackServerContext* context,
                                   const grpc::ByteBuffer* request, grpc::ByteBuffer* response,
                                   typename UnaryCall<Request, Response>::ChooseLane choose_lane,
                                   typename UnaryCall<Request, Response>::Body body) {
  return UnaryCall<Request, Response>::Start(method, context, request, response,
                                             std::move(choose_lane), std::move(body));
}

// The same on the lane of the method.
template <class Request, class Response>
grpc::ServerUnaryReactor* RunUnary(const RpcMethod& method, grpc::CallbackServerContext* context,
                                   const grpc::ByteBuffer* request, grpc::ByteBuffer* response,
                                   typename UnaryCall<Request, Response>::Body body) {
  return RunUnary<Request, Response>(
      method, context, request, response,
      [lane = method.lane](const Call&, const Request&) { return lane; }, std::move(body));
}

}  // namespace sinew::server
