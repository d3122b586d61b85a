#include "client/python/src/blocking.h"

#include <absl/strings/str_cat.h>

#include <chrono>
#include <future>

#include "client/python/src/errors.h"

namespace py = pybind11;

namespace sinew::python {
namespace {

constexpr std::chrono::milliseconds kSignalPoll{50};

bool OnMainThread() {
  const py::module_ threading = py::module_::import("threading");
  return threading.attr("current_thread")().is(threading.attr("main_thread")());
}

}  // namespace

void Block(std::stop_source stop, const std::function<void()>& work) {
  if (!OnMainThread()) {
    const py::gil_scoped_release release;
    work();
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

absl::Duration Seconds(const char* argument, double seconds) {
  if (!(seconds >= 0)) {
    Raise(absl::InvalidArgumentError(
        absl::StrCat(argument, ": got ", seconds, ", need seconds from 0 on, or None")));
  }
  return absl::Seconds(seconds);
}

}  // namespace sinew::python
