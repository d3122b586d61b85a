#include "tests/bench/raw_peer.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>

namespace sinew::bench {
namespace {

constexpr std::intptr_t kStart = 1, kWrite = 2, kRead = 3, kFinish = 4;

// Reference-counted bytes that outlive the slices made of them.
struct Buffer {
  explicit Buffer(std::size_t bytes) : data(bytes, 'x') {}
  std::vector<char> data;
};

grpc::ByteBuffer Borrow(const std::shared_ptr<Buffer>& buffer) {
  auto* keep = new std::shared_ptr<Buffer>(buffer);
  const grpc::Slice slice(
      buffer->data.data(), buffer->data.size(),
      [](void* held) { delete static_cast<std::shared_ptr<Buffer>*>(held); }, keep);
  return grpc::ByteBuffer(&slice, 1);
}

// Answers each request by one reply; the first four bytes of a request say how large.
class Echo final : public grpc::ServerGenericBidiReactor {
 public:
  Echo() { StartRead(&request_); }
  void OnReadDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    if (!ok) {
      ended_ = true;
      MaybeFinish();
      return;
    }
    std::vector<grpc::Slice> slices;
    (void)request_.Dump(&slices);
    std::string head;  // the network cuts anywhere
    for (const grpc::Slice& slice : slices) {
      head.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
      if (head.size() >= 4) break;
    }
    std::uint32_t bytes = 0;
    std::memcpy(&bytes, head.data(), sizeof bytes);
    if (!reply_ || reply_->data.size() != bytes) reply_ = std::make_shared<Buffer>(bytes);
    ++owed_;
    request_.Clear();
    MaybeWrite();
    StartRead(&request_);
  }
  void OnWriteDone(bool) override {
    const std::lock_guard lock(mutex_);
    out_.Clear();
    writing_ = false;
    MaybeWrite();
    MaybeFinish();
  }
  void OnDone() override { delete this; }

 private:
  void MaybeWrite() {
    if (writing_ || owed_ == 0 || ended_) return;
    writing_ = true;
    --owed_;
    out_ = Borrow(reply_);
    StartWrite(&out_);
  }
  void MaybeFinish() {
    if (ended_ && !writing_ && !finished_) {
      finished_ = true;
      Finish(grpc::Status::OK);
    }
  }
  std::mutex mutex_;
  grpc::ByteBuffer request_, out_;
  std::shared_ptr<Buffer> reply_;
  std::size_t owed_ = 0;
  bool writing_ = false, ended_ = false, finished_ = false;
};

}  // namespace

class RawServer::Service final : public grpc::CallbackGenericService {
 public:
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override {
    return new Echo;
  }
};

RawServer::RawServer() : service_(std::make_unique<Service>()) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
  builder.RegisterCallbackGenericService(service_.get());
  server_ = builder.BuildAndStart();
}

RawServer::~RawServer() {
  server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
}

RawClient::RawClient(int port, std::size_t request_bytes, std::size_t reply_bytes)
    : request_(std::max<std::size_t>(request_bytes, 4), 'q') {
  const auto size = static_cast<std::uint32_t>(reply_bytes);
  std::memcpy(request_.data(), &size, sizeof size);
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(64 << 20);
  channel_ = grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(port),
                                       grpc::InsecureChannelCredentials(), arguments);
  stub_ = std::make_unique<grpc::GenericStub>(channel_);
  call_ = stub_->PrepareCall(&context_, "/raw/Echo", &queue_);
  call_->StartCall(reinterpret_cast<void*>(kStart));
  Wait(kStart);
}

RawClient::~RawClient() {
  context_.TryCancel();
  queue_.Shutdown();
  void* tag;
  bool ok;
  while (queue_.Next(&tag, &ok)) {
  }
}

void RawClient::Send() {
  ++unsent_;
  if (writing_) return;
  --unsent_;
  writing_ = true;
  const grpc::Slice slice(request_);
  call_->Write(grpc::ByteBuffer(&slice, 1), reinterpret_cast<void*>(kWrite));
}

std::size_t RawClient::Receive() {
  if (!reading_) {
    reading_ = true;
    call_->Read(&reply_, reinterpret_cast<void*>(kRead));
  }
  Wait(kRead);
  reading_ = false;
  return reply_.Length();
}

void RawClient::Wait(std::intptr_t wanted) {
  while (true) {
    if (wanted == kRead && read_done_) {
      read_done_ = false;
      return;
    }
    void* tag = nullptr;
    bool ok = false;
    if (!queue_.Next(&tag, &ok) || !ok) {
      grpc::Status status;
      call_->Finish(&status, reinterpret_cast<void*>(kFinish));
      while (queue_.Next(&tag, &ok) && tag != reinterpret_cast<void*>(kFinish)) {
      }
      std::fprintf(stderr, "raw_peer: %d %s\n", static_cast<int>(status.error_code()),
                   status.error_message().c_str());
      std::abort();
    }
    const auto got = reinterpret_cast<std::intptr_t>(tag);
    if (got == kWrite) {
      writing_ = false;
      if (unsent_ > 0) {
        --unsent_;
        Send();
      }
    } else if (got == kRead) {
      read_done_ = true;
    }
    if (got == wanted && wanted != kRead) return;
  }
}

}  // namespace sinew::bench
