#include "client/bake/files/usd_layer.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/status.h"

namespace sinew::bake {
namespace {

constexpr char kExtent[] = "extent", kPoints[] = "points";

std::string Indent(std::size_t depth) {
  return std::string(depth * 4, ' ');
}

// Types of the attributes with time samples, by name.
const char* TypeOf(const std::string& name) {
  if (name == kExtent) return "float3[]";
  if (name == kNormals) return "normal3f[]";
  return name == kPoints ? "point3f[]" : "vector3f[]";
}

// The names of all attributes with time samples, in the order of a layer.
std::vector<std::string> SampledNames(const std::vector<std::string>& attributes) {
  std::vector<std::string> names = {kExtent, kPoints};
  names.insert(names.end(), attributes.begin(), attributes.end());
  return names;
}

std::string Declaration(const std::string& name, std::size_t depth) {
  const std::string indent = Indent(depth);
  const std::string line = absl::StrCat(indent, TypeOf(name), " ", name);
  if (name != kNormals) return line + "\n";
  return absl::StrCat(line, " (\n", indent, "    interpolation = \"vertex\"\n", indent, ")\n");
}

std::string TopologyText(const SceneMesh& mesh, std::size_t depth) {
  const std::string indent = Indent(depth);
  std::string text = indent + "int[] faceVertexCounts = ";
  AppendUsdIndices(mesh.face_sizes, text);
  absl::StrAppend(&text, "\n", indent, "int[] faceVertexIndices = ");
  AppendUsdIndices(mesh.face_vertices, text);
  text += '\n';
  if (!mesh.corner_uvs.empty()) {
    absl::StrAppend(&text, indent, "texCoord2f[] primvars:st = ");
    AppendUsdTuples(mesh.corner_uvs, 2, text);
    absl::StrAppend(&text, " (\n", indent, "    interpolation = \"faceVarying\"\n", indent, ")\n");
  }
  absl::StrAppend(&text, indent, "uniform token subdivisionScheme = \"none\"\n");
  return text;
}

bool IsDefined(UsdContent content) {
  return content == UsdContent::kMesh || content == UsdContent::kTopology;
}

// The lines before and after what is inside the root prims.
std::pair<std::string, std::string> RootLines(const UsdScene& scene, const std::string& specifier,
                                              const std::string& metadata) {
  std::string before, after;
  for (std::size_t k = 0; k < scene.root.size(); ++k) {
    const std::string indent = Indent(k);
    absl::StrAppend(&before, indent, specifier, " ", UsdQuoted(scene.root[k]));
    if (k + 1 == scene.root.size() && !metadata.empty()) {
      absl::StrAppend(&before, " (\n", metadata, indent, ")");
    }
    absl::StrAppend(&before, "\n", indent, "{\n");
    after = absl::StrCat(indent, "}\n", after);
  }
  return {before, after};
}

std::span<const float> ArrayOf(const SceneMesh& mesh, const std::string& name,
                               const FrameArrays& frame) {
  const bool of_points = name == kExtent || name == kPoints;
  return (of_points ? frame.points : frame.Attribute(name))
      .subspan(mesh.first_vertex * 3, mesh.vertices * 3);
}

// A line of the time samples of an attribute.
void AppendSample(const UsdScene& scene, const std::string& name, double time,
                  std::span<const float> values, std::string& text) {
  text += Indent(scene.root.size() + 2);
  AppendUsdNumber(time, text);
  text += ": ";
  if (name == kExtent) {
    AppendUsdExtent(values, text);
  } else {
    AppendUsdTuples(values, 3, text);
  }
  text += ",\n";
}

}  // namespace

std::string UsdScene::RootPath() const {
  return absl::StrCat("/", absl::StrJoin(root, "/"));
}

UsdScene UsdSceneOf(const CacheScene& meshes, const std::vector<std::string>& attributes,
                    const std::string& root) {
  UsdScene scene = {.meshes = meshes, .attributes = attributes, .root = {}, .prims = {}};
  scene.root = absl::StrSplit(root.substr(1), '/');
  std::vector<std::string> names;
  for (const SceneMesh& mesh : meshes.meshes) names.push_back(mesh.name);
  scene.prims = UsdPrimNames(names);
  return scene;
}

absl::StatusOr<UsdSamples> UsdSamples::Create(const std::string& path, const UsdScene& scene) {
  UsdSamples samples(scene, SampledNames(scene.attributes));
  for (std::size_t k = 0; k < scene.prims.size() * samples.names_.size(); ++k) {
    SINEW_ASSIGN_OR_RETURN(Spool spool, Spool::Create(path));
    samples.spools_.push_back(std::move(spool));
  }
  return samples;
}

absl::Status UsdSamples::Append(double time, const FrameArrays& frame) {
  for (std::size_t m = 0; m < scene_->prims.size(); ++m) {
    const SceneMesh& mesh = scene_->meshes.meshes[m];
    for (std::size_t a = 0; a < names_.size(); ++a) {
      const std::string& name = names_[a];
      const std::span<const float> values = ArrayOf(mesh, name, frame);
      if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); })) {
        return InvalidArgument("usda: ", name, " at time ", time,
                               " have a number that is not finite");
      }
      text_.clear();
      AppendSample(*scene_, name, time, values, text_);
      SINEW_RETURN_IF_ERROR(spools_[m * names_.size() + a].Write(text_));
    }
  }
  return absl::OkStatus();
}

absl::Status UsdSamples::Write(std::size_t mesh, const std::string& name, SummedFile& out) {
  const std::size_t depth = scene_->root.size() + 1;
  const auto at = static_cast<std::size_t>(std::ranges::find(names_, name) - names_.begin());
  SINEW_RETURN_IF_ERROR(
      out.Write(absl::StrCat(Indent(depth), TypeOf(name), " ", name, ".timeSamples = {\n")));
  SINEW_RETURN_IF_ERROR(spools_[mesh * names_.size() + at].Read(
      [&](std::string_view bytes) { return out.Write(bytes); }));
  return out.Write(Indent(depth) + "}\n");
}

absl::Status WriteUsdLayer(const UsdScene& scene, const UsdLayerInfo& info, UsdContent content,
                           UsdSamples* samples, SummedFile& out) {
  const bool defined = IsDefined(content);
  const std::size_t depth = scene.root.size();
  const auto [before, after] =
      RootLines(scene, defined ? "def Xform" : "over",
                defined && depth == 1 ? Indent(depth) + "kind = \"component\"\n" : std::string());
  SINEW_RETURN_IF_ERROR(out.Write(UsdLayerHeader(info)));
  SINEW_RETURN_IF_ERROR(out.Write(before));
  for (std::size_t m = 0; m < scene.prims.size(); ++m) {
    SINEW_RETURN_IF_ERROR(
        out.Write(absl::StrCat(m == 0 ? "" : "\n", Indent(depth), defined ? "def Mesh" : "over",
                               " ", UsdQuoted(scene.prims[m]), "\n", Indent(depth), "{\n")));
    if (defined) {
      SINEW_RETURN_IF_ERROR(out.Write(TopologyText(scene.meshes.meshes[m], depth + 1)));
    }
    for (const std::string& name : SampledNames(scene.attributes)) {
      // A statement of its own where it has metadata, which time samples cannot have.
      if (samples == nullptr || name == kNormals) {
        SINEW_RETURN_IF_ERROR(out.Write(Declaration(name, depth + 1)));
      }
      if (samples != nullptr) SINEW_RETURN_IF_ERROR(samples->Write(m, name, out));
    }
    SINEW_RETURN_IF_ERROR(out.Write(Indent(depth) + "}\n"));
  }
  return out.Write(after);
}

std::uint64_t UsdFaceBytes(const UsdScene& scene) {
  std::uint64_t bytes = 0;
  for (const SceneMesh& mesh : scene.meshes.meshes) {
    bytes += TopologyText(mesh, scene.root.size() + 1).size();
  }
  return bytes;
}

std::uint64_t UsdSampleBytes(const UsdScene& scene, double time, const FrameArrays& frame) {
  std::string text;
  for (const SceneMesh& mesh : scene.meshes.meshes) {
    for (const std::string& name : SampledNames(scene.attributes)) {
      AppendSample(scene, name, time, ArrayOf(mesh, name, frame), text);
    }
  }
  return text.size();
}

std::string UsdRootPrims(const UsdScene& scene, const std::string& specifier,
                         const std::string& metadata, const std::string& body) {
  const auto [before, after] = RootLines(scene, specifier, metadata);
  return absl::StrCat(before, body, after);
}

}  // namespace sinew::bake
