// raw_call.h - a call whose messages are byte buffers, driven by the thread that uses it.
//
// gRPC 1.51 offers raw messages for queues and callbacks only. A queue of its own per call makes
// every step blocking, keeps the caller's thread and, unlike the callback API, does not nap (see
// the design's figures: first reply after a pause of a second up to 86 ms later).
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
inline constexpr char kDeformClipMethod[] = "/sinew.v1.DeformService/DeformClip";
inline constexpr char kCompareMethod[] = "/sinew.v1.DeformService/CompareDeformers";

// Serialises into one slice.
grpc::ByteBuffer ToBuffer(const google::protobuf::MessageLite& message);

// One request, then any number of replies. Used by one thread; the context may be cancelled by
// another.
class RawCall {
 public:
  // Starts the call, sends `request` and half-closes.
  RawCall(Connection& connection, const char* method, grpc::ClientContext& context,
          const google::protobuf::MessageLite& request);
  // Cancels if Finish was not reached.
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
