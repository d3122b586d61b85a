// Pictures of posed rigs.
#include <absl/strings/str_cat.h>
#include <pybind11/stl.h>

#include <optional>
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

using NamedPositions = std::vector<std::pair<std::string, FloatArray>>;

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
py::array Render(const Rig& rig, const NamedPositions& frames, std::int64_t width,
                 std::int64_t height, double azimuth, double elevation, double zoom,
                 const std::optional<DoubleArray>& look_at, bool heat_map, bool wire,
                 py::object progress) {
  const auto vertices = Size(rig.data().vertices());
  std::vector<bake::PosedPanel> panels;
  for (const auto& [label, positions] : frames) {
    if (positions.ndim() != 2 || positions.shape(0) != vertices || positions.shape(1) != 3) {
      RaiseShape("frames", positions, absl::StrCat("(", vertices, ", 3)"));
    }
    const std::span<const float> points = Floats(positions);
    bake::PosedPanel& panel = panels.emplace_back();
    panel.label = label;
    panel.positions.assign(points.begin(), points.end());
  }
  std::stop_source stop;
  Callback report(std::move(progress), stop);
  bake::PictureOptions options;
  options.width = Side("width", width);
  options.height = Side("height", height);
  options.framing.azimuth = Within("azimuth", azimuth, -3600, 3600);
  options.framing.elevation = Within("elevation", elevation, -85, 85);
  options.framing.zoom = Within("zoom", zoom, 0.01, 1000);
  if (look_at) {
    if (look_at->ndim() != 1 || look_at->size() != 3) RaiseShape("look_at", *look_at, "(3,)");
    client::Point& centre = options.framing.look_at.emplace();
    for (std::size_t i = 0; i < 3; ++i)
      centre[i] = Within("look_at", look_at->data()[i], -1e30, 1e30);
  }
  options.wire = wire;
  options.progress = [&](double fraction) {
    if (report) report(fraction);
    return !stop.stop_requested();
  };
  if (heat_map) bake::ColourByDistance(panels, options);
  absl::StatusOr<client::Image> image = absl::UnknownError("not run");
  Block(stop, [&] { image = bake::DrawPanels(rig.data(), panels, options); });
  report.Rethrow();
  client::Image drawn = Value(std::move(image));
  const Shape shape = {Size(drawn.height), Size(drawn.width), 3};
  return Owned(std::move(drawn.rgb), shape);
}

}  // namespace

void BindRender(py::module_& module) {
  module.def("_render", Render, "rig"_a, "frames"_a, "width"_a, "height"_a, "azimuth"_a,
             "elevation"_a, "zoom"_a, "look_at"_a, "heat_map"_a, "wire"_a, "progress"_a,
             R"(sinew.render, which calls it with a list of pairs instead of a dict.

frames: [(label, (V, 3) float32)]. look_at: (x, y, z) in model space at the centre of the picture, or
None for the whole character. wire: also draws edges. progress: called with a number from 0 to 1.)");
}

}  // namespace sinew::python
