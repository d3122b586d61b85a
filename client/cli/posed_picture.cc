#include "client/cli/posed_picture.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "client/cli/exit_code.h"
#include "client/cpp/status_macros.h"
#include "client/render/camera.h"
#include "client/render/panels.h"
#include "client/render/render.h"

namespace sinew::cli {
namespace {

// The faces of all meshes on one vertex numbering.
struct Faces {
  std::vector<std::uint32_t> sizes, vertices;
};

Faces MergedFaces(const client::RigData& rig) {
  Faces faces;
  std::uint32_t offset = 0;
  for (const client::Mesh& mesh : rig.meshes) {
    if (mesh.face_sizes.empty()) {
      faces.sizes.insert(faces.sizes.end(), mesh.face_vertices.size() / 3, 3);
    } else {
      faces.sizes.insert(faces.sizes.end(), mesh.face_sizes.begin(), mesh.face_sizes.end());
    }
    for (const std::uint32_t vertex : mesh.face_vertices) faces.vertices.push_back(vertex + offset);
    offset += static_cast<std::uint32_t>(mesh.vertices());
  }
  return faces;
}

double Diagonal(std::span<const float> positions) {
  std::array<double, 3> low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};
  for (std::size_t k = 0; k < positions.size(); ++k) {
    low[k % 3] = std::min<double>(low[k % 3], positions[k]);
    high[k % 3] = std::max<double>(high[k % 3], positions[k]);
  }
  return std::hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
}

// The largest distance between equal vertices.
double Difference(std::span<const float> a, std::span<const float> b) {
  double largest = 0;
  for (std::size_t k = 0; k + 2 < a.size(); k += 3) {
    largest = std::max(largest, std::hypot(double{a[k]} - b[k], double{a[k + 1]} - b[k + 1],
                                           double{a[k + 2]} - b[k + 2]));
  }
  return largest;
}

std::string NoteOf(const std::vector<PosedPanel>& panels, std::size_t k) {
  if (k == 0) return {};
  const double diagonal = Diagonal(panels[0].positions);
  const double part =
      diagonal > 0 ? Difference(panels[k].positions, panels[0].positions) / diagonal : 0;
  return absl::StrFormat("up to %.3g %% of the size from %s", part * 100, panels[0].label);
}

double Radians(double degrees) {
  return degrees * std::numbers::pi / 180;
}

}  // namespace

absl::StatusOr<client::Image> DrawPanels(const client::RigData& rig,
                                         const std::vector<PosedPanel>& panels,
                                         const PictureOptions& options) {
  std::vector<std::span<const float>> points;
  for (const PosedPanel& panel : panels) points.emplace_back(panel.positions);
  client::Framing framing;
  framing.up = rig.up_axis;
  framing.azimuth = Radians(options.azimuth);
  framing.elevation = Radians(options.elevation);
  framing.aspect = static_cast<double>(options.width) / options.height;
  SINEW_ASSIGN_OR_RETURN(const client::Camera camera, client::FrameMeshes(points, framing));
  client::RenderOptions render;
  render.width = options.width;
  render.height = options.height;
  render.wire = options.wire;
  const Faces faces = MergedFaces(rig);
  std::vector<client::Panel> drawn;
  for (std::size_t k = 0; k < panels.size(); ++k) {
    client::MeshView view;
    view.positions = panels[k].positions;
    view.face_sizes = faces.sizes;
    view.face_vertices = faces.vertices;
    absl::StatusOr<client::Image> image = client::Render(view, camera, render);
    if (!image.ok()) return Prefixed(panels[k].label, image.status());
    drawn.push_back({*std::move(image), panels[k].label, NoteOf(panels, k)});
  }
  client::PanelOptions layout;
  layout.title = options.title;
  return client::ComposePanels(drawn, layout);
}

}  // namespace sinew::cli
