// rpc_service.h - from the methods of a gRPC service to the calls that answer them.
#pragma once

#include <grpcpp/impl/service_type.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/calls/call.h"

namespace sinew::server {

using RpcReactor = grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>;

// Registers every method as a bidirectional stream of bytes, which is the same on the wire. The
// generated services would start a call that has one request only after the last byte of that
// request, whoever sends it; these start it once its headers have arrived, so that access and
// limits come first.
class RpcService final : public grpc::Service {
 public:
  using Begin = std::function<RpcReactor*(const RpcMethod&, grpc::CallbackServerContext*)>;

  // Before the server starts.
  void Add(RpcMethod method, Begin begin);

 private:
  struct Entry {
    const RpcMethod method;
    const std::string path;  // "/sinew.v1.RigService/GetRig"
    const Begin begin;
  };
  std::vector<std::unique_ptr<const Entry>> entries_;
};

}  // namespace sinew::server
