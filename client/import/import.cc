#include "sinew/import.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/string_view.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <fstream>
#include <limits>
#include <system_error>

#include "client/import/assimp_reader.h"
#include "client/import/fbx_reader.h"
#include "client/import/gltf_reader.h"
#include "client/import/obj_reader.h"
#include "client/import/unweighted.h"
#include "client/import/valid_text.h"
#include "client/rig/rest_pose.h"
#include "client/rig/rig_lint.h"
#include "client/rig/rig_traits.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"
#include "core/base/types.h"

namespace sinew::client {
namespace {

constexpr std::size_t kSniffedBytes = 4096;

absl::Status CheckIsFile(const std::filesystem::path& path) {
  std::error_code code;
  switch (std::filesystem::status(path, code).type()) {
    case std::filesystem::file_type::regular:
      return absl::OkStatus();
    case std::filesystem::file_type::not_found:
      return absl::NotFoundError(absl::StrCat(
          path.string(), path == "-" ? ": characters are not read from standard input, need a file"
                                     : ": no such file"));
    case std::filesystem::file_type::directory:
      return InvalidArgument(path.string(), ": is a folder, need a file");
    default:
      return InvalidArgument(path.string(), ": not a regular file");
  }
}

absl::StatusOr<std::string> ReadBytes(const std::filesystem::path& path, std::uint64_t max_bytes) {
  std::error_code code;
  const std::uintmax_t size = std::filesystem::file_size(path, code);
  if (code) return InvalidArgument(path.string(), ": ", code.message());
  if (size == 0) return InvalidArgument(path.string(), ": the file is empty");
  if (size > max_bytes)
    return InvalidArgument(path.string(), ": ", size, " bytes, need at most ", max_bytes);
  std::string bytes(size, '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(bytes.data(), static_cast<std::streamsize>(size));
  if (static_cast<std::uintmax_t>(in.gcount()) != size) {
    return InvalidArgument(path.string(), ": cannot be read");
  }
  return bytes;
}

// What the content is, whatever the name says: an extension, or nothing if unknown.
absl::string_view SniffExtension(const std::string& bytes) {
  absl::string_view head = absl::string_view(bytes).substr(0, kSniffedBytes);
  if (absl::StartsWith(head, "glTF")) return ".glb";
  if (absl::StartsWith(head, "Kaydara FBX Binary")) return ".fbx";
  if (absl::StartsWith(head, "\xEF\xBB\xBF")) head.remove_prefix(3);
  head = absl::StripLeadingAsciiWhitespace(head);
  if (absl::StartsWith(head, "{")) return ".gltf";
  if (absl::StartsWith(head, "<") && absl::StrContains(head, "<COLLADA")) return ".dae";
  if (absl::StrContains(head, "FBXHeaderExtension")) return ".fbx";
  return "";
}

bool IsFinite(const std::vector<float>& values) {
  return std::ranges::all_of(values, [](float x) { return std::isfinite(x); });
}

bool IsFinite(const Mesh& mesh) {
  for (const Shape& shape : mesh.shapes) {
    for (const ShapeTarget& target : shape.targets) {
      if (!std::isfinite(target.weight) || !IsFinite(target.offsets) ||
          !IsFinite(target.normal_offsets)) {
        return false;
      }
    }
  }
  return IsFinite(mesh.positions) && IsFinite(mesh.normals) && IsFinite(mesh.tangents) &&
         IsFinite(mesh.skin.inverse_bind);
}

// Numbers that fit the file's double or float but not a rig: matrices overflow when they are
// multiplied, and Assimp does not check what it reads.
absl::Status CheckFinite(const RigData& rig) {
  for (std::size_t i = 0; i < rig.rest_local.size(); ++i) {
    if (std::isfinite(rig.rest_local[i])) continue;
    return InvalidArgument(rig.joints[i / 12].source_path,
                           ": its rest leaves the range of float32");
  }
  for (const Control& control : rig.controls) {
    if (std::isfinite(control.default_value)) continue;
    return InvalidArgument("morph target '", control.name,
                           "': its weight leaves the range of float32");
  }
  for (const Mesh& mesh : rig.meshes) {
    if (IsFinite(mesh)) continue;
    return InvalidArgument(mesh.source_path,
                           ": positions, normals, morph targets or inverse binds leave the range "
                           "of float32");
  }
  return absl::OkStatus();
}

// Texture coordinates only serve other programs: wrong ones do not refuse the file.
void DropBadUvs(ImportedScene& scene) {
  for (std::size_t m = 0; m < std::min(scene.mesh_extras.size(), scene.rig.meshes.size()); ++m) {
    std::vector<float>& uvs = scene.mesh_extras[m].corner_uvs;
    if (IsFinite(uvs)) continue;
    uvs.clear();
    scene.problems.push_back(Lost("texture coordinates, which leave the range of float32",
                                  scene.rig.meshes[m].source_path));
  }
}

// A message may quote names of the file, and those of parsers may have several lines.
std::string OneLine(absl::string_view text) {
  constexpr std::size_t kMost = 300;
  constexpr absl::string_view kCut = "...";
  std::string line(absl::StripTrailingAsciiWhitespace(text));
  if (line.size() > kMost) {
    std::size_t size = kMost - kCut.size();
    while ((static_cast<unsigned char>(line[size]) >> 6) == 2) --size;  // inside a character
    line.resize(size);
    absl::StrAppend(&line, kCut);
  }
  std::ranges::replace_if(
      line, [](unsigned char c) { return absl::ascii_iscntrl(c); }, ' ');
  return line;
}

void MakeOneLine(std::vector<Problem>& problems) {
  for (Problem& problem : problems) {
    problem.message = OneLine(problem.message);
    problem.field = OneLine(problem.field);
  }
}

// Faces of a skin that its joints mirror show their inside, in pictures and other programs.
void ReportMirrors(ImportedScene& scene) {
  const std::vector<float> rest = client::RestJoints(scene.rig);
  for (const Mesh& mesh : scene.rig.meshes) {
    std::size_t mirrors = 0;
    for (std::size_t s = 0; s < mesh.skin.joints.size() && !rest.empty(); ++s) {
      const AffineD skin = Compose(client::MatrixAt(rest, mesh.skin.joints[s]),
                                   client::MatrixAt(mesh.skin.inverse_bind, s));
      mirrors += Determinant(Linear(skin)) < 0 ? 1 : 0;
    }
    if (mirrors * 2 <= mesh.skin.joints.size()) continue;
    scene.problems.push_back({Severity::kWarning,
                              "the joints mirror the mesh at rest, so that its faces and normals "
                              "point inwards; apply the negative scale in the authoring program",
                              mesh.source_path});
  }
}

// Where float32 cannot hold the shape of a mesh, such as that of a scan in coordinates of a map.
void ReportFarMeshes(ImportedScene& scene) {
  constexpr double kLargestStep = 1e-4;  // of the diagonal of the largest mesh
  double diagonal = 0;
  for (const Mesh& mesh : scene.rig.meshes) {
    diagonal = std::max(diagonal, BoxDiagonal(mesh.positions));
  }
  if (diagonal == 0) return;
  for (const Mesh& mesh : scene.rig.meshes) {
    double farthest = 0;
    for (const float x : mesh.positions) farthest = std::max(farthest, std::abs(double{x}));
    const double step = farthest * double{std::numeric_limits<float>::epsilon()};
    if (step <= kLargestStep * diagonal) continue;
    scene.problems.push_back(
        {Severity::kWarning,
         absl::StrFormat("is up to %.3g units from the origin, where float32 holds steps of %.2g: "
                         "%.2g %% of its diagonal; move it to the origin",
                         farthest, step, 100 * step / diagonal),
         mesh.name});
  }
}

void ReportRig(ImportedScene& scene) {
  ReportMirrors(scene);
  ReportFarMeshes(scene);
  for (const Mesh& mesh : scene.rig.meshes) {
    const std::string singular = client::SingularBindText(mesh.skin);
    if (!singular.empty()) {
      scene.problems.push_back({Severity::kWarning, singular, mesh.source_path});
    }
  }
  const client::RigTraits traits = client::CountRig(scene.rig);
  for (const client::MeshTraits& mesh : traits.meshes) {
    if (mesh.over_four == 0) continue;
    scene.problems.push_back(
        {Severity::kInfo,
         absl::StrCat(CountedText(mesh.over_four, "vertex has", "vertices have"),
                      " more than 4 influences, up to ", mesh.max_influences),
         mesh.name});
  }
  if (!traits.joints_without_weights.empty()) {
    scene.problems.push_back(
        {Severity::kInfo,
         absl::StrCat(traits.joints_without_weights.size(), " of ",
                      CountedText(scene.rig.joints.size(), "joint"), " without weights"),
         "skins"});
  }
  if (!scene.keeps_file_order) {
    scene.problems.push_back({Severity::kInfo,
                              "the file's vertex order is not kept; apply caches to the "
                              "NAME.rest.obj that `sinew bake` writes",
                              "meshes"});
  }
}

absl::StatusOr<ImportedScene> ReadScene(const std::string& bytes, const std::string& extension,
                                        const std::string& path, const ImportOptions& options) {
  if (extension == ".obj") {
    SINEW_ASSIGN_OR_RETURN(ImportedScene scene, ReadObj(bytes));
    scene.rig.meshes[0].name = ValidText(std::filesystem::path(path).stem().string());
    return scene;
  }
  if (extension == ".fbx") return ReadFbx(bytes, options);
  if (extension == ".dae") return ReadWithAssimp(bytes, options);
  return ReadGltf(bytes, path, options);
}

// The error of a file with `clips` that has no mesh at all, not even one without a skin.
absl::Status CheckHasMesh(const std::string& bytes, const std::string& extension,
                          const std::string& path, std::size_t clips, ImportOptions options) {
  if (clips == 0) return absl::OkStatus();
  // Assimp drops meshes that it cannot read.
  if (extension == ".dae" && absl::StrContains(bytes, "<mesh")) return absl::OkStatus();
  options.allow_no_skin = true;
  const absl::StatusOr<ImportedScene> whole = ReadScene(bytes, extension, path, options);
  if (!whole.ok() || !whole->rig.meshes.empty()) return absl::OkStatus();
  return InvalidArgument(
      "has clips but no mesh, need a character; name this file with "
      "--clip-file (in Python clips=) beside one");
}

absl::StatusOr<ImportedScene> Read(const std::string& bytes, const std::string& extension,
                                   const std::string& path, const ImportOptions& options) {
  if (absl::StartsWith(bytes, "\xff\xfe") || absl::StartsWith(bytes, "\xfe\xff")) {
    return InvalidArgument("its text is UTF-16, need UTF-8");
  }
  const absl::string_view found = SniffExtension(bytes);
  // .obj has no mark, and neither has old FBX as text.
  const bool may_be_unmarked = extension == ".obj" || extension == ".fbx";
  if (found != extension && (!may_be_unmarked || !found.empty())) {
    return InvalidArgument("wrong type, the content is ",
                           found.empty() ? "not what the extension says" : "that of a file called ",
                           found);
  }
  SINEW_ASSIGN_OR_RETURN(ImportedScene scene, ReadScene(bytes, extension, path, options));
  if (options.clips_only) {
    if (scene.clips.empty()) return InvalidArgument("has no clip, need at least one");
    MakeOneLine(scene.problems);
    return scene;
  }
  if (scene.rig.meshes.empty() && !(options.allow_no_skin && !scene.rig.joints.empty())) {
    SINEW_RETURN_IF_ERROR(CheckHasMesh(bytes, extension, path, scene.clips.size(), options));
    return InvalidArgument(
        options.allow_no_skin
            ? "nodes: neither meshes nor joints, need some"
            : "nodes: no mesh has a skin, need at least one; `sinew weights` computes "
              "weights");
  }
  SINEW_RETURN_IF_ERROR(FinishScene(options.unweighted, scene));
  return scene;
}

}  // namespace

Problem Lost(const std::string& message, const std::string& field) {
  return {
      .severity = Severity::kWarning, .message = message, .field = field, .reason = kLostReason};
}

absl::Status FinishScene(Unweighted unweighted, ImportedScene& scene) {
  const std::size_t first = scene.problems.size();
  SINEW_RETURN_IF_ERROR(BindUnweighted(unweighted, scene));
  SINEW_RETURN_IF_ERROR(CheckFinite(scene.rig));
  DropBadUvs(scene);
  ReportRig(scene);
  for (std::size_t i = first; i < scene.problems.size(); ++i) scene.problems[i].of_meshes = true;
  MakeOneLine(scene.problems);
  return absl::OkStatus();
}

absl::StatusOr<ImportedScene> ImportFile(const std::string& path, const ImportOptions& options) {
  const std::filesystem::path file(path);
  SINEW_RETURN_IF_ERROR(CheckIsFile(file));
  std::string extension = absl::AsciiStrToLower(file.extension().string());
  if (extension == ".vrm") extension = ".glb";
  const bool obj = extension == ".obj";
  if ((!obj || !options.allow_no_skin) && extension != ".glb" && extension != ".gltf" &&
      extension != ".fbx" && extension != ".dae") {
    // What a mesh without weights typically comes as.
    const char* why = obj ? ": an .obj holds neither joints nor weights, which "
                            "`sinew fit-skeleton` or `sinew weights FILE --skeleton FILE2` gives it"
                      : absl::StartsWith(extension, ".usd")
                          ? "; `python3 -m sinew.usd FILE OUT.sinewrig` converts OpenUSD files"
                          : "";
    return InvalidArgument(
        path, extension.empty() ? ": no extension" : absl::StrCat(": wrong type '", extension, "'"),
        ", need .glb, .gltf, .vrm, ", options.allow_no_skin && !options.clips_only ? ".obj, " : "",
        ".fbx or .dae", why);
  }
  // The parsers allocate what a file asks for, and throw when that fails.
  try {
    const absl::StatusOr<std::string> bytes = ReadBytes(file, options.max_file_bytes);
    if (!bytes.ok()) return bytes.status();
    absl::StatusOr<ImportedScene> scene = Read(*bytes, extension, path, options);
    if (!scene.ok()) {
      return absl::Status(scene.status().code(),
                          absl::StrCat(path, ": ", OneLine(scene.status().message())));
    }
    scene->rig.label = ValidText(file.filename().string());
    return scene;
  } catch (const std::exception& e) {
    return InvalidArgument(path, ": ", e.what());
  }
}

}  // namespace sinew::client
