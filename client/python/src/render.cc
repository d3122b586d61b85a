// Pictures of posed rigs.
#include <absl/strings/str_cat.h>
#include <pybind11/stl.h>

#include <stop_token>
#include <utility>
#include <vector>

#include "client/bake/pictures/posed_picture.h"
#include "client/python/src/arrays.h"
#include "client/python/src/bindings.h"
#include "client/python/src/blocking.h"
#include "client/python/src/errors.h"
#include "client/render/render.h"

namespace py = pybind11;
using namespace py::literals;

namespace sinew::python {
namespace {

std::uint32_t Side(const char* name, std::int64_t value) {
  if (value >= 16 && value <= client::kMaxRenderSide) return static_cast<std::uint32_t>(value);
  Raise(absl::InvalidArgumentError(
      absl::StrCat(name, ": got ", value, ", need 16 to ", client::kMaxRenderSide)));
}

double Within(const char* name, double value, double low, double high) {
  if (value >= low && value <= high) return value;  // false for NaN
  Raise(absl::InvalidArgumentError(
      absl::StrCat(name, ": got ", value, ", need ", low, " to ", high)));
}

// [H, W, 3].
py::array Render(const Rig& rig, const py::object& frames, std::int64_t width, std::int64_t height,
                 double azimuth, double elevation, double zoom, const py::object& look_at,
                 bool heat_map, bool wire, py::object progress) {
  const Shape shape = {Size(rig.data().vertices()), 3};
  std::vector<bake::PosedPanel> panels;
  const auto add = [&](const std::string& label, const py::handle positions) {
    bake::PosedPanel& panel = panels.emplace_back();
    panel.label = label;
    panel.positions = Values(
        OfShape<FloatArray>({py::reinterpret_borrow<py::object>(positions), "frames"}, shape));
  };
  if (py::isinstance<py::dict>(frames)) {
    for (const auto& [label, frame] : py::cast<py::dict>(frames)) add(py::str(label), frame);
  } else {
    add("", frames);
  }
  std::stop_source stop;
  Callback report(std::move(progress), stop);
  bake::PictureOptions options;
  options.width = Side("width", width);
  options.height = Side("height", height);
  options.framing.azimuth = Within("azimuth", azimuth, -3600, 3600);
  options.framing.elevation = Within("elevation", elevation, -85, 85);
  options.framing.zoom = Within("zoom", zoom, 0.01, 1000);
  if (!look_at.is_none()) {
    const auto point = OfShape<DoubleArray>({look_at, "look_at"}, {3});
    client::Point& centre = options.framing.look_at.emplace();
    for (std::size_t i = 0; i < 3; ++i) centre[i] = Within("look_at", point.data()[i], -1e30, 1e30);
  }
  options.wire = wire;
  options.progress = [&](double fraction) {
    if (report) report(fraction);
    return !stop.stop_requested();
  };
  if (heat_map) bake::ColourByDistance(panels, options);
  auto image = Blocked(
      [&](const std::stop_token&) { return bake::DrawPanels(rig.data(), panels, options); }, stop);
  report.Rethrow();
  client::Image drawn = Value(std::move(image));
  const Shape size = {Size(drawn.height), Size(drawn.width), 3};
  return Owned(std::move(drawn.rgb), size);
}

}  // namespace

void BindRender(py::module_& module) {
  module.def(
      "render", Render, "rig"_a, "frames"_a, py::kw_only(), "width"_a = 800, "height"_a = 800,
      "azimuth"_a = 35.0, "elevation"_a = 14.0, "zoom"_a = 1.0, "look_at"_a = py::none(),
      "heat_map"_a = false, "wire"_a = false, "progress"_a = py::none(),
      R"(Draws posed characters without GPU or display; returns (H, W, 3) uint8 sRGB, all panels with
their labels.

frames: positions (V, 3), a Frame, or a dict of labels to either: one panel each, side by side.
width, height: pixels of each panel. azimuth, elevation: degrees; 0, 0 looks at the front.
look_at: (x, y, z) in model space at the centre of the picture, or None for the whole character.
heat_map: colours every panel but the first by its distance from the first. wire: also draws edges.
progress: called with a number from 0 to 1.)");
}

}  // namespace sinew::python
