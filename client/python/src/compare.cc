// Quality metrics of several characters over the same poses.
#include <absl/strings/str_cat.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "client/python/src/arrays.h"
#include "client/python/src/blocking.h"
#include "client/python/src/character.h"
#include "client/python/src/errors.h"

namespace py = pybind11;
using namespace py::literals;

namespace sinew::python {
namespace {

struct Metric {
  const char* name;
  std::optional<double> (*of)(const client::FrameMetrics&);
};

std::optional<double> Number(const std::optional<std::uint64_t>& count) {
  return count ? std::optional(static_cast<double>(*count)) : std::nullopt;
}

constexpr Metric kMetrics[] = {
    {"evaluate_seconds", [](const auto& m) { return std::optional(m.evaluate_seconds); }},
    {"volume_ratio", [](const auto& m) { return m.volume_ratio; }},
    {"minimum_thickness", [](const auto& m) { return m.minimum_thickness; }},
    {"bulge", [](const auto& m) { return m.bulge; }},
    {"edge_distortion", [](const auto& m) { return m.edge_distortion; }},
    {"worst_edge", [](const auto& m) { return m.worst_edge; }},
    {"area_distortion", [](const auto& m) { return m.area_distortion; }},
    {"flipped_fraction", [](const auto& m) { return m.flipped_fraction; }},
    {"flipped_beyond_linear", [](const auto& m) { return m.flipped_beyond_linear; }},
    {"self_intersections", [](const auto& m) { return Number(m.self_intersections); }},
    {"overlap", [](const auto& m) { return m.overlap; }},
    {"roughness", [](const auto& m) { return m.roughness; }},
    {"roughness_999", [](const auto& m) { return m.roughness_999; }},
    {"rough_fraction", [](const auto& m) { return m.rough_fraction; }},
    {"jerk", [](const auto& m) { return m.jerk; }},
    {"pop", [](const auto& m) { return m.pop; }},
    {"pop_999", [](const auto& m) { return m.pop_999; }},
};

py::dict Summary(const client::FrameMetrics& metrics) {
  py::dict summary;
  for (const Metric& metric : kMetrics) summary[metric.name] = metric.of(metrics);
  return summary;
}

py::dict Columns(const std::vector<client::FrameMetrics>& frames) {
  py::dict columns;
  for (const Metric& metric : kMetrics) {
    std::vector<double> values;
    for (const auto& frame : frames) {
      values.push_back(metric.of(frame).value_or(std::numeric_limits<double>::quiet_NaN()));
    }
    columns[metric.name] = Owned(std::move(values), {Size(frames.size())});
  }
  return columns;
}

py::list Compare(const std::vector<std::shared_ptr<BoundCharacter>>& characters, const Poses& poses,
                 bool self_intersections, py::object progress) {
  std::vector<client::Character> bound;
  std::vector<std::shared_ptr<cli::LocalService>> services;
  for (const auto& character : characters) {
    services.push_back(character->connection->Get());
    bound.push_back(character->bound);
  }
  if (bound.empty()) Raise(absl::InvalidArgumentError("characters: got none, need one or more"));
  std::vector<double> times;
  const client::ClipPoses sent = SentClip(*characters[0], *poses.clip, times);
  std::stop_source stop;
  Callback report(std::move(progress), stop);
  client::CompareOptions options{
      .frames_per_second = poses.clip->fps / static_cast<double>(poses.clip->step),
      .self_intersections = self_intersections};
  if (report) {
    options.progress = [&](std::size_t done, std::size_t total) {
      report(static_cast<double>(done) / static_cast<double>(total));
    };
  }
  auto compared = Blocked(
      [&](const std::stop_token& token) {
        return client::Character::Compare(bound, sent, options,
                                          {.deadline = absl::InfiniteDuration(), .stop = token});
      },
      stop);
  report.Rethrow();
  py::list rows;
  for (const client::TargetMetrics& target : Value(std::move(compared))) {
    if (!target.problems.empty()) Check(target.problems.front().problem);
    rows.append(py::dict("frames"_a = Columns(target.frames), "mean"_a = Summary(target.mean),
                         "worst"_a = Summary(target.worst), "bind_seconds"_a = target.bind_seconds,
                         "bound_bytes"_a = target.bound_bytes,
                         "determinism_digest"_a = target.determinism_digest));
  }
  return rows;
}

}  // namespace

void BindCompare(py::module_& module) {
  module.def("compare", Compare, "characters"_a, "poses"_a, py::kw_only(),
             "self_intersections"_a = true, "progress"_a = py::none(),
             R"(Measures the skin of characters of one rig, on one server, over the same poses.

Returns a dict for each: "frames" has arrays (F,), "mean" and "worst" one number, of volume_ratio,
minimum_thickness, bulge, edge_distortion, worst_edge, area_distortion, flipped_fraction,
flipped_beyond_linear, self_intersections, overlap, roughness, roughness_999, rough_fraction, jerk, pop,
pop_999 and evaluate_seconds; besides them bind_seconds, bound_bytes and determinism_digest. Ratios are relative to the rest mesh. What is not
defined for a mesh or a frame is NaN in arrays, else None. self_intersections: also measure the two
slow ones, these and overlap.)");
}

}  // namespace sinew::python
