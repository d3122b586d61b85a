// blocking.h - calls of the client library that wait: without the GIL, and interruptible.
#pragma once

#include <absl/time/time.h>
#include <pybind11/pybind11.h>

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

namespace sinew::python {

// Runs `work` without the GIL. On the main thread, where Python handles signals, it runs in another
// thread meanwhile: Ctrl-C requests the stop and is raised once `work` has returned. `work` uses
// Python through Callback only. So does a Cancellation that is entered, and the end of the
// interpreter, which waits for `work`: its thread could not take the GIL again. After that, other
// threads than the main one end (SystemExit), and the main one raises kCancelled.
//    brief  `work` does not wait: it stays in this thread, and Ctrl-C comes after it
void Block(std::stop_source stop, const std::function<void()>& work, bool brief = false);

// Block for work that takes the token and returns something.
template <class Work>
auto Blocked(const Work& work, const std::stop_source& stop = std::stop_source(),
             bool brief = false) {
  std::optional<decltype(work(stop.get_token()))> result;
  Block(
      stop, [&] { result.emplace(work(stop.get_token())); }, brief);
  return *std::move(result);
}

// gRPC does not survive a fork: in the child of a process that has used it, its threads are not
// there, and what waits for them waits for ever.
//
// Whether this process is such a child.
bool NetworkIsLost();
// Before gRPC is used. kFailedPrecondition in such a child.
void UseNetwork();

// Owns a value that uses gRPC. In such a child it is never deleted.
template <class T>
std::shared_ptr<T> Shared(T* value) {
  return std::shared_ptr<T>(value, [](T* last) {
    if (!NetworkIsLost()) delete last;
  });
}

// A handle to the calls of a thread that another thread ends; _Cancellation in Python. As a context
// manager it applies to the calls of the thread that has entered it.
void BindCancellation(pybind11::module_& module);

// Default of the deadline for opening a stream or a watch.
inline constexpr double kOpeningSeconds = 30;

// ValueError that names the argument if it is no time to wait.
absl::Duration Seconds(const char* argument, double seconds);
// The deadline of a call, which is not 0; `otherwise` for None. Errors as Seconds.
absl::Duration Deadline(std::optional<double> seconds, absl::Duration otherwise);

// A Python function that `work` may call from any thread: takes the GIL. Once it has raised, it is
// not called again, and the stop is requested.
class Callback {
 public:
  Callback(pybind11::object function, std::stop_source stop)
      : function_(std::move(function)), stop_(std::move(stop)) {}

  explicit operator bool() const { return !function_.is_none(); }

  template <class... Arguments>
  void operator()(const Arguments&... arguments) {
    const pybind11::gil_scoped_acquire gil;
    if (error_) return;
    try {
      function_(arguments...);
    } catch (pybind11::error_already_set& error) {
      error_ = error;
      stop_.request_stop();
    }
  }

  // With the GIL, after the work: raises what the function has raised.
  void Rethrow() const {
    if (error_) throw pybind11::error_already_set(*error_);
  }

 private:
  pybind11::object function_;
  std::stop_source stop_;
  std::optional<pybind11::error_already_set> error_;
};

}  // namespace sinew::python
