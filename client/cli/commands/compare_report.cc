#include "client/cli/commands/compare_report.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <nlohmann/json.hpp>

#include "client/bake/base/quantity.h"
#include "client/cli/base/table.h"

namespace sinew::cli {
namespace {

std::int64_t ClipFrame(const client::ClipData& clip, std::uint64_t number) {
  return clip.first_frame + static_cast<std::int64_t>(number - 1) * clip.step;
}

template <class T>
Cell Measured(const std::optional<T>& value, const std::string& text) {
  return value ? Cell(*value, text) : Cell(nullptr, "-");
}

Cell Percent(const std::optional<double>& value, int digits = 2) {
  return Measured(value, absl::StrFormat("%.*f %%", digits, 100 * value.value_or(0)));
}

Cell Plain(const std::optional<double>& value, int digits = 4) {
  return Measured(value, absl::StrFormat("%.*f", digits, value.value_or(0)));
}

// Rows of metrics: of `method` in text, of `frame` in JSON.
class Metrics {
 public:
  void Add(Cell frame, const std::string& method, const client::FrameMetrics& m,
           double mean_seconds = 0) {
    table_.Add({frame,
                method,
                Percent(m.volume_ratio),
                Percent(m.minimum_thickness),
                Percent(m.bulge),
                Plain(m.edge_distortion),
                Plain(m.worst_edge),
                Plain(m.area_distortion),
                Percent(m.flipped_fraction),
                Percent(m.flipped_beyond_linear),
                Measured(m.self_intersections, bake::CountText(m.self_intersections.value_or(0))),
                Percent(m.overlap, 3),
                Plain(m.roughness, 2),
                Plain(m.roughness_999),
                Percent(m.rough_fraction, 3),
                Measured(m.jerk, absl::StrFormat("%.4g", m.jerk.value_or(0))),
                Plain(m.pop),
                Plain(m.pop_999),
                Plain(m.evaluate_seconds),
                Plain(1000 * mean_seconds, 3)});
  }
  const Table& table() const { return table_; }

 private:
  Table table_{{{"", "frame"},
                {"method"},
                {"volume", "volume_ratio"},
                {"thickness", "minimum_thickness"},
                {"bulge", "bulge"},
                {"edges rms", "edge_distortion"},
                {"", "worst_edge"},
                {"areas rms", "area_distortion"},
                {"flipped", "flipped_fraction"},
                {"beyond lbs", "flipped_beyond_linear"},
                {"crossings", "self_intersections"},
                {"overlap", "overlap"},
                {"roughness", "roughness"},
                {"", "roughness_999"},
                {"over 1", "rough_fraction"},
                {"jerk", "jerk"},
                {"pop", "pop"},
                {"", "pop_999"},
                {"", "evaluate_seconds"},
                {"ms/frame"}}};
};

nlohmann::ordered_json MetricsJson(const client::FrameMetrics& metrics) {
  Metrics row;
  row.Add({}, "", metrics);
  return row.table().Json()[0];
}

}  // namespace

std::string CompareText(const bake::CharacterFile& character, const client::ClipData& clip,
                        const std::vector<ComparedMethod>& methods) {
  Metrics rows;
  for (const auto& [label, metrics] : methods) {
    rows.Add({}, label, metrics.worst, metrics.mean.evaluate_seconds);
  }
  return absl::StrCat(
      character.label, ", ", bake::CountText(character.rig.vertices()), " vertices, ", clip.name,
      ", ", clip.frames,
      clip.frames == 1 ? " frame" : " frames; worst frame shown, ms/frame is the mean", "\n\n",
      rows.table().Text());
}

nlohmann::ordered_json CompareJson(const bake::CharacterFile& character,
                                   const client::ClipData& clip,
                                   const std::vector<ComparedMethod>& methods) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& [label, metrics] : methods) {
    Metrics frames;
    for (const client::FrameMetrics& frame : metrics.frames) {
      frames.Add(Cell(ClipFrame(clip, frame.frame), ""), "", frame);
    }
    list.push_back({{"deformer", label},
                    {"determinism_digest", metrics.determinism_digest},
                    {"bind_seconds", metrics.bind_seconds},
                    {"bound_bytes", metrics.bound_bytes},
                    {"worst", MetricsJson(metrics.worst)},
                    {"mean", MetricsJson(metrics.mean)},
                    {"frames", frames.table().Json()}});
  }
  return {{"character", character.label},
          {"vertices", character.rig.vertices()},
          {"clip", clip.name},
          {"frames", clip.frames},
          {"first_frame", clip.first_frame},
          {"frame_step", clip.step},
          {"fps", clip.fps},
          {"methods", std::move(list)}};
}

std::size_t WorstFrame(const std::vector<ComparedMethod>& methods) {
  std::size_t worst = 0;
  double most = -1;
  for (const ComparedMethod& method : methods) {
    for (const client::FrameMetrics& frame : method.metrics.frames) {
      if (frame.edge_distortion.value_or(0) <= most) continue;
      most = frame.edge_distortion.value_or(0);
      worst = static_cast<std::size_t>(frame.frame - 1);
    }
  }
  return worst;
}

}  // namespace sinew::cli
