#include "client/python/src/blocking.h"

#include <absl/strings/str_cat.h>
#include <grpc/grpc.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <set>

#include "client/python/src/errors.h"

namespace py = pybind11;

namespace sinew::python {
namespace {

constexpr std::chrono::milliseconds kSignalPoll{50};

bool OnMainThread() {
  const py::module_ threading = py::module_::import("threading");
  return threading.attr("current_thread")().is(threading.attr("main_thread")());
}

// Ends a thread silently: a traceback that it prints while the interpreter ends can abort the
// process, because it may hold the lock of stderr for ever.
[[noreturn]] void EndThread() {
  PyErr_SetNone(PyExc_SystemExit);
  throw py::error_already_set();
}

bool network_is_used = false, network_is_lost = false;  // with the GIL

// The calls that run, of all threads.
struct Calls {
  std::mutex mutex;
  std::condition_variable changed;
  std::set<std::stop_source*> stops;
  bool ending = false;  // of the interpreter
};
Calls* calls = new Calls;  // another one in the child of a fork, which has one thread

class RunningCall {
 public:
  explicit RunningCall(std::stop_source& stop) : list_(calls), stop_(&stop) {
    if (Begin()) return;
    if (!OnMainThread()) EndThread();
    Raise(absl::CancelledError("the interpreter ends"));
  }
  ~RunningCall() {
    const std::lock_guard lock(list_->mutex);
    list_->stops.erase(stop_);
    list_->changed.notify_all();
  }
  RunningCall(const RunningCall&) = delete;
  RunningCall& operator=(const RunningCall&) = delete;

  bool ending() const {
    const std::lock_guard lock(list_->mutex);
    return list_->ending;
  }

 private:
  bool Begin() {
    const std::lock_guard lock(list_->mutex);
    if (!list_->ending) list_->stops.insert(stop_);
    return !list_->ending;
  }

  Calls* const list_;
  std::stop_source* const stop_;
};

// Ends all calls, and waits until their threads have the GIL again.
void EndCalls() {
  Calls& list = *calls;
  const py::gil_scoped_release release;
  std::unique_lock lock(list.mutex);
  list.ending = true;
  for (std::stop_source* const stop : list.stops) stop->request_stop();
  list.changed.wait(lock, [&list] { return list.stops.empty(); });
}

class Cancellation {
 public:
  void Cancel() {
    const py::gil_scoped_release release;
    stop_.request_stop();
  }
  void Enter() { entered = this; }
  void Leave() { entered = nullptr; }
  // The cancellation of this thread, or null.
  static Cancellation* Entered() { return entered; }
  std::stop_token token() const { return stop_.get_token(); }

 private:
  static thread_local Cancellation* entered;
  std::stop_source stop_;
};
thread_local Cancellation* Cancellation::entered = nullptr;

}  // namespace

void Block(std::stop_source stop, const std::function<void()>& work, bool brief) {
  const RunningCall call(stop);
  std::optional<std::stop_callback<std::function<void()>>> cancelled;
  if (const Cancellation* const entered = Cancellation::Entered()) {
    cancelled.emplace(entered->token(), [stop]() mutable { stop.request_stop(); });
  }
  const bool main = OnMainThread();
  if (brief || !main) {
    {
      const py::gil_scoped_release release;
      work();
    }
    if (!main && call.ending()) EndThread();
    return;
  }
  std::future<void> done = std::async(std::launch::async, work);
  std::optional<py::error_already_set> interrupt;
  while (true) {
    {
      const py::gil_scoped_release release;
      if (done.wait_for(kSignalPoll) == std::future_status::ready) break;
    }
    if (!interrupt && PyErr_CheckSignals() != 0) {
      interrupt.emplace();  // takes the error: callbacks run Python until the work has ended
      stop.request_stop();
    }
  }
  if (interrupt) throw py::error_already_set(*interrupt);
  done.get();  // no memory, if anything
}

bool NetworkIsLost() {
  return network_is_lost;
}

void UseNetwork() {
  // Once for the process: where the last client ends, gRPC may wait 10 s for what it has not freed.
  if (!network_is_used) grpc_init();
  network_is_used = true;
  if (!network_is_lost) return;
  Raise(absl::FailedPreconditionError(
      "client: this process was forked from one that had used a client already, which gRPC does "
      "not survive; start processes with multiprocessing's \"spawn\" or \"forkserver\""));
}

absl::Duration Seconds(const char* argument, double seconds) {
  if (!(seconds >= 0)) {
    Raise(absl::InvalidArgumentError(
        absl::StrCat(argument, ": got ", seconds, ", need seconds from 0 on, or None")));
  }
  return absl::Seconds(seconds);
}

absl::Duration Deadline(std::optional<double> seconds, absl::Duration otherwise) {
  if (!seconds) return otherwise;
  return std::max(Seconds("deadline", *seconds), absl::Nanoseconds(1));
}

void BindCancellation(py::module_& module) {
  py::class_<Cancellation>(module, "_Cancellation",
                           "Ends the calls of the thread that has entered it.")
      .def(py::init())
      .def("cancel", &Cancellation::Cancel)
      .def("__enter__", &Cancellation::Enter)
      .def("__exit__", [](Cancellation& self, const py::args&) { self.Leave(); });
  py::module_::import("atexit").attr("register")(py::cpp_function(EndCalls));
  py::module_::import("os").attr("register_at_fork")(py::arg("after_in_child") =
                                                         py::cpp_function([] {
                                                           calls = new Calls;
                                                           network_is_lost = network_is_used;
                                                         }));
}

}  // namespace sinew::python
