// server.cc - calls of every method on a server in this process: the first byte selects the method,
// the rest is the one message of the call, valid or not.
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <array>

#include "server/process/server.h"
#include "sinew/v1/session_service.grpc.pb.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/messages.h"
#include "tests/fuzz/requests.h"
#include "tests/support/test_rig.h"

namespace {

using namespace sinew;
using google::protobuf::Message;

class TestServer {
 public:
  TestServer() {
    server::Config config;
    config.network.listen = {};
    config.network.http = "off";
    config.network.calls_per_second = 1e6;
    config.log.level = "off";
    config.access.client_share = 1;
    config.compute.threads = 1;
    // What a call leaves behind is gone before it makes others fail.
    config.sessions.ttl_seconds = config.sessions.max_ttl_seconds = 2;
    config.sessions.shared_ttl_seconds = 1;
    config.rigs.upload_seconds = 1;
    // Not the time of a target.
    config.binds.seconds = config.weights.seconds = 5;
    server_ = server::Server::Start(config, server::RealClock()).value();
    channel_ = server_->InProcessChannel().value();
    Upload();
  }

  grpc::Status Call(const std::string& method, const grpc::ByteBuffer& request) {
    grpc::GenericStub stub(channel_);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(15));
    grpc::CompletionQueue queue;
    const auto call = stub.PrepareCall(&context, "/sinew.v1." + method, &queue);
    void* tag = nullptr;
    bool ok = false;
    call->StartCall(nullptr);
    queue.Next(&tag, &ok);
    if (ok) {
      call->WriteLast(request, grpc::WriteOptions(), nullptr);
      queue.Next(&tag, &ok);
    }
    grpc::ByteBuffer reply;
    do {
      call->Read(&reply, nullptr);
      queue.Next(&tag, &ok);
    } while (ok);
    grpc::Status status;
    call->Finish(&status, nullptr);
    queue.Next(&tag, &ok);
    queue.Shutdown();
    while (queue.Next(&tag, &ok)) {
    }
    return status;
  }

  // The rig that seeds name.
  void Upload() {
    const std::string bytes =
        sinew::testing::TubeRig({.rings = 3, .segments = 3}).SerializeAsString();
    v1::UploadRigRequest request;
    request.mutable_header()->set_sha256(Sha256Hex(bytes));
    request.mutable_header()->set_size_bytes(bytes.size());
    request.set_data(bytes);
    const std::string message = request.SerializeAsString();
    const grpc::Slice slice(message);
    fuzz::Require(Call("RigService/UploadRig", grpc::ByteBuffer(&slice, 1)).ok(), "a rig");
  }

 private:
  std::unique_ptr<server::Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
};

bool IsExpected(const std::string& method, grpc::StatusCode code) {
  using enum grpc::StatusCode;
  constexpr std::array kExpected = {OK,      INVALID_ARGUMENT,    NOT_FOUND,   RESOURCE_EXHAUSTED,
                                    ABORTED, FAILED_PRECONDITION, OUT_OF_RANGE};
  // Bytes of another digest.
  if (method == "RigService/UploadRig" && code == DATA_LOSS) return true;
  return std::ranges::find(kExpected, code) != kExpected.end();
}

}  // namespace

std::unique_ptr<Message> fuzz::EmptyMessage(std::string_view& bytes) {
  return std::unique_ptr<Message>(TakeRequestType(bytes).empty->New());
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static TestServer server;
  std::string_view bytes = fuzz::Text(data, size);
  const std::string method = fuzz::TakeRequestType(bytes).method;
  const grpc::Slice slice(bytes.data(), bytes.size());
  const grpc::Status status = server.Call(method, grpc::ByteBuffer(&slice, 1));
  fuzz::Require(IsExpected(method, status.error_code()),
                method + " ends with a documented code, got " +
                    std::to_string(status.error_code()) + ": " + status.error_message());
  if (method == "RigService/DeleteRig" && status.ok()) server.Upload();
  return 0;
}
