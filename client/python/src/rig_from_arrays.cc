// Rigs from numpy arrays. Array shapes and indices are checked here, everything else by the server.
#include <absl/strings/str_cat.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "client/bake/base/errors.h"
#include "client/import/posed_scene.h"
#include "client/python/src/arrays.h"
#include "client/python/src/bindings.h"
#include "client/python/src/errors.h"
#include "client/python/src/matrices.h"
#include "client/python/src/mesh_from_arrays.h"
#include "core/base/counted_text.h"

namespace py = pybind11;
using namespace py::literals;

namespace sinew::python {
namespace {

constexpr double kLongestClip = 1e7;  // seconds, about four months

client::UpAxis ParseUpAxis(const std::optional<std::string>& name) {
  if (!name) return client::UpAxis::kUnspecified;
  if (*name == "Y") return client::UpAxis::kY;
  if (*name == "Z") return client::UpAxis::kZ;
  Raise(absl::InvalidArgumentError(
      absl::StrCat("up_axis: got \"", *name, "\", need \"Y\", \"Z\" or None")));
}

// Joints with their rest pose. Returns the inverse bind matrices of meshes in model space.
std::vector<float> ReadJoints(const std::vector<std::string>& names,
                              const std::vector<std::int32_t>& parents, const py::object& rest_pose,
                              client::RigData& data) {
  if (parents.size() != names.size()) {
    Raise(absl::InvalidArgumentError(
        absl::StrCat("parents: got ", CountedText(parents.size(), "number"),
                     ", need one for each of ", CountedText(names.size(), "joint"))));
  }
  const auto rest = ToMatrices<DoubleArray>({rest_pose, "rest_pose"}, {Size(names.size())});
  std::vector<float> inverse_bind;
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (parents[j] >= static_cast<std::int32_t>(j) || parents[j] < -1) {
      Raise(absl::InvalidArgumentError(
          absl::StrCat("parents[", j, "]: got ", parents[j], ", need -1 or a joint before it")));
    }
    const Eigen::Affine3d model = ToAffine(rest.data() + j * 12);
    client::Joint& joint = data.joints.emplace_back();
    joint.name = names[j];
    joint.parent = parents[j];
    Append(parents[j] < 0 ? model : ToAffine(rest.data() + parents[j] * 12).inverse() * model,
           data.rest_local);
    Append(model.inverse(), inverse_bind);
  }
  return inverse_bind;
}

// A Python object that C++ keeps, in any thread.
std::shared_ptr<py::object> Kept(py::object object) {
  return {new py::object(std::move(object)), [](py::object* kept) {
            if (Py_IsInitialized() == 0) return;  // nothing can be released any more
            const py::gil_scoped_acquire acquire;
            delete kept;
          }};
}

// What a pose function returned: joints, or joints and controls.
void ReadPose(const py::object& returned, const std::string& name, client::RigPose& pose) {
  const bool pair = py::isinstance<py::tuple>(returned) && py::len(returned) == 2;
  const py::object joints = pair ? py::object(returned[py::int_(0)]) : returned;
  const auto matrices = ToMatrices<DoubleArray>({joints, name}, {Size(pose.joints.size() / 12)});
  pose.joints.assign(matrices.data(), matrices.data() + matrices.size());
  if (!pair) return;
  const Field field{returned[py::int_(1)], name + ", controls"};
  pose.controls = Values(OfShape<FloatArray>(field, {Size(pose.controls.size())}));
}

client::PosedClip ReadClip(const Fields& fields) {
  client::PosedClip clip;
  clip.info.name = py::str(fields("name").value);
  const Field end = fields("end");
  if (PyNumber_Check(end.value.ptr()) == 0) RaiseField(end, "need a number of seconds");
  clip.info.end = py::cast<double>(py::float_(end.value));
  if (!(clip.info.end >= 0 && clip.info.end < kLongestClip)) {
    RaiseField(end, absl::StrCat("got ", clip.info.end, ", need 0 to ", kLongestClip, " seconds"));
  }
  const Field pose = fields("pose");
  if (PyCallable_Check(pose.value.ptr()) == 0) RaiseField(pose, "need a function of seconds");
  clip.evaluate = [function = Kept(pose.value), name = absl::StrCat(pose.name, "()")](
                      double seconds, client::RigPose& out) -> absl::Status {
    const py::gil_scoped_acquire acquire;
    try {
      ReadPose((*function)(seconds), name, out);
      return absl::OkStatus();
    } catch (py::error_already_set& error) {
      error.restore();  // for the caller, in this thread
      return absl::AbortedError(absl::StrCat(name, " failed"));
    }
  };
  return clip;
}

// The scene of the arguments of from_meshes.
struct SceneArguments {
  const py::sequence& meshes;
  bool one_mesh = false;  // whose fields are arguments
  const std::vector<std::string>& joints;
  const std::vector<std::int32_t>& parents;
  const py::object& rest_pose;
  std::map<std::string, float> controls;
  py::sequence clips;
  const std::string& label;
  const std::optional<std::string>& up_axis;
  double meters_per_unit = 1;
};

client::ImportedScene ReadScene(const SceneArguments& arguments) {
  client::RigData data;
  data.label = arguments.label;
  data.up_axis = ParseUpAxis(arguments.up_axis);
  data.meters_per_unit = arguments.meters_per_unit;
  const std::vector<float> inverse_bind =
      ReadJoints(arguments.joints, arguments.parents, arguments.rest_pose, data);
  for (const auto& [name, value] : arguments.controls) {
    client::Control& control = data.controls.emplace_back();
    control.name = name;
    control.default_value = value;
  }
  std::vector<client::MeshExtras> extras;
  for (std::size_t m = 0; m < arguments.meshes.size(); ++m) {
    const std::string prefix = arguments.one_mesh ? "" : absl::StrCat("meshes[", m, "].");
    MeshFromArrays read = ReadMesh({arguments.meshes[m], prefix}, inverse_bind);
    data.meshes.push_back(std::move(read.mesh));
    extras.push_back(std::move(read.extras));
  }
  std::vector<client::PosedClip> clips;
  std::set<std::string> names;
  for (std::size_t c = 0; c < arguments.clips.size(); ++c) {
    const Fields fields{arguments.clips[c], absl::StrCat("clips[", c, "].")};
    clips.push_back(ReadClip(fields));
    if (!names.insert(clips.back().info.name).second) {
      RaiseField(fields("name"), absl::StrCat("\"", clips.back().info.name, "\" is there already"));
    }
  }
  client::ImportedScene scene = Value(client::MakePosedScene(std::move(data), std::move(clips)));
  scene.mesh_extras = std::move(extras);
  return scene;
}

Rig FromArguments(const SceneArguments& arguments) {
  client::ImportedScene scene = ReadScene(arguments);
  scene.format = "arrays";
  bake::CharacterFile file = Value(bake::FromScene(std::move(scene)));
  file.label = arguments.label;
  return {std::make_shared<const bake::CharacterFile>(std::move(file)), {}};
}

Rig FromMeshes(const py::sequence& meshes, const std::vector<std::string>& joints,
               const std::vector<std::int32_t>& parents, const py::object& rest_pose,
               const std::map<std::string, float>& controls, const py::sequence& clips,
               const std::string& label, const std::optional<std::string>& up_axis,
               double meters_per_unit) {
  return FromArguments({.meshes = meshes,
                        .joints = joints,
                        .parents = parents,
                        .rest_pose = rest_pose,
                        .controls = controls,
                        .clips = clips,
                        .label = label,
                        .up_axis = up_axis,
                        .meters_per_unit = meters_per_unit});
}

// A rig of one mesh, whose fields are the arguments.
Rig FromArrays(const py::object& positions, const py::object& faces,
               const std::vector<std::string>& joints, const std::vector<std::int32_t>& parents,
               const py::object& rest_pose, const py::object& weights, const py::object& influences,
               const std::string& name, const std::optional<std::string>& up_axis,
               double meters_per_unit) {
  py::list meshes;
  meshes.append(py::module_::import("sinew.mesh_data")
                    .attr("MeshData")(name, positions, faces, weights, influences));
  return FromArguments({.meshes = meshes,
                        .one_mesh = true,
                        .joints = joints,
                        .parents = parents,
                        .rest_pose = rest_pose,
                        .controls = {},
                        .clips = py::list(),
                        .label = name,
                        .up_axis = up_axis,
                        .meters_per_unit = meters_per_unit});
}

// A warning of a reader: its severity, "lost" among them, message and place in the file.
using ReaderProblem = std::tuple<std::string, std::string, std::string>;

client::Problem ToProblem(const ReaderProblem& from) {
  const auto& [severity, message, place] = from;
  if (severity == "lost") return client::Lost(message, place);
  return {severity == "info" ? client::Severity::kInfo : client::Severity::kWarning, message,
          place};
}

// The rig of a file that a reader in Python has read; ends as ReadCharacter does.
Rig FromFile(const py::sequence& meshes, const std::vector<std::string>& joints,
             const std::vector<std::int32_t>& parents, const py::object& rest_pose,
             const std::map<std::string, float>& controls, const py::sequence& clips,
             const std::vector<std::string>& places, const std::optional<std::string>& up_axis,
             double meters_per_unit, const std::vector<ReaderProblem>& problems,
             const std::string& path, const std::string& label, const std::string& format,
             const std::string& unweighted, const std::filesystem::path& muscles) {
  const client::Unweighted choice = Value(bake::ParseUnweighted(unweighted));
  client::ImportedScene scene = ReadScene({.meshes = meshes,
                                           .joints = joints,
                                           .parents = parents,
                                           .rest_pose = rest_pose,
                                           .controls = controls,
                                           .clips = clips,
                                           .label = label,
                                           .up_axis = up_axis,
                                           .meters_per_unit = meters_per_unit});
  scene.format = format;
  for (std::size_t j = 0; j < std::min(places.size(), joints.size()); ++j) {
    scene.rig.joints[j].source_path = places[j];
  }
  for (const ReaderProblem& problem : problems) scene.problems.push_back(ToProblem(problem));
  if (const absl::Status status = client::FinishScene(choice, scene); !status.ok()) {
    Raise(bake::Prefixed(label, status));
  }
  bake::CharacterFile file = Value(bake::FromScene(std::move(scene)));
  file.label = label;
  file.path = path;
  if (!muscles.empty()) Check(bake::AddMuscles(muscles.string(), file));
  return {std::make_shared<const bake::CharacterFile>(std::move(file)), path};
}

}  // namespace

void BindRigFromArrays(py::module_& module, py::class_<Rig>& type) {
  type.def_static("from_arrays", FromArrays, "positions"_a, "faces"_a, "joints"_a, "parents"_a,
                  "rest_pose"_a, "weights"_a, "influences"_a, "name"_a = "mesh", "up_axis"_a = "Y",
                  "meters_per_unit"_a = 1.0,
                  R"(A rig of one mesh.

positions: (V, 3), in model space at rest. faces: (F, C) vertices, or lists of corners.
joints: names. parents: (J,) the parent of each joint, before it, or -1.
rest_pose: (J, 3, 4) joint to model space. weights, influences: (V, N) weights that sum to 1, and
their joints; a weight of 0 is no influence. None: no weights yet, see Client.weights.)");
  type.def_static("from_meshes", FromMeshes, "meshes"_a, "joints"_a, "parents"_a, "rest_pose"_a,
                  py::kw_only(), "controls"_a = std::map<std::string, float>(),
                  "clips"_a = py::tuple(), "label"_a = "", "up_axis"_a = "Y",
                  "meters_per_unit"_a = 1.0,
                  R"(A rig of several meshes, each a MeshData; joints as in from_arrays.

controls: names and default values of what drives the shapes of meshes. A pose has their values in
the order of Rig.controls, which is that of their names.
clips: a ClipData for each of Rig.clips.)");
  module.def("_rig_of_file", FromFile, "meshes"_a, "joints"_a, "parents"_a, "rest_pose"_a,
             py::kw_only(), "controls"_a, "clips"_a, "places"_a, "up_axis"_a, "meters_per_unit"_a,
             "problems"_a, "path"_a, "label"_a, "format"_a, "unweighted"_a, "muscles"_a);
}

}  // namespace sinew::python
