// Rigs from numpy arrays. Array shapes and indices are checked here, everything else by the server.
#include <absl/strings/str_cat.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/python/src/arrays.h"
#include "client/python/src/bindings.h"
#include "client/python/src/errors.h"
#include "client/python/src/matrices.h"

namespace py = pybind11;
using namespace py::literals;

namespace sinew::python {
namespace {

using IntArray =
    py::array_t<std::int64_t, py::array::c_style>;  // floats are no numbers of vertices

// A field of MeshData, or an argument of from_arrays: the object and its name in messages.
struct Field {
  py::object value;
  std::string name;

  explicit operator bool() const { return !value.is_none(); }
};

// The fields of a mesh. `prefix` is "meshes[2]." or empty.
struct MeshFields {
  py::object mesh;
  std::string prefix;

  Field operator()(const char* name) const { return {mesh.attr(name), absl::StrCat(prefix, name)}; }
};

[[noreturn]] void RaiseField(const Field& field, const std::string& problem) {
  Raise(absl::InvalidArgumentError(absl::StrCat(field.name, ": ", problem)));
}

template <class Array>
Array ToArray(const Field& field, const char* need) {
  Array array = Array::ensure(field.value);
  if (!array) {
    PyErr_Clear();
    const std::string got =
        py::isinstance<py::array>(field.value)
            ? absl::StrCat("an array of ", std::string(py::str(field.value.attr("dtype"))))
            : std::string(py::str(py::type::of(field.value).attr("__name__")));
    RaiseField(field, absl::StrCat("got ", got, ", need an array of ", need));
  }
  return array;
}

FloatArray FloatsOf(const Field& field, std::size_t rows, std::size_t columns) {
  FloatArray array = ToArray<FloatArray>(field, "numbers");
  const bool right = columns == 0 ? array.ndim() == 1 && array.shape(0) == Size(rows)
                                  : array.ndim() == 2 && array.shape(0) == Size(rows) &&
                                        array.shape(1) == Size(columns);
  if (!right) {
    RaiseShape(
        field.name.c_str(), array,
        columns == 0 ? absl::StrCat("(", rows, ")") : absl::StrCat("(", rows, ", ", columns, ")"));
  }
  return array;
}

std::vector<float> Values(const FloatArray& array) {
  const auto floats = Floats(array);
  return {floats.begin(), floats.end()};
}

std::uint32_t Index(const Field& field, std::int64_t value, std::size_t count, const char* what) {
  if (value < 0 || value >= static_cast<std::int64_t>(count)) {
    RaiseField(field, absl::StrCat("got ", value, ", need ", what, " from 0 to ",
                                   static_cast<std::int64_t>(count) - 1));
  }
  return static_cast<std::uint32_t>(value);
}

// faces: [F, C], a list of lists of corners, or, with face_sizes [F], one row of all corners.
void ReadFaces(const Field& faces, const Field& face_sizes, client::Mesh& mesh) {
  const std::size_t vertices = mesh.vertices();
  const auto add = [&](std::int64_t vertex) {
    mesh.face_vertices.push_back(Index(faces, vertex, vertices, "a vertex"));
  };
  if (face_sizes) {
    const IntArray sizes = ToArray<IntArray>(face_sizes, "integers");
    const IntArray corners = ToArray<IntArray>(faces, "integers");
    if (sizes.ndim() != 1) RaiseShape(face_sizes.name.c_str(), sizes, "(faces)");
    if (corners.ndim() != 1) RaiseShape(faces.name.c_str(), corners, "(corners of all faces)");
    std::int64_t sum = 0;
    for (py::ssize_t f = 0; f < sizes.size(); ++f) {
      const auto size = Index(face_sizes, sizes.data()[f],
                              static_cast<std::size_t>(corners.size()) + 1, "a number of corners");
      mesh.face_sizes.push_back(size);
      sum += size;
    }
    if (sum != corners.size()) {
      RaiseField(faces, absl::StrCat("got ", corners.size(), " corners, need the sum of ",
                                     face_sizes.name, ", ", sum));
    }
    for (py::ssize_t k = 0; k < corners.size(); ++k) add(corners.data()[k]);
    return;
  }
  if (py::isinstance<py::array>(faces.value)) {
    const IntArray rows = ToArray<IntArray>(faces, "integers");
    if (rows.ndim() != 2) RaiseShape(faces.name.c_str(), rows, "(faces, corners)");
    mesh.face_sizes.assign(static_cast<std::size_t>(rows.shape(0)),
                           static_cast<std::uint32_t>(rows.shape(1)));
    for (py::ssize_t k = 0; k < rows.size(); ++k) add(rows.data()[k]);
    return;
  }
  for (const py::handle face : faces.value) {
    std::uint32_t corners = 0;
    for (const py::handle corner : face) {
      if (PyIndex_Check(corner.ptr()) == 0) {
        RaiseField(faces, absl::StrCat("got ", std::string(py::str(corner)),
                                       ", need the number of a vertex"));
      }
      const auto vertex =
          py::cast<std::int64_t>(py::reinterpret_steal<py::object>(PyNumber_Index(corner.ptr())));
      add(vertex);
      ++corners;
    }
    mesh.face_sizes.push_back(corners);
  }
}

// Influences of weight 0 are left out.
void ReadInfluences(const Field& weight_field, const Field& joint_field, std::size_t joint_count,
                    client::Mesh& mesh) {
  const FloatArray weights = ToArray<FloatArray>(weight_field, "numbers");
  const IntArray joints = ToArray<IntArray>(joint_field, "integers");
  if (weights.ndim() != 2 || weights.shape(0) != Size(mesh.vertices())) {
    RaiseShape(weight_field.name.c_str(), weights,
               absl::StrCat("(", mesh.vertices(), ", influences)"));
  }
  if (joints.ndim() != 2 || joints.shape(0) != weights.shape(0) ||
      joints.shape(1) != weights.shape(1)) {
    RaiseShape(joint_field.name.c_str(), joints, absl::StrCat("that of ", weight_field.name));
  }
  client::Skin& skin = mesh.skin;
  for (py::ssize_t v = 0; v < weights.shape(0); ++v) {
    std::uint32_t count = 0;
    for (py::ssize_t k = 0; k < weights.shape(1); ++k) {
      const float weight = *weights.data(v, k);
      if (weight == 0) continue;
      const std::int64_t joint = *joints.data(v, k);
      if (joint < 0 || joint >= static_cast<std::int64_t>(joint_count)) {
        const std::string place = absl::StrCat(joint_field.name, "[", v, "][", k, "]");
        Index({joint_field.value, place}, joint, joint_count, "a joint");  // raises
      }
      skin.influence_joints.push_back(static_cast<std::uint32_t>(joint));
      skin.influence_weights.push_back(weight);
      ++count;
    }
    skin.influence_counts.push_back(count);
  }
}

using NamedFields = std::map<std::string, py::object>;

// The entries of a dict by name: equal rigs have equal bytes, whatever the order of the dict.
NamedFields Entries(const Field& field) {
  if (!py::isinstance<py::dict>(field.value)) RaiseField(field, "need a dict of names to arrays");
  NamedFields entries;
  for (const auto& [name, value] : py::cast<py::dict>(field.value)) {
    if (!py::isinstance<py::str>(name)) RaiseField(field, "need strings as names");
    entries[py::cast<std::string>(name)] = py::reinterpret_borrow<py::object>(value);
  }
  return entries;
}

Field Entry(const Field& field, const NamedFields::value_type& entry) {
  return {entry.second, absl::StrCat(field.name, "[\"", entry.first, "\"]")};
}

client::Mesh ReadMesh(const MeshFields& fields, std::size_t joint_count,
                      const std::vector<float>& inverse_bind) {
  client::Mesh mesh;
  mesh.name = py::str(fields("name").value);
  const Field points = fields("positions");
  const FloatArray positions = ToArray<FloatArray>(points, "numbers");
  if (positions.ndim() != 2 || positions.shape(1) != 3) {
    RaiseShape(points.name.c_str(), positions, "(vertices, 3)");
  }
  mesh.positions = Values(positions);
  const std::size_t vertices = mesh.vertices();
  ReadFaces(fields("faces"), fields("face_sizes"), mesh);
  if (const Field weights = fields("weights")) {
    mesh.skin.inverse_bind = inverse_bind;
    for (std::uint32_t j = 0; j < joint_count; ++j) mesh.skin.joints.push_back(j);
    ReadInfluences(weights, fields("influences"), joint_count, mesh);
    if (const Field fallback = fields("fallback_joint")) {
      if (!py::isinstance<py::int_>(fallback.value)) RaiseField(fallback, "need an integer");
      mesh.skin.fallback_joint =
          Index(fallback, py::cast<std::int64_t>(fallback.value), joint_count, "a joint");
    }
  }
  const Field shapes = fields("shapes");
  for (const auto& entry : Entries(shapes)) {
    client::ShapeTarget target;
    target.offsets = Values(FloatsOf(Entry(shapes, entry), vertices, 3));
    mesh.shapes.push_back({.control = entry.first, .targets = {std::move(target)}});
  }
  const Field maps = fields("maps");
  for (const auto& entry : Entries(maps)) {
    mesh.maps.push_back({entry.first, Values(FloatsOf(Entry(maps, entry), vertices, 0))});
  }
  return mesh;
}

client::UpAxis ParseUpAxis(const std::optional<std::string>& name) {
  if (!name) return client::UpAxis::kUnspecified;
  if (*name == "Y") return client::UpAxis::kY;
  if (*name == "Z") return client::UpAxis::kZ;
  Raise(absl::InvalidArgumentError(
      absl::StrCat("up_axis: got \"", *name, "\", need \"Y\", \"Z\" or None")));
}

// Joints with their rest pose. Returns the inverse bind matrices of meshes in model space.
std::vector<float> ReadJoints(const std::vector<std::string>& names,
                              const std::vector<std::int32_t>& parents, const FloatArray& rest_pose,
                              client::RigData& data) {
  if (parents.size() != names.size()) {
    Raise(absl::InvalidArgumentError(absl::StrCat("parents: got ", parents.size(),
                                                  " numbers, need one for each of ", names.size(),
                                                  " joints")));
  }
  if (rest_pose.ndim() != 3 || rest_pose.shape(0) != Size(names.size()) ||
      rest_pose.shape(1) != 3 || rest_pose.shape(2) != 4) {
    RaiseShape("rest_pose", rest_pose, absl::StrCat("(", names.size(), ", 3, 4)"));
  }
  std::vector<float> inverse_bind;
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (parents[j] >= static_cast<std::int32_t>(j) || parents[j] < -1) {
      Raise(absl::InvalidArgumentError(
          absl::StrCat("parents[", j, "]: got ", parents[j], ", need -1 or a joint before it")));
    }
    const Eigen::Affine3d model = ToAffine(rest_pose.data(Size(j), 0, 0));
    client::Joint& joint = data.joints.emplace_back();
    joint.name = names[j];
    joint.parent = parents[j];
    Append(parents[j] < 0 ? model : ToAffine(rest_pose.data(parents[j], 0, 0)).inverse() * model,
           data.rest_local);
    Append(model.inverse(), inverse_bind);
  }
  return inverse_bind;
}

Rig FromData(client::RigData data) {
  auto file = std::make_shared<cli::CharacterFile>();
  file->kind = cli::CharacterFile::Kind::kSerialised;
  file->label = data.label;
  file->format = "arrays";
  file->rig_bytes = Value(client::EncodeRig(data));
  file->rig = std::move(data);
  return {std::move(file), {}};
}

Rig FromMeshes(const py::sequence& meshes, const std::vector<std::string>& joints,
               const std::vector<std::int32_t>& parents, const FloatArray& rest_pose,
               const std::map<std::string, float>& controls, const std::string& label,
               const std::optional<std::string>& up_axis, double meters_per_unit) {
  client::RigData data;
  data.label = label;
  data.up_axis = ParseUpAxis(up_axis);
  data.meters_per_unit = meters_per_unit;
  const std::vector<float> inverse_bind = ReadJoints(joints, parents, rest_pose, data);
  for (const auto& [name, value] : controls) {
    client::Control& control = data.controls.emplace_back();
    control.name = name;
    control.default_value = value;
  }
  for (std::size_t m = 0; m < meshes.size(); ++m) {
    data.meshes.push_back(
        ReadMesh({meshes[m], absl::StrCat("meshes[", m, "].")}, joints.size(), inverse_bind));
  }
  return FromData(std::move(data));
}

// A rig of one mesh, whose fields are the arguments.
Rig FromArrays(const py::object& positions, const py::object& faces,
               const std::vector<std::string>& joints, const std::vector<std::int32_t>& parents,
               const FloatArray& rest_pose, const py::object& weights, const py::object& influences,
               const std::string& name, const std::optional<std::string>& up_axis,
               double meters_per_unit) {
  client::RigData data;
  data.label = name;
  data.up_axis = ParseUpAxis(up_axis);
  data.meters_per_unit = meters_per_unit;
  const std::vector<float> inverse_bind = ReadJoints(joints, parents, rest_pose, data);
  const py::object mesh = py::module_::import("sinew.mesh_data")
                              .attr("MeshData")(name, positions, faces, weights, influences);
  data.meshes.push_back(ReadMesh({mesh, ""}, joints.size(), inverse_bind));
  return FromData(std::move(data));
}

}  // namespace

void BindRigFromArrays(py::class_<Rig>& type) {
  type.def_static("from_arrays", FromArrays, "positions"_a, "faces"_a, "joints"_a, "parents"_a,
                  "rest_pose"_a, "weights"_a, "influences"_a, "name"_a = "mesh", "up_axis"_a = "Y",
                  "meters_per_unit"_a = 1.0,
                  R"(A rig of one mesh.

positions: (V, 3), in model space at rest. faces: (F, C) vertices, or lists of corners.
joints: names. parents: (J,) the parent of each joint, before it, or -1.
rest_pose: (J, 3, 4) joint to model space. weights, influences: (V, N) weights that sum to 1, and
their joints; a weight of 0 is no influence. None: no weights yet, see Client.weights.)");
  type.def_static("from_meshes", FromMeshes, "meshes"_a, "joints"_a, "parents"_a, "rest_pose"_a,
                  py::kw_only(), "controls"_a = std::map<std::string, float>(), "label"_a = "",
                  "up_axis"_a = "Y", "meters_per_unit"_a = 1.0,
                  R"(A rig of several meshes, each a MeshData; joints as in from_arrays.

controls: names and default values of what drives the shapes of meshes. A pose has their values in
the order of Rig.controls, which is that of their names.)");
}

}  // namespace sinew::python
