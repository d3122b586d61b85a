// Rigs and meshes.
#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_replace.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "client/bake/base/errors.h"
#include "client/bake/character/import_warnings.h"
#include "client/bake/files/output_file.h"
#include "client/python/src/arrays.h"
#include "client/python/src/bindings.h"
#include "client/python/src/errors.h"
#include "client/python/src/matrices.h"
#include "core/base/counted_text.h"

namespace py = pybind11;
using namespace py::literals;

namespace sinew::python {
namespace {

// The meshes of a rig are members of it: a handle keeps the rig alive.
struct Mesh {
  Rig rig;
  std::size_t index = 0;

  const client::Mesh& data() const { return rig.data().meshes[index]; }
};

py::object UpAxisName(client::UpAxis axis) {
  if (axis == client::UpAxis::kY) return py::str("Y");
  if (axis == client::UpAxis::kZ) return py::str("Z");
  return py::none();
}

// Joint to model, in double and rounded once.
py::array RestPose(const Rig& rig) {
  const client::RigData& data = rig.data();
  std::vector<Eigen::Affine3d> model;
  std::vector<float> out;
  for (std::size_t j = 0; j < data.joints.size(); ++j) {
    const Eigen::Affine3d local = ToAffine(&data.rest_local[j * 12]);
    const std::int32_t parent = data.joints[j].parent;
    model.push_back(parent < 0 ? local : model[static_cast<std::size_t>(parent)] * local);
    Append(model.back(), out);
  }
  return Owned(std::move(out), {Size(data.joints.size()), 3, 4});
}

// A serialised rig is not checked before a server does it.
[[noreturn]] void RaiseInconsistent(const Mesh& mesh, const char* what) {
  Raise(absl::InvalidArgumentError(absl::StrCat("mesh '", mesh.data().name, "': ", what,
                                                " refer to entries that do not exist")));
}

// Dense: [V, J], columns in the order of the rig's joints.
py::array DenseWeights(const Mesh& mesh) {
  const client::Skin& skin = mesh.data().skin;
  const std::size_t joints = mesh.rig.data().joints.size(), vertices = mesh.data().vertices();
  std::vector<float> dense(vertices * joints);
  std::size_t at = 0;
  for (std::size_t v = 0; v < skin.influence_counts.size(); ++v) {
    for (std::uint32_t k = 0; k < skin.influence_counts[v]; ++k, ++at) {
      if (v >= vertices || at >= skin.influence_weights.size() ||
          at >= skin.influence_joints.size() || skin.influence_joints[at] >= skin.joints.size() ||
          skin.joints[skin.influence_joints[at]] >= joints) {
        RaiseInconsistent(mesh, "weights");
      }
      dense[v * joints + skin.joints[skin.influence_joints[at]]] += skin.influence_weights[at];
    }
  }
  return Owned(std::move(dense), {Size(vertices), Size(joints)});
}

// Faces as fans from their first corner: [T, 3].
py::array Triangles(const Mesh& mesh) {
  const client::Mesh& data = mesh.data();
  std::vector<std::uint32_t> triangles;
  if (data.face_sizes.empty()) {
    triangles = data.face_vertices;
  } else {
    std::size_t first = 0;
    for (const std::uint32_t size : data.face_sizes) {
      for (std::uint32_t k = 2; k < size; ++k) {
        for (const std::size_t corner : {first, first + k - 1, first + k}) {
          if (corner >= data.face_vertices.size()) RaiseInconsistent(mesh, "faces");
          triangles.push_back(data.face_vertices[corner]);
        }
      }
      first += size;
    }
  }
  const std::size_t count = triangles.size() / 3;
  return Owned(std::move(triangles), {Size(count), 3});
}

std::size_t FirstVertex(const Mesh& mesh) {
  std::size_t first = 0;
  for (std::size_t m = 0; m < mesh.index; ++m) first += mesh.rig.data().meshes[m].vertices();
  return first;
}

// What the importer warns of, as Python warnings; an exception if those are errors, or `strict`.
void Warn(const bake::CharacterFile& file, bool strict) {
  const std::vector<std::string> warnings = bake::ShownWarnings(file);
  if (strict && !warnings.empty()) {
    Raise(absl::InvalidArgumentError(
        absl::StrCat("strict: got warnings, need none:\n", absl::StrJoin(warnings, "\n"))));
  }
  for (const std::string& warning : warnings) {
    const py::object category = py::module_::import("sinew.errors").attr("FileWarning");
    if (PyErr_WarnEx(category.ptr(), warning.c_str(), 2) != 0) throw py::error_already_set();
  }
}

// Files that sinew.usd reads, with usd-core.
bool IsUsd(const std::filesystem::path& path) {
  const std::string extension = absl::AsciiStrToLower(path.extension().string());
  return extension == ".usd" || extension == ".usda" || extension == ".usdc" ||
         extension == ".usdz";
}

Rig LoadUsd(const std::filesystem::path& path, const std::filesystem::path& muscles,
            bool allow_no_skin, const std::string& unweighted, bool has_clips) {
  if (has_clips) {
    Raise(absl::InvalidArgumentError(
        absl::StrCat("clips: got files for ", path.filename().string(),
                     ", need a glTF, FBX or COLLADA file as the character")));
  }
  const py::object character =
      py::module_::import("sinew.usd")
          .attr("read")(path.string(), "muscles"_a = muscles.string(),
                        "allow_no_skin"_a = allow_no_skin, "unweighted"_a = unweighted);
  return py::cast<Rig>(character.attr("rig"));
}

Rig Load(const std::filesystem::path& path, const std::filesystem::path& muscles,
         bool allow_no_skin, const std::string& unweighted,
         const std::vector<std::filesystem::path>& clips, bool strict, bool retarget,
         const std::map<std::string, std::string>& joint_map) {
  if (IsUsd(path)) {
    Rig rig = LoadUsd(path, muscles, allow_no_skin, unweighted, !clips.empty());
    Warn(*rig.file, strict);
    return rig;
  }
  bake::ReadOptions options = {
      .muscles = muscles.string(), .unweighted = unweighted, .allow_no_skin = allow_no_skin};
  for (const std::filesystem::path& clip : clips) options.clip_files.push_back(clip.string());
  options.retarget = retarget;
  options.joint_map = joint_map;
  absl::StatusOr<bake::CharacterFile> file = absl::UnknownError("not read");
  {
    const py::gil_scoped_release release;
    file = bake::ReadCharacter(path.string(), options);
  }
  if (!file.ok()) {  // with the name of the argument
    file = bake::Reworded(
        file.status(), absl::StrReplaceAll(file.status().message(), {{"`clip_file`", "`clips`"},
                                                                     {"clip_file: ", "clips: "}}));
  }
  Rig rig{std::make_shared<const bake::CharacterFile>(Value(std::move(file))), path.string()};
  Warn(*rig.file, strict);
  return rig;
}

void Save(const Rig& rig, const std::filesystem::path& path) {
  bake::OutputFile file = Value(bake::OutputFile::Create(path.string()));
  Check(file.Write(rig.file->rig_bytes));
  Check(file.Commit());
}

using PickledProblem = std::tuple<int, std::string, std::string>;  // severity, message, field

// How pickle makes a rig again: of what save() keeps, and what people read.
py::tuple Pickled(const Rig& rig) {
  std::vector<PickledProblem> problems;
  for (const client::Problem& problem : rig.file->problems) {
    problems.emplace_back(static_cast<int>(problem.severity), problem.message, problem.field);
  }
  return py::make_tuple(
      py::module_::import("sinew._sinew").attr("_rig_of_bytes"),
      py::make_tuple(py::bytes(rig.file->rig_bytes), rig.file->label, rig.file->format, problems));
}

Rig Unpickled(const py::bytes& bytes, const std::string& label, const std::string& format,
              const std::vector<PickledProblem>& problems) {
  bake::CharacterFile file;
  file.kind = bake::CharacterFile::Kind::kSerialised;
  file.rig_bytes = std::string(bytes);
  file.rig = Value(client::DecodeRig(file.rig_bytes));
  file.label = label;
  file.format = format;
  for (const auto& [severity, message, field] : problems) {
    file.problems.push_back({static_cast<client::Severity>(severity), message, field});
  }
  return {std::make_shared<const bake::CharacterFile>(std::move(file))};
}

void BindMesh(py::module_& module) {
  py::class_<Mesh> type(module, "Mesh", "A mesh of a rig. Arrays are read-only views.");
  OnlyFromFunctions(type);
  type.def_property_readonly(
          "name", [](const Mesh& mesh) { return mesh.data().name; }, "Unique within the rig.")
      .def_property_readonly(
          "num_vertices", [](const Mesh& mesh) { return mesh.data().vertices(); },
          "Number of vertices.")
      .def_property_readonly("first_vertex", FirstVertex,
                             "Frames number vertices over all meshes: those of this mesh are "
                             "first_vertex to first_vertex + num_vertices.")
      .def_property_readonly(
          "positions",
          [](const Mesh& mesh) {
            return View<float>(mesh.rig.file, mesh.data().positions,
                               {Size(mesh.data().vertices()), 3});
          },
          "(V, 3) float32, in bind space.")
      .def_property_readonly(
          "face_sizes",
          [](const Mesh& mesh) {
            const client::Mesh& data = mesh.data();
            if (data.face_sizes.empty()) {
              const std::size_t faces = data.face_vertices.size() / 3;
              return Owned(std::vector<std::uint32_t>(faces, 3), {Size(faces)});
            }
            return View<std::uint32_t>(mesh.rig.file, data.face_sizes,
                                       {Size(data.face_sizes.size())});
          },
          "(F,) uint32: corners of each face.")
      .def_property_readonly(
          "face_vertices",
          [](const Mesh& mesh) {
            return View<std::uint32_t>(mesh.rig.file, mesh.data().face_vertices,
                                       {Size(mesh.data().face_vertices.size())});
          },
          "(sum of face_sizes,) uint32: vertices of this mesh, one face after the other.")
      .def_property_readonly("triangles", Triangles, "(T, 3) uint32: faces as fans.")
      .def_property_readonly("weights", DenseWeights,
                             "(V, J) float32: the weight of every joint, most of them 0. A copy.")
      .def("__repr__", [](const Mesh& mesh) {
        return absl::StrCat("<sinew.Mesh '", mesh.data().name, "', ",
                            CountedText(mesh.data().vertices(), "vertex", "vertices"), ">");
      });
  type.attr("vertices") = type.attr("num_vertices");  // its name in 0.1, until the release after
}

}  // namespace

void BindRig(py::module_& module) {
  BindMesh(module);
  py::class_<Rig> type(
      module, "Rig",
      "A character: meshes, joints, skin weights, and the clips of its file. Immutable. A pickled "
      "one\n"
      "has what save() writes, label, format and problems, but no clips: pickle their poses.");
  OnlyFromFunctions(type);
  BindRigFromArrays(module, type);
  type.def_property_readonly(
          "label", [](const Rig& rig) { return rig.file->label; },
          "For display: the name of the file.")
      .def_property_readonly(
          "format", [](const Rig& rig) { return rig.file->format; }, "Kind of the file it is from.")
      .def_property_readonly(
          "num_vertices", [](const Rig& rig) { return rig.data().vertices(); },
          "Number of vertices of all meshes; frames have them one mesh after the other.")
      .def_property_readonly(
          "joint_names",
          [](const Rig& rig) {
            std::vector<std::string> names;
            for (const auto& joint : rig.data().joints) names.push_back(joint.name);
            return names;
          },
          "Parents first.")
      .def_property_readonly(
          "parents",
          [](const Rig& rig) {
            std::vector<std::int32_t> parents;
            for (const auto& joint : rig.data().joints) parents.push_back(joint.parent);
            return Owned(parents, {Size(parents.size())});
          },
          "(J,) int32: the parent of each joint, -1 for a root.")
      .def_property_readonly("rest_pose", RestPose, "(J, 3, 4) float32: joint to model space.")
      .def_property_readonly(
          "controls",
          [](const Rig& rig) {
            std::vector<std::string> names;
            for (const auto& control : rig.data().controls) names.push_back(control.name);
            return names;
          },
          "Names of the controls, in the order of their values.")
      .def_property_readonly(
          "meshes",
          [](const Rig& rig) {
            std::vector<Mesh> meshes;
            for (std::size_t m = 0; m < rig.data().meshes.size(); ++m) meshes.push_back({rig, m});
            return meshes;
          },
          "In the order of the vertices of frames.")
      .def_property_readonly(
          "clips", ClipsOf,
          "Clips of the file by name, in its order, then those of load(clips=...).")
      .def_property_readonly(
          "meters_per_unit", [](const Rig& rig) { return rig.data().meters_per_unit; },
          "Length of the unit of the file; 0: unknown.")
      .def_property_readonly(
          "up_axis", [](const Rig& rig) { return UpAxisName(rig.data().up_axis); },
          "\"Y\", \"Z\" or None.")
      .def_property_readonly(
          "problems",
          [](const Rig& rig) {
            std::vector<std::string> problems;
            for (const auto& problem : rig.file->problems) {
              problems.push_back(absl::StrCat(client::SeverityName(problem.severity), ": ",
                                              problem.message, problem.field.empty() ? "" : " at ",
                                              problem.field));
            }
            return problems;
          },
          "What the importer changed or could not keep.")
      .def("save", Save, "path"_a, "Writes a .sinewrig file, complete or not at all.")
      .def("__reduce__", Pickled)
      .def("__copy__", [](const Rig& rig) { return rig; })
      .def("__deepcopy__", [](const Rig& rig, const py::object&) { return rig; })
      .def("__repr__", [](const Rig& rig) {
        return absl::StrCat("<sinew.Rig '", rig.file->label, "', ",
                            CountedText(rig.data().vertices(), "vertex", "vertices"), ", ",
                            CountedText(rig.data().joints.size(), "joint"), ", ",
                            CountedText(rig.file->clips.size(), "clip"), ">");
      });
  type.attr("vertices") = type.attr("num_vertices");  // names in 0.1, until the release after
  type.attr("joints") = type.attr("joint_names");
  module.def("_rig_of_bytes", Unpickled);
  module.def(
      "load", Load, "path"_a, "muscles"_a = "", "allow_no_skin"_a = false,
      "unweighted"_a = "refuse", py::kw_only(), "clips"_a = std::vector<std::filesystem::path>(),
      "strict"_a = false, "retarget"_a = false,
      "joint_map"_a = std::map<std::string, std::string>(),
      R"(Reads a character: .glb, .gltf, .vrm, .fbx, .dae, .sinewrig, or model:NAME (arm, cylinder, hand, tube). With
usd-core also .usd, .usda, .usdc, .usdz; see sinew.usd.

muscles: a JSON file that adds muscles. allow_no_skin: also a file whose meshes have no weights.
unweighted: vertices without weights are "refuse"d, move with the topmost joint ("root"), like the "nearest"
vertex, or stay at rest ("still", which appends a joint).
clips: glTF, FBX or COLLADA files whose clips are added, by the names of their joints; they need no mesh.
retarget: they have another skeleton: joints turn as those of joint_map, or of common names, turn there.
What the importer changed or lost is warned of as sinew.FileWarning; with strict it is an InvalidArgument.)");
}

}  // namespace sinew::python
