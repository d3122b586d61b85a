// Deformed frames.
#include <absl/strings/str_cat.h>
#include <pybind11/stl.h>

#include <cstddef>
#include <cstring>

#include "client/python/src/arrays.h"
#include "client/python/src/bindings.h"
#include "client/python/src/errors.h"
#include "core/base/counted_text.h"

namespace py = pybind11;

namespace sinew::python {
namespace {

using client::Attribute;

// A copy: frames arrive in pieces of some kilobytes.
py::array Positions(const client::FrameView& frame) {
  return Owned(Value(frame.Positions()), {Size(frame.vertices()), 3});
}

void CopyPositions(const client::FrameView& frame, const py::object& given) {
  py::array out = Numbers({given, "out"});
  if (!py::isinstance<py::array_t<float>>(given) ||
      ShapeOf(out) != Shape{Size(frame.vertices()), 3} || (out.flags() & py::array::c_style) == 0 ||
      !out.writeable()) {
    Raise(absl::InvalidArgumentError(
        absl::StrCat("out: need a writable, contiguous array of float32 and shape (",
                     frame.vertices(), ", 3)")));
  }
  auto* const data = static_cast<float*>(out.mutable_data());
  const std::size_t size = static_cast<std::size_t>(out.size());
  absl::Status status;
  {
    const py::gil_scoped_release release;
    status = frame.CopyPositions({data, size});
  }
  Check(status);
}

bool Has(const client::FrameView& frame, Attribute attribute) {
  return frame.encoding(attribute) != client::Encoding::kUnspecified;
}

py::object Normals(const client::FrameView& frame) {
  if (!Has(frame, Attribute::kNormals)) return py::none();
  std::vector<float> normals(frame.vertices() * 3);
  Check(frame.CopyNormals(normals));
  return Owned(std::move(normals), {Size(frame.vertices()), 3});
}

py::object Tangents(const client::FrameView& frame) {
  if (!Has(frame, Attribute::kTangents)) return py::none();
  std::vector<float> tangents(frame.vertices() * 4);
  Check(frame.CopyTangents(tangents));
  return Owned(std::move(tangents), {Size(frame.vertices()), 4});
}

py::object Status(const client::FrameView& frame) {
  if (!Has(frame, Attribute::kVertexStatus)) return py::none();
  std::vector<client::VertexStatus> status(frame.vertices());
  Check(frame.CopyVertexStatus(status));
  std::vector<std::uint8_t> numbers(status.size());
  std::memcpy(numbers.data(), status.data(), status.size());
  return Owned(std::move(numbers), {Size(frame.vertices())});
}

}  // namespace

void BindFrame(py::module_& module) {
  py::class_<client::FrameView> type(
      module, "Frame",
      "The deformed vertices of one pose. numpy.asarray(frame) has its positions.");
  OnlyFromFunctions(type);
  type.def_property_readonly("number", &client::FrameView::frame, "Number of its pose.")
      .def_property_readonly("time", &client::FrameView::time,
                             "Seconds; 0 if the pose had no time.")
      .def_property_readonly("num_vertices", &client::FrameView::vertices,
                             "Number of vertices, over all meshes.")
      .def_property_readonly("positions", Positions,
                             "(V, 3) float32 in model space: a new array each time.")
      .def("copy_positions", CopyPositions, py::arg("out"),
           "Copies the positions into a contiguous float32 array of (V, 3).")
      .def_property_readonly("normals", Normals,
                             "(V, 3) float32, or None if they were not asked for.")
      .def_property_readonly("tangents", Tangents, "(V, 4) float32: x y z and handedness, or None.")
      .def_property_readonly("vertex_status", Status,
                             "(V,) uint8: how the projection of implicit skinning ended, or None.")
      .def_property_readonly(
          "bounds",
          [](const client::FrameView& frame) {
            const std::array<float, 6> bounds = frame.bounds();
            return Owned(std::vector<float>(bounds.begin(), bounds.end()), {2, 3});
          },
          "(2, 3) float32: lower and upper corner of the positions.")
      .def_property_readonly(
          "evaluate_seconds",
          [](const client::FrameView& frame) {
            return absl::ToDoubleSeconds(frame.timing().evaluate);
          },
          "Time of the deformation on the server.")
      .def_property_readonly("skipped", &client::FrameView::skipped,
                             "Latest streams: poses dropped since the frame before.")
      .def(
          "__array__",
          [](const client::FrameView& frame, const py::object& dtype, const py::object& copy) {
            return AsArray(Positions(frame), dtype, copy);
          },
          py::arg("dtype") = py::none(), py::arg("copy") = py::none())
      .def("__repr__", [](const client::FrameView& frame) {
        return absl::StrCat("<sinew.Frame ", frame.frame(), ", ",
                            CountedText(frame.vertices(), "vertex", "vertices"), ">");
      });
  type.attr("vertices") = type.attr("num_vertices");  // its name in 0.1, until the release after
}

}  // namespace sinew::python
