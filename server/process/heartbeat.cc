#include "server/process/heartbeat.h"

#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace sinew::server {
namespace {

constexpr std::chrono::milliseconds kPeriod{400};
constexpr std::chrono::seconds kDeadline{2};
constexpr char kMethod[] = "/grpc.health.v1.Health/Check";

struct Beat {
  grpc::ClientContext context;
  grpc::ByteBuffer request, response;
};

}  // namespace

struct Heartbeat::State {
  explicit State(std::shared_ptr<grpc::Channel> channel) : stub(std::move(channel)) {}
  std::unique_ptr<Beat> beat;  // of the call under way, or the last one
  grpc::GenericStub stub;
  std::function<bool()> wanted;
  std::mutex mutex;
  std::condition_variable idle;
  bool beating = false, stopping = false;
};

Heartbeat::Heartbeat(Timers& timers, std::shared_ptr<grpc::Channel> channel,
                     std::function<bool()> wanted)
    : timers_(timers), state_(std::make_shared<State>(std::move(channel))) {
  state_->wanted = std::move(wanted);
  timer_ = timers_.Every(kPeriod, [state = state_] {
    Beat* beat = nullptr;
    {
      const std::lock_guard lock(state->mutex);
      if (state->beating || state->stopping || !state->wanted()) return;
      state->beating = true;
      state->beat = std::make_unique<Beat>();
      beat = state->beat.get();
    }
    const grpc::Slice empty;
    beat->request = grpc::ByteBuffer(&empty, 1);
    beat->context.set_deadline(std::chrono::system_clock::now() + kDeadline);
    state->stub.UnaryCall(&beat->context, kMethod, grpc::StubOptions(), &beat->request,
                          &beat->response, [state](const grpc::Status&) {
                            const std::lock_guard lock(state->mutex);
                            state->beating = false;
                            state->idle.notify_all();
                          });
  });
}

Heartbeat::~Heartbeat() {
  timers_.Cancel(timer_);
  std::unique_lock lock(state_->mutex);
  state_->stopping = true;
  if (state_->beating) state_->beat->context.TryCancel();  // its answer may take the whole deadline
  state_->idle.wait(lock, [this] { return !state_->beating; });
}

}  // namespace sinew::server
