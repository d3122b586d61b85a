#include "client/python/src/mesh_from_arrays.h"

#include <map>
#include <optional>
#include <utility>

#include "client/python/src/errors.h"

namespace py = pybind11;

namespace sinew::python {
namespace {

using IntArray =
    py::array_t<std::int64_t, py::array::c_style>;  // floats are no numbers of vertices

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
    if (sizes.ndim() != 1) RaiseShape(face_sizes.name, sizes, "(faces,)");
    if (corners.ndim() != 1) RaiseShape(faces.name, corners, "(corners of all faces,)");
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
    if (rows.ndim() != 2) RaiseShape(faces.name, rows, "(faces, corners)");
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

// The joints that may move a mesh. Fills `joints` and `inverse_bind`; returns the place of each
// joint of the rig in them, -1 for the others.
std::vector<std::int64_t> ReadBinding(const Fields& fields, const std::vector<float>& inverse_bind,
                                      client::Skin& skin) {
  const std::size_t joint_count = inverse_bind.size() / 12;
  std::vector<std::int64_t> slots(joint_count, -1);
  if (const Field joints = fields("joints")) {
    const IntArray numbers = ToArray<IntArray>(joints, "integers");
    if (numbers.ndim() != 1) RaiseShape(joints.name, numbers, "(joints,)");
    for (py::ssize_t s = 0; s < numbers.size(); ++s) {
      const std::uint32_t joint = Index(joints, numbers.data()[s], joint_count, "a joint");
      if (slots[joint] >= 0) RaiseField(joints, absl::StrCat("joint ", joint, " is named twice"));
      slots[joint] = s;
      skin.joints.push_back(joint);
    }
  } else {
    for (std::uint32_t j = 0; j < joint_count; ++j) {
      slots[j] = j;
      skin.joints.push_back(j);
    }
  }
  if (const Field bind = fields("inverse_bind")) {
    skin.inverse_bind = Values(ToMatrices<FloatArray>(bind, {Size(skin.joints.size())}));
  } else {
    for (const std::uint32_t joint : skin.joints) {
      const auto matrix = inverse_bind.begin() + static_cast<std::ptrdiff_t>(joint) * 12;
      skin.inverse_bind.insert(skin.inverse_bind.end(), matrix, matrix + 12);
    }
  }
  return slots;
}

// The place of a joint of the rig among those that may move the mesh.
std::uint32_t Slot(const Field& field, std::int64_t joint, const std::vector<std::int64_t>& slots) {
  const std::int64_t slot = slots[Index(field, joint, slots.size(), "a joint")];
  if (slot < 0) RaiseField(field, absl::StrCat("got ", joint, ", need one of the mesh's joints"));
  return static_cast<std::uint32_t>(slot);
}

// Influences of weight 0 are left out.
void ReadInfluences(const Field& weight_field, const Field& joint_field,
                    const std::vector<std::int64_t>& slots, client::Mesh& mesh) {
  const FloatArray weights = ToArray<FloatArray>(weight_field);
  const IntArray joints = ToArray<IntArray>(joint_field, "integers");
  if (weights.ndim() != 2 || weights.shape(0) != Size(mesh.vertices())) {
    RaiseShape(weight_field.name, weights, absl::StrCat("(", mesh.vertices(), ", influences)"));
  }
  if (joints.ndim() != 2 || joints.shape(0) != weights.shape(0) ||
      joints.shape(1) != weights.shape(1)) {
    RaiseShape(joint_field.name, joints, absl::StrCat("that of ", weight_field.name));
  }
  client::Skin& skin = mesh.skin;
  for (py::ssize_t v = 0; v < weights.shape(0); ++v) {
    std::uint32_t count = 0;
    for (py::ssize_t k = 0; k < weights.shape(1); ++k) {
      const float weight = *weights.data(v, k);
      if (weight == 0) continue;
      const std::int64_t joint = *joints.data(v, k);
      if (joint < 0 || joint >= Size(slots.size()) || slots[static_cast<std::size_t>(joint)] < 0) {
        Slot({joint_field.value, absl::StrCat(joint_field.name, "[", v, "][", k, "]")}, joint,
             slots);  // raises
      }
      skin.influence_joints.push_back(
          static_cast<std::uint32_t>(slots[static_cast<std::size_t>(joint)]));
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

// A target: ShapeData, or only the offsets of all vertices.
client::ShapeTarget ReadTarget(const Field& field, std::size_t vertices) {
  client::ShapeTarget target;
  if (!py::hasattr(field.value, "offsets")) {
    target.offsets = Values(OfShape<FloatArray>(field, {Size(vertices), 3}));
    return target;
  }
  const Fields fields{field.value, field.name + "."};
  std::size_t rows = vertices;
  if (const Field moved = fields("vertices")) {
    const IntArray numbers = ToArray<IntArray>(moved, "integers");
    if (numbers.ndim() != 1) RaiseShape(moved.name, numbers, "(moved vertices,)");
    for (py::ssize_t k = 0; k < numbers.size(); ++k) {
      target.vertices.push_back(Index(moved, numbers.data()[k], vertices, "a vertex"));
    }
    rows = target.vertices.size();
    if (rows == 0) RaiseField(moved, "got none, need one or more");
  }
  const Field weight = fields("weight");
  if (PyNumber_Check(weight.value.ptr()) == 0) RaiseField(weight, "need a number");
  target.weight = py::cast<float>(py::float_(weight.value));
  target.offsets = Values(OfShape<FloatArray>(fields("offsets"), {Size(rows), 3}));
  if (const Field normals = fields("normal_offsets")) {
    target.normal_offsets = Values(OfShape<FloatArray>(normals, {Size(rows), 3}));
  }
  return target;
}

// What a control does: a target, or a list of them by rising weight.
client::Shape ReadShape(const std::string& control, const Field& field, std::size_t vertices) {
  client::Shape shape{.control = control, .targets = {}};
  const bool is_list = py::isinstance<py::list>(field.value) && py::len(field.value) > 0 &&
                       py::hasattr(field.value[py::int_(0)], "offsets");
  if (!is_list) {
    shape.targets.push_back(ReadTarget(field, vertices));
    return shape;
  }
  std::size_t t = 0;
  for (const py::handle target : field.value) {
    shape.targets.push_back(ReadTarget(
        {py::reinterpret_borrow<py::object>(target), absl::StrCat(field.name, "[", t++, "]")},
        vertices));
  }
  return shape;
}

}  // namespace

MeshFromArrays ReadMesh(const Fields& fields, const std::vector<float>& inverse_bind) {
  MeshFromArrays read;
  client::Mesh& mesh = read.mesh;
  mesh.name = py::str(fields("name").value);
  mesh.source_path = py::str(fields("place").value);
  const Field points = fields("positions");
  const FloatArray positions = ToArray<FloatArray>(points);
  if (positions.ndim() != 2 || positions.shape(1) != 3) {
    RaiseShape(points.name, positions, "(vertices, 3)");
  }
  mesh.positions = Values(positions);
  const std::size_t vertices = mesh.vertices();
  ReadFaces(fields("faces"), fields("face_sizes"), mesh);
  if (const Field normals = fields("normals"))
    mesh.normals = Values(OfShape<FloatArray>(normals, {Size(vertices), 3}));
  if (const Field uvs = fields("uvs")) {
    read.extras.corner_uvs = Values(OfShape<FloatArray>(uvs, {Size(mesh.face_vertices.size()), 2}));
  }
  if (const Field weights = fields("weights")) {
    const std::vector<std::int64_t> slots = ReadBinding(fields, inverse_bind, mesh.skin);
    ReadInfluences(weights, fields("influences"), slots, mesh);
    if (const Field fallback = fields("fallback_joint")) {
      if (!py::isinstance<py::int_>(fallback.value)) RaiseField(fallback, "need an integer");
      mesh.skin.fallback_joint = Slot(fallback, py::cast<std::int64_t>(fallback.value), slots);
    }
  }
  const Field shapes = fields("shapes");
  for (const auto& entry : Entries(shapes)) {
    mesh.shapes.push_back(ReadShape(entry.first, Entry(shapes, entry), vertices));
  }
  const Field maps = fields("maps");
  for (const auto& entry : Entries(maps)) {
    mesh.maps.push_back(
        {entry.first, Values(OfShape<FloatArray>(Entry(maps, entry), {Size(vertices)}))});
  }
  return read;
}

}  // namespace sinew::python
