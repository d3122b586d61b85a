#include "client/bench/drive.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <thread>

#include "core/base/status.h"

namespace sinew::bench {
namespace {

struct Flight {
  Clock::time_point due, taken;
};

double Milliseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

// Copies the frame out, as a client does that uses it, and returns its size as it arrived.
absl::StatusOr<std::uint64_t> Decode(const client::FrameView& view, std::vector<float>& values) {
  values.resize(view.vertices() * 3);
  if (!view.bytes(client::Attribute::kPositions).empty()) {
    SINEW_RETURN_IF_ERROR(view.CopyPositions(values));
  }
  if (!view.bytes(client::Attribute::kNormals).empty()) {
    SINEW_RETURN_IF_ERROR(view.CopyNormals(values));
  }
  return view.received_bytes();
}

Sample SampleOf(const client::FrameView& view, const Flight& flight, Clock::time_point received,
                Clock::time_point decoded) {
  const client::FrameTiming timing = view.timing();
  const double queue = absl::ToDoubleMilliseconds(timing.queue),
               evaluate = absl::ToDoubleMilliseconds(timing.evaluate),
               encode = absl::ToDoubleMilliseconds(timing.encode),
               rest =
                   std::max(0.0, Milliseconds(received - flight.taken) - queue - evaluate - encode),
               send = std::min(rest, absl::ToDoubleMilliseconds(timing.previous_send) *
                                         static_cast<double>(view.chunks()));
  const std::array<double, kPartNames.size()> parts = {
      Milliseconds(flight.taken - flight.due), queue, evaluate, encode, send, rest - send,
      Milliseconds(decoded - received)};
  Sample sample{.latency = static_cast<float>(Milliseconds(decoded - flight.due))};
  std::ranges::transform(parts, sample.parts.begin(),
                         [](double x) { return static_cast<float>(x); });
  return sample;
}

}  // namespace

absl::StatusOr<Driven> Drive(client::Stream& stream, const DriveOptions& options) {
  const bool open_loop = options.period > Clock::duration::zero();
  // An open loop that is behind may catch up, but not for ever.
  const Clock::time_point give_up = options.end == Clock::time_point::max()
                                        ? options.end
                                        : options.end + (options.end - options.first);
  Driven driven;
  std::deque<Flight> flights;
  std::vector<float> values;
  Clock::time_point due = options.first;
  std::uint64_t sent = 0;
  bool more = true;
  while (true) {
    while (more && flights.size() < options.depth) {
      const Clock::time_point now = Clock::now();
      if (!open_loop && sent > 0) due = now;
      const bool late = now >= give_up && sent >= options.least;
      more = !options.stop.stop_requested() && !late && (due < options.end || sent < options.least);
      if (late && due < options.end) {
        driven.unsent =
            static_cast<std::uint64_t>((options.end - due - Clock::duration(1)) / options.period) +
            1;
      }
      if (!more || now < due) break;
      client::Pose pose = options.pose(++sent);
      pose.frame = 0;
      // Before Send, which writes: the server may have the pose before Send returns.
      flights.push_back({.due = due, .taken = Clock::now()});
      SINEW_RETURN_IF_ERROR(stream.Send(pose).status());
      due += options.period;
    }
    if (flights.empty()) {
      if (!more) return driven;
      std::this_thread::sleep_until(due);
      continue;
    }
    const bool waits = more && flights.size() < options.depth;  // for a pose that is due later
    const auto item = stream.Next(waits ? absl::FromChrono(due - Clock::now()) : options.patience);
    if (waits && absl::IsDeadlineExceeded(item.status())) continue;
    SINEW_RETURN_IF_ERROR(item.status());
    if (!*item) return absl::UnavailableError("the stream ended by itself");
    SINEW_RETURN_IF_ERROR((*item)->problem);
    const client::FrameView& view = (*item)->view;
    const Clock::time_point received = Clock::now();
    SINEW_ASSIGN_OR_RETURN(const std::uint64_t bytes, Decode(view, values));
    driven.last = Clock::now();
    driven.bytes += bytes;
    driven.samples.push_back(SampleOf(view, flights.front(), received, driven.last));
    flights.pop_front();
    if (options.check) {
      SINEW_RETURN_IF_ERROR(options.check(driven.samples.size(), view));
    }
  }
}

}  // namespace sinew::bench
