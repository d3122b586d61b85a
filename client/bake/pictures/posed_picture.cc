#include "client/bake/pictures/posed_picture.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "client/bake/base/errors.h"
#include "client/render/camera.h"
#include "client/render/colour_ramp.h"
#include "client/render/ellipsoids.h"
#include "client/render/panels.h"
#include "client/render/render.h"
#include "client/rig/rest_pose.h"
#include "core/base/status.h"

namespace sinew::bake {
namespace {

constexpr std::size_t kShortLabel = 24;  // longer ones are not repeated in notes

// [V] distances between equal vertices.
std::vector<float> Distances(std::span<const float> a, std::span<const float> b) {
  std::vector<float> distances;
  distances.reserve(a.size() / 3);
  for (std::size_t k = 0; k + 2 < a.size(); k += 3) {
    distances.push_back(static_cast<float>(
        std::hypot(double{a[k]} - b[k], double{a[k + 1]} - b[k + 1], double{a[k + 2]} - b[k + 2])));
  }
  return distances;
}

double Largest(std::span<const float> values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

// The next number of two digits at most that reads well.
double RoundUp(double value) {
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double step : {1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0}) {
    if (value <= step * power * (1 + 1e-9)) return step * power;
  }
  return 10 * power;
}

double DiagonalOf(const std::vector<PosedPanel>& panels, const PictureOptions& options) {
  return options.diagonal > 0 ? options.diagonal : client::BoxDiagonal(panels[0].positions);
}

std::string NoteOf(const std::vector<PosedPanel>& panels, const PictureOptions& options,
                   std::size_t k) {
  if (k == 0 || !panels[k].note.empty()) return panels[k].note;
  const double diagonal = DiagonalOf(panels, options);
  const double part =
      diagonal > 0 ? Largest(Distances(panels[k].positions, panels[0].positions)) / diagonal : 0;
  const std::string& first = panels[0].label;
  return absl::StrFormat("up to %.3g %% of the size from %s", part * 100,
                         first.size() <= kShortLabel ? first : std::string("the first"));
}

}  // namespace

void ColourByDistance(std::vector<PosedPanel>& panels, PictureOptions& options) {
  if (panels.size() < 2) return;
  const double diagonal = DiagonalOf(panels, options);
  const double percent = diagonal > 0 ? 100 / diagonal : 0;
  std::vector<std::vector<float>> distances;
  double largest = 0;
  for (std::size_t k = 1; k < panels.size(); ++k) {
    distances.push_back(Distances(panels[k].positions, panels[0].positions));
    largest = std::max(largest, Largest(distances.back()) * percent);
  }
  constexpr double kEqual = 1e-4;  // percent; below it the methods agree
  const double high = RoundUp(std::max(largest, kEqual));
  for (std::size_t k = 1; k < panels.size(); ++k) {
    for (float& d : distances[k - 1]) d = static_cast<float>(d * percent);
    panels[k].colours = client::RampColours(distances[k - 1], high);
  }
  options.legend = client::Legend{
      .title = absl::StrCat("Distance from ", panels[0].label, ", % of the bounding-box diagonal"),
      .low = "0 %",
      .high = absl::StrFormat("%g %%", high)};
}

absl::StatusOr<client::Image> DrawPanels(const client::RigData& rig,
                                         const std::vector<PosedPanel>& panels,
                                         const PictureOptions& options) {
  SINEW_RETURN_IF_ERROR(client::CheckPanels(panels.size(), options.width, options.height));
  std::vector<std::span<const float>> points;
  for (const PosedPanel& panel : panels) points.emplace_back(panel.positions);
  client::Framing framing = options.framing;
  framing.up = rig.up_axis;
  framing.aspect = static_cast<double>(options.width) / options.height;
  SINEW_ASSIGN_OR_RETURN(const client::Camera camera, client::FrameMeshes(points, framing));
  client::RenderOptions render;
  render.width = options.width;
  render.height = options.height;
  render.wire = options.wire;
  const client::Mesh faces = client::MergedMesh(rig);
  std::vector<std::int32_t> parents;
  for (const client::Joint& joint : rig.joints) parents.push_back(joint.parent);
  std::vector<client::Panel> drawn;
  bool inside_out = false;
  for (std::size_t k = 0; k < panels.size(); ++k) {
    client::MeshView view;
    view.positions = panels[k].positions;
    view.colours = panels[k].colours;
    view.face_sizes = faces.face_sizes;
    view.face_vertices = faces.face_vertices;
    client::Ellipsoids inside = client::DrawMuscles(panels[k].muscles);
    const bool has_muscles = !inside.positions.empty();
    client::AddBones(panels[k].joints, parents, client::BoxDiagonal(panels[k].positions), inside);
    render.inside = inside.View();
    bool seen = false;
    render.wrong_side_seen = &seen;
    if (options.progress) {
      render.progress = [&](double part) {
        return options.progress((static_cast<double>(k) + part) /
                                static_cast<double>(panels.size()));
      };
    }
    absl::StatusOr<client::Image> image = client::Render(view, camera, render);
    if (absl::IsCancelled(image.status())) return image.status();
    if (!image.ok()) return Prefixed(panels[k].label, image.status());
    inside_out |= seen;
    drawn.push_back(
        {*std::move(image), panels[k].label, NoteOf(panels, options, k), panels[k].swatches});
    if (!panels[k].joints.empty()) drawn.back().swatches.push_back({client::kBoneColour, "bones"});
    if (has_muscles) {
      drawn.back().swatches.push_back(
          {client::kMuscleColour, absl::StrCat("muscles ", panels[k].muscles.size())});
    }
  }
  client::PanelOptions layout;
  layout.title = options.title;
  layout.legend = options.legend;
  if (inside_out) {
    layout.swatches.push_back({client::kWrongSideColour, "inside of the surface"});
  }
  return client::ComposePanels(drawn, layout);
}

}  // namespace sinew::bake
