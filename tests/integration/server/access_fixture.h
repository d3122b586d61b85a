// access_fixture.h - a server that authenticates its callers, and calls with any credentials.
#pragma once

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "server/access/tokens.h"
#include "tests/integration/server/server_fixture.h"
#include "tests/support/temporary_folder.h"

namespace sinew::testing {

// A call of any method, with one empty message, or with none that arrives.
inline grpc::Status CallMethod(const std::shared_ptr<grpc::Channel>& channel,
                               const std::string& method,
                               const std::vector<std::string>& authorization, bool send = true) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  for (const std::string& value : authorization) context.AddMetadata("authorization", value);
  grpc::CompletionQueue queue;
  const auto call = stub.PrepareCall(&context, "/" + method, &queue);
  void* tag = nullptr;
  bool ok = false;
  call->StartCall(nullptr);
  queue.Next(&tag, &ok);
  if (send) {
    const grpc::Slice empty;
    call->WriteLast(grpc::ByteBuffer(&empty, 1), grpc::WriteOptions(), nullptr);
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
  return status;
}

class AccessTest : public ServerTest {
 protected:
  AccessTest() {
    tokens_ = folder_ / "tokens";
    config.access.token_file = tokens_;
  }
  // Adds a token with this rest of its line.
  std::string AddToken(const std::string& name, const std::string& rest = "") {
    const auto made = server::MakeToken(name);
    EXPECT_TRUE(made.ok());
    std::string line = made->line;
    line.insert(line.rfind('}'), rest);
    lines_ += line;
    WriteAll(tokens_, lines_);
    return "Bearer " + made->token;
  }
  grpc::Status Info(const std::vector<std::string>& authorization) {
    return CallMethod(channel_, "sinew.v1.InfoService/GetServerInfo", authorization);
  }

  TemporaryFolder folder_;
  std::string tokens_, lines_;
};

}  // namespace sinew::testing
