#include "server/process/heartbeat.h"

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>

#include <chrono>
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
  bool Idle() const ABSL_SHARED_LOCKS_REQUIRED(mutex) { return !beating; }

  grpc::GenericStub stub;
  std::function<bool()> wanted;
  absl::Mutex mutex;
  std::unique_ptr<Beat> beat ABSL_GUARDED_BY(mutex);  // of the running or the last call
  bool beating ABSL_GUARDED_BY(mutex) = false;
  bool stopping ABSL_GUARDED_BY(mutex) = false;
};

Heartbeat::Heartbeat(Timers& timers, std::shared_ptr<grpc::Channel> channel,
                     std::function<bool()> wanted)
    : timers_(timers), state_(std::make_shared<State>(std::move(channel))) {
  state_->wanted = std::move(wanted);
  timer_ = timers_.Every(kPeriod, [state = state_] {
    Beat* beat = nullptr;
    {
      const absl::MutexLock lock(&state->mutex);
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
                            const absl::MutexLock lock(&state->mutex);
                            state->beating = false;
                          });
  });
}

Heartbeat::~Heartbeat() {
  timers_.Cancel(timer_);
  const absl::MutexLock lock(&state_->mutex);
  state_->stopping = true;
  if (state_->beating) state_->beat->context.TryCancel();  // its reply may take until the deadline
  state_->mutex.Await(absl::Condition(state_.get(), &State::Idle));
}

}  // namespace sinew::server
