#include "client/lib/rpc/raw_call.h"

#include <grpcpp/support/slice.h>

namespace sinew::client {

grpc::ByteBuffer ToBuffer(const google::protobuf::MessageLite& message) {
  const std::string bytes = message.SerializeAsString();
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

RawCall::RawCall(Connection& connection, const char* method, grpc::ClientContext& context,
                 const google::protobuf::MessageLite& request)
    : context_(context), call_(connection.raw().PrepareCall(&context, method, &queue_)) {
  call_->StartCall(this);
  if (!Wait()) return;
  call_->WriteLast(ToBuffer(request), grpc::WriteOptions(), this);
  Wait();
}

RawCall::~RawCall() {
  if (!finished_) {
    context_.TryCancel();
    Finish();
  }
  queue_.Shutdown();
  void* tag;
  bool ok;
  while (queue_.Next(&tag, &ok)) {
  }
}

bool RawCall::Wait() {
  void* tag;
  bool ok = false;
  return queue_.Next(&tag, &ok) && ok;
}

bool RawCall::Read(grpc::ByteBuffer& reply) {
  call_->Read(&reply, this);
  return Wait();
}

grpc::Status RawCall::Finish() {
  grpc::Status status;
  call_->Finish(&status, this);
  Wait();
  finished_ = true;
  return status;
}

}  // namespace sinew::client
