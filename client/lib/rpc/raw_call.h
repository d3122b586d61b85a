// raw_call.h - a blocking call whose messages are byte buffers.
//
// gRPC 1.51 has no blocking API for raw messages. A completion queue per call, polled by the
// calling thread, has lower latency than the callback API, whose first reply after a second of
// silence came up to 86 ms later.
#pragma once

#include <google/protobuf/message_lite.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>

#include <memory>
#include <string>

#include "client/lib/rpc/connection.h"

namespace sinew::client {

inline constexpr char kDeformMethod[] = "/sinew.v1.DeformService/Deform";
inline constexpr char kStreamDeformMethod[] = "/sinew.v1.DeformService/StreamDeform";
inline constexpr char kCompareMethod[] = "/sinew.v1.DeformService/CompareDeformers";

// One slice.
grpc::ByteBuffer ToBuffer(const google::protobuf::MessageLite& message);

// One request, then any number of replies. For one thread; another may cancel the context.
class RawCall {
 public:
  // Starts the call, sends `request` and half-closes.
  RawCall(Connection& connection, const char* method, grpc::ClientContext& context,
          const google::protobuf::MessageLite& request);
  // Cancels the call unless Finish was called.
  ~RawCall();

  // False at the end of the replies.
  bool Read(grpc::ByteBuffer& reply);

  // Call after Read returned false, or after the context was cancelled.
  grpc::Status Finish();

 private:
  bool Wait();

  grpc::ClientContext& context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  bool finished_ = false;
};

}  // namespace sinew::client
