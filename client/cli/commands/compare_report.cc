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

std::string Percent(const std::optional<double>& value) {
  return value ? absl::StrFormat("%.2f %%", 100 * *value) : "-";
}

std::string Plain(const std::optional<double>& value) {
  return value ? absl::StrFormat("%.4f", *value) : "-";
}

template <class T>
nlohmann::ordered_json OrNull(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

nlohmann::ordered_json MetricsJson(const client::FrameMetrics& m) {
  return {{"volume_ratio", OrNull(m.volume_ratio)},
          {"minimum_thickness", OrNull(m.minimum_thickness)},
          {"bulge", OrNull(m.bulge)},
          {"edge_distortion", OrNull(m.edge_distortion)},
          {"worst_edge", OrNull(m.worst_edge)},
          {"area_distortion", OrNull(m.area_distortion)},
          {"flipped_fraction", OrNull(m.flipped_fraction)},
          {"flipped_beyond_linear", OrNull(m.flipped_beyond_linear)},
          {"self_intersections", OrNull(m.self_intersections)},
          {"overlap", OrNull(m.overlap)},
          {"roughness", OrNull(m.roughness)},
          {"roughness_999", OrNull(m.roughness_999)},
          {"rough_fraction", OrNull(m.rough_fraction)},
          {"jerk", OrNull(m.jerk)},
          {"pop", OrNull(m.pop)},
          {"pop_999", OrNull(m.pop_999)},
          {"evaluate_seconds", m.evaluate_seconds}};
}

}  // namespace

std::string CompareText(const bake::CharacterFile& character, const client::ClipData& clip,
                        const std::vector<ComparedMethod>& methods) {
  using enum Table::Align;
  Table table({{"method"},
               {"volume", kRight},
               {"thickness", kRight},
               {"bulge", kRight},
               {"edges rms", kRight},
               {"areas rms", kRight},
               {"flipped", kRight},
               {"beyond lbs", kRight},
               {"crossings", kRight},
               {"overlap", kRight},
               {"roughness", kRight},
               {"over 1", kRight},
               {"jerk", kRight},
               {"pop", kRight},
               {"ms/frame", kRight}});
  for (const auto& [label, metrics] : methods) {
    const client::FrameMetrics& worst = metrics.worst;
    table.Add({label, Percent(worst.volume_ratio), Percent(worst.minimum_thickness),
               Percent(worst.bulge), Plain(worst.edge_distortion), Plain(worst.area_distortion),
               Percent(worst.flipped_fraction), Percent(worst.flipped_beyond_linear),
               worst.self_intersections ? bake::CountText(*worst.self_intersections) : "-",
               worst.overlap ? absl::StrFormat("%.3f %%", 100 * *worst.overlap) : "-",
               worst.roughness ? absl::StrFormat("%.2f", *worst.roughness) : "-",
               worst.rough_fraction ? absl::StrFormat("%.3f %%", 100 * *worst.rough_fraction) : "-",
               worst.jerk ? absl::StrFormat("%.4g", *worst.jerk) : "-",
               worst.pop ? absl::StrFormat("%.4f", *worst.pop) : "-",
               absl::StrFormat("%.3f", 1000 * metrics.mean.evaluate_seconds)});
  }
  return absl::StrCat(
      character.label, ", ", bake::CountText(character.rig.vertices()), " vertices, ", clip.name,
      ", ", clip.frames,
      clip.frames == 1 ? " frame" : " frames; worst frame shown, ms/frame is the mean", "\n\n",
      table.Text());
}

nlohmann::ordered_json CompareJson(const bake::CharacterFile& character,
                                   const client::ClipData& clip,
                                   const std::vector<ComparedMethod>& methods) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& [label, metrics] : methods) {
    nlohmann::ordered_json frames = nlohmann::ordered_json::array();
    for (const client::FrameMetrics& frame : metrics.frames) {
      nlohmann::ordered_json row = {{"frame", ClipFrame(clip, frame.frame)}};
      row.update(MetricsJson(frame));
      frames.push_back(std::move(row));
    }
    list.push_back({{"deformer", label},
                    {"determinism_digest", metrics.determinism_digest},
                    {"bind_seconds", metrics.bind_seconds},
                    {"bound_bytes", metrics.bound_bytes},
                    {"worst", MetricsJson(metrics.worst)},
                    {"mean", MetricsJson(metrics.mean)},
                    {"frames", std::move(frames)}});
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
