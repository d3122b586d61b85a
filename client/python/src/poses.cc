// Clips and poses.
#include <absl/strings/str_cat.h>
#include <pybind11/stl.h>

#include <cmath>
#include <optional>
#include <utility>

#include "client/python/src/arrays.h"
#include "client/python/src/bindings.h"
#include "client/python/src/errors.h"
#include "core/base/counted_text.h"

namespace py = pybind11;
using namespace py::literals;

namespace sinew::python {
namespace {

struct Clip {
  Rig rig;
  std::size_t index = 0;

  const client::ClipInfo& info() const { return rig.file->clips[index]; }
};

Poses SamplePoses(const Clip& clip, double fps, std::int64_t first,
                  const std::optional<std::int64_t>& last, std::int64_t step) {
  bake::MotionRequest request;
  request.clip = clip.info().name;
  if (!std::isfinite(fps) || fps < 0.001 || fps > 100'000) {
    Raise(absl::InvalidArgumentError(absl::StrCat("fps: got ", fps, ", need 0.001 to 100000")));
  }
  if (first < 0 || step < 1 || (last && *last < first)) {
    Raise(absl::InvalidArgumentError("first, last, step: need 0 <= first <= last and step >= 1"));
  }
  request.fps = fps;
  request.frames.ranges = {
      {.first = static_cast<double>(first), .step = static_cast<double>(step)}};
  if (last) request.frames.ranges[0].last = static_cast<double>(*last);
  absl::StatusOr<client::ClipData> sampled = absl::UnknownError("not sampled");
  {
    const py::gil_scoped_release release;
    sampled = bake::ReadMotion(*clip.rig.file, request);
  }
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();  // of a ClipData's function
  return {std::make_shared<const client::ClipData>(Value(std::move(sampled)))};
}

}  // namespace

client::ClipData PosesOf(const Field& matrices, const py::object& controls, double fps) {
  const auto joints = ToMatrices<FloatArray>(matrices, {-1, -1}, "frames, joints");
  if (joints.shape(0) < 1) RaiseField(matrices, "got no frame, need one or more");
  if (!(fps > 0 && fps <= 100'000)) {
    Raise(absl::InvalidArgumentError(absl::StrCat("fps: got ", fps, ", need more than 0")));
  }
  client::ClipData clip;
  clip.name = "poses";
  clip.fps = fps;
  clip.frames = static_cast<std::size_t>(joints.shape(0));
  clip.joint_transforms = Values(joints);
  if (!controls.is_none()) {
    const auto values = ToArray<FloatArray>({controls, "controls"});
    if (values.ndim() != 2 || values.shape(0) != joints.shape(0)) {
      RaiseShape("controls", values, absl::StrCat("(", clip.frames, ", controls)"));
    }
    clip.controls = Values(values);
  }
  return clip;
}

namespace {

// Poses(...), and what pickled ones are made by.
Poses NumberedPoses(const py::object& matrices, const py::object& controls, double fps,
                    std::int64_t first_frame, std::int64_t step, const std::string& name) {
  if (first_frame < 0 || step < 1) {
    Raise(absl::InvalidArgumentError("first_frame, step: need 0 or more, and 1 or more"));
  }
  client::ClipData clip = PosesOf({matrices, "matrices"}, controls, fps);
  clip.first_frame = first_frame;
  clip.step = step;
  clip.name = name;
  return {std::make_shared<const client::ClipData>(std::move(clip))};
}

py::array MatricesOf(const Poses& poses) {
  const client::ClipData& clip = *poses.clip;
  return View<float>(
      poses.clip, clip.joint_transforms,
      {Size(clip.frames), Size(clip.joint_transforms.size() / clip.frames / 12), 3, 4});
}

py::array ControlsOfAll(const Poses& poses) {
  const client::ClipData& clip = *poses.clip;
  return View<float>(poses.clip, clip.controls,
                     {Size(clip.frames), Size(clip.controls.size() / clip.frames)});
}

// poses[2:5], poses[-1].
Poses Some(const Poses& poses, py::object key) {
  const client::ClipData& all = *poses.clip;
  const py::ssize_t frames = Size(all.frames);
  py::ssize_t first = 0, stop = 0, step = 1, count = 1;
  if (py::isinstance<py::slice>(key)) {
    if (!py::cast<py::slice>(key).compute(frames, &first, &stop, &step, &count)) {
      throw py::error_already_set();
    }
    if (count == 0 || step < 1) {
      Raise(absl::InvalidArgumentError(
          absl::StrCat("poses: got a slice of ", CountedText(all.frames, "frame"),
                       " that is empty or goes backwards, need frames that rise; matrices can be "
                       "sliced in any way")));
    }
  } else if (PyIndex_Check(key.ptr()) != 0 && !py::isinstance<py::array>(key)) {
    first = PyNumber_AsSsize_t(key.ptr(), PyExc_IndexError);
    if (PyErr_Occurred() != nullptr) throw py::error_already_set();
    if (first < 0) first += frames;
    if (first < 0 || first >= frames) {
      throw py::index_error(absl::StrCat("poses: have ", CountedText(all.frames, "frame")));
    }
    key = py::slice(first, first + 1, 1);
  } else {
    throw py::type_error("poses: need a number or a slice in []; matrices take what numpy takes");
  }
  client::ClipData some =
      PosesOf({MatricesOf(poses)[key], "matrices"}, ControlsOfAll(poses)[key], all.fps);
  some.name = all.name;
  some.first_frame = all.first_frame + first * all.step;
  some.step = all.step * step;
  return {std::make_shared<const client::ClipData>(std::move(some))};
}

// Poses(...) calls a function that makes the object, so that Poses.__new__ makes none without a
// value.
PyObject* NewPoses(PyTypeObject*, PyObject* arguments, PyObject* named) {
  const py::object make = py::module_::import("sinew._sinew").attr("_poses");
  return PyObject_Call(make.ptr(), arguments, named);
}

}  // namespace

void BindClips(py::module_& module) {
  py::class_<Poses> type(module, "Poses",
                         R"(Joint matrices and control values of several frames.

Poses(matrices, controls=None, fps=24.0): matrices: (F, J, 3, 4), (F, J, 4, 4) or (F, J, 12), from
joint to model space. controls: (F, K), or None for the defaults. poses[k], a Poses of one frame,
can be deformed; poses[2:5] and iteration keep controls and frame numbers, too.)",
                         py::is_final());
  auto* const object = reinterpret_cast<PyTypeObject*>(type.ptr());
  object->tp_new = NewPoses;
  object->tp_init = [](PyObject*, PyObject*, PyObject*) { return 0; };
  module.attr("_poses") =
      py::cpp_function(&NumberedPoses, py::name("Poses"), "matrices"_a, "controls"_a = py::none(),
                       "fps"_a = 24.0, "first_frame"_a = 0, "step"_a = 1, "name"_a = "poses");
  type.def_property_readonly(
          "matrices", MatricesOf,
          "(F, J, 3, 4) float32: joint to model space, in the order of the rig. A read-only view.")
      .def_property_readonly(
          "controls", ControlsOfAll,
          "(F, K) float32: values of the rig's controls, K = 0 without any. A read-only view.")
      .def_property_readonly(
          "fps", [](const Poses& poses) { return poses.clip->fps; }, "Frames per second.")
      .def_property_readonly(
          "first_frame", [](const Poses& poses) { return poses.clip->first_frame; },
          "Number of the first frame: its time is first_frame / fps.")
      .def_property_readonly(
          "step", [](const Poses& poses) { return poses.clip->step; },
          "Difference of the numbers of two frames.")
      .def("__len__", [](const Poses& poses) { return poses.clip->frames; })
      .def("__getitem__", Some)
      .def(
          "__array__",
          [](const Poses& poses, const py::object& dtype, const py::object& copy) {
            return AsArray(MatricesOf(poses), dtype, copy);
          },
          "dtype"_a = py::none(), "copy"_a = py::none())
      .def("__reduce__",
           [](const Poses& poses) {
             const client::ClipData& clip = *poses.clip;
             const py::object make = py::module_::import("sinew._sinew").attr("_poses");
             return py::make_tuple(make,
                                   py::make_tuple(MatricesOf(poses), ControlsOfAll(poses), clip.fps,
                                                  clip.first_frame, clip.step, clip.name));
           })
      .def("__repr__", [](const Poses& poses) {
        return absl::StrCat("<sinew.Poses, ", CountedText(poses.clip->frames, "frame"), " at ",
                            poses.clip->fps, " fps>");
      });
  type.attr("joints") = type.attr("matrices");  // the old name, for one release
  py::class_<Clip> of_clip(module, "Clip", "A motion in a character file.");
  OnlyFromFunctions(of_clip);
  of_clip
      .def_property_readonly(
          "name", [](const Clip& clip) { return clip.info().name; }, "As in Rig.clips.")
      .def_property_readonly(
          "start", [](const Clip& clip) { return clip.info().start; }, "Seconds: its first key.")
      .def_property_readonly(
          "end", [](const Clip& clip) { return clip.info().end; }, "Seconds: its last key.")
      .def(
          "poses", SamplePoses, "fps"_a = 24.0, "first"_a = 0, "last"_a = py::none(), "step"_a = 1,
          "Frames first to last (None = to the end), every step-th; frame k is at k / fps seconds.")
      .def("__repr__", [](const Clip& clip) {
        return absl::StrCat("<sinew.Clip '", clip.info().name, "', ", clip.info().end, " s>");
      });
}

py::dict ClipsOf(const Rig& rig) {
  py::dict clips = py::module_::import("sinew.listed").attr("Clips")(rig.file->label);
  for (std::size_t c = 0; c < rig.file->clips.size(); ++c) {
    clips[py::str(rig.file->clips[c].name)] = Clip{rig, c};
  }
  return clips;
}

}  // namespace sinew::python
