#include "server/web/forwarded_call.h"

#include <grpcpp/impl/codegen/rpc_method.h>

#include <utility>

namespace sinew::server {
namespace {

// Tries to connect to a server that was away. Left alone, gRPC would try every few seconds, and
// would look at what came of it every five seconds while no call is on its way.
void Reconnect(grpc::Channel& channel) {
  constexpr std::chrono::milliseconds kWait{250};
  if (channel.GetState(true) == GRPC_CHANNEL_READY) return;
  grpc::experimental::ChannelResetConnectionBackoff(&channel);
  channel.WaitForConnected(std::chrono::system_clock::now() + kWait);
}

}  // namespace

bool WebQueue::Push(WebMessage message) {
  const absl::MutexLock lock(&mutex_);
  const auto free = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return closed_ || messages_.size() < kMost;
  };
  mutex_.Await(absl::Condition(&free));
  if (closed_) return false;
  messages_.push_back(std::move(message));
  return true;
}

std::optional<WebMessage> WebQueue::Pop(std::chrono::milliseconds wait) {
  const absl::MutexLock lock(&mutex_);
  const auto filled = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return closed_ || !messages_.empty();
  };
  mutex_.AwaitWithTimeout(absl::Condition(&filled), absl::FromChrono(wait));
  if (messages_.empty()) return std::nullopt;
  WebMessage first = std::move(messages_.front());
  messages_.pop_front();
  return first;
}

void WebQueue::Close() {
  const absl::MutexLock lock(&mutex_);
  closed_ = true;
}

// Each method is called as one that streams both ways: on the wire it is the same. Generated stubs
// start their calls like this.
ForwardedCall::ForwardedCall(const Upstream& upstream, const WebCaller& caller, std::string method,
                             std::uint32_t number, WebQueue& queue)
    : method_(std::move(method)), context_(upstream.context(caller)) {
  using Factory = grpc::internal::ClientReaderWriterFactory<grpc::ByteBuffer, grpc::ByteBuffer>;
  const grpc::internal::RpcMethod rpc(method_.c_str(), grpc::internal::RpcMethod::BIDI_STREAMING);
  Reconnect(*upstream.channel);
  stream_.reset(Factory::Create(upstream.channel.get(), rpc, context_.get()));
  thread_ = std::thread([this, number, &queue] { Read(number, queue); });
}

ForwardedCall::~ForwardedCall() {
  context_->TryCancel();
  thread_.join();
}

bool ForwardedCall::Write(const grpc::ByteBuffer& message) {
  return stream_->Write(message);
}

void ForwardedCall::WritesDone() {
  stream_->WritesDone();
}

void ForwardedCall::Read(std::uint32_t number, WebQueue& queue) {
  grpc::ByteBuffer message;
  while (stream_->Read(&message)) {
    if (!queue.Push({.call = number, .bytes = message})) context_->TryCancel();
    message.Clear();
  }
  queue.Push(TrailerOf(number, stream_->Finish()));
  ended_ = true;
}

}  // namespace sinew::server
