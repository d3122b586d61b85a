// Watching a stream that another client publishes.
#include <absl/strings/str_cat.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "client/python/src/bindings.h"
#include "client/python/src/blocking.h"
#include "client/python/src/errors.h"

namespace py = pybind11;
using namespace py::literals;

namespace sinew::python {
namespace {

// `service` keeps a server of this process alive while its stream is watched.
struct WatchedStream {
  std::shared_ptr<void> service;
  client::Watch watch;
};

std::shared_ptr<WatchedStream> WatchStream(const Connection& connection, const std::string& name,
                                           std::optional<double> deadline) {
  const absl::Duration limit = Deadline(deadline, absl::ZeroDuration());
  const auto service = connection.Get();
  auto watch = Value(Blocked([&](const std::stop_token& stop) {
    return service->client.WatchStream(name, {.deadline = limit, .stop = stop});
  }));
  return Shared(new WatchedStream{service, std::move(watch)});
}

absl::StatusOr<client::FrameView> NextWatched(WatchedStream& stream,
                                              std::optional<double> timeout) {
  UseNetwork();
  const absl::Duration limit = timeout ? Seconds("timeout", *timeout) : absl::InfiniteDuration();
  return Blocked(
      [&](const std::stop_token& stop) {
        const std::stop_callback cancel(stop, [&] { stream.watch.Cancel(); });
        return stream.watch.Next(limit);
      },
      std::stop_source(), limit == absl::ZeroDuration());
}

void EndWatch(WatchedStream& stream) {
  if (!NetworkIsLost()) stream.watch.Cancel();
}

}  // namespace

void BindWatch(py::module_& module, py::class_<Connection, std::shared_ptr<Connection>>& client) {
  py::class_<WatchedStream, std::shared_ptr<WatchedStream>> type(
      module, "Watch",
      R"(The frames of a stream that another client publishes. From Client.watch().

with client.watch("hero") as hero:
    for frame in hero:                  # until the publisher ends
        show(frame.positions)

The newest frame comes first; later frames that arrive while the caller is busy are left out, and
Frame.skipped counts them.)");
  OnlyFromFunctions(type);
  type.def(
          "next",
          [](WatchedStream& stream, std::optional<double> timeout) {
            return Value(NextWatched(stream, timeout));
          },
          "timeout"_a = py::none(),
          "Waits for a frame. Raises Timeout after `timeout` seconds, after which the watch "
          "continues, and Unavailable with the reason PUBLISHER_ENDED once the stream has ended.")
      .def("cancel", EndWatch, "Ends the watch at once, from any thread: next() raises.")
      .def_property_readonly(
          "rig", [](const WatchedStream& stream) { return stream.watch.info().rig; },
          "rigs/sha256-... of the publisher.")
      .def_property_readonly(
          "recipe", [](const WatchedStream& stream) { return stream.watch.info().recipe; },
          "Recipe of the publisher: text or JSON.")
      .def("__iter__", [](std::shared_ptr<WatchedStream> stream) { return stream; })
      .def("__next__",
           [](WatchedStream& stream) {
             absl::StatusOr<client::FrameView> frame = NextWatched(stream, std::nullopt);
             if (client::Details(frame.status()).reason == "PUBLISHER_ENDED") {
               throw py::stop_iteration();
             }
             return Value(std::move(frame));
           })
      .def("__enter__", [](std::shared_ptr<WatchedStream> stream) { return stream; })
      .def("__exit__", [](WatchedStream& stream, const py::args&) { EndWatch(stream); });
  client.def(
      "watch", WatchStream, "name"_a, py::kw_only(), "deadline"_a = kOpeningSeconds,
      "Follows the stream that another client of the same tenant has opened on this server "
      "with Character.stream(publish=name). Raises NotFound if none is open now, and Timeout if "
      "the server does not answer within `deadline` seconds; None: that of the client.");
}

}  // namespace sinew::python
