// raw_peer.h - what gRPC itself can move: a bidirectional stream of byte buffers with nothing
// behind it.
//
// The yardstick of stream_bench: the server answers every request with the same prepared bytes,
// taken from pooled slices; the client counts what arrives. Same API, slices, connection and
// threads as the product, no other work.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sinew::bench {

class RawServer {
 public:
  RawServer();
  ~RawServer();
  int port() const { return port_; }

 private:
  class Service;
  std::unique_ptr<Service> service_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

// One open stream to a RawServer; every request is answered by `reply_bytes` bytes.
class RawClient {
 public:
  RawClient(int port, std::size_t request_bytes, std::size_t reply_bytes);
  ~RawClient();
  void Send();
  // Waits for one reply; its size.
  std::size_t Receive();

 private:
  void Wait(std::intptr_t tag);
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<grpc::GenericStub> stub_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  std::string request_;
  grpc::ByteBuffer reply_;
  std::size_t unsent_ = 0;
  bool writing_ = false, reading_ = false, read_done_ = false;
};

}  // namespace sinew::bench
