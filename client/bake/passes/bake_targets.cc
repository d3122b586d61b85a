#include "client/bake/passes/bake_targets.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <regex>
#include <set>
#include <utility>

#include "client/bake/base/errors.h"
#include "client/bake/files/name_pattern.h"
#include "client/bake/files/usd_file.h"
#include "client/bake/formats/usda.h"
#include "client/bake/passes/bake_manifest.h"
#include "core/base/closest_names.h"
#include "core/base/status.h"
#include "core/base/types.h"

namespace sinew::bake {
namespace {

absl::StatusOr<CacheFormat> FormatOf(const BakeOutput& output) {
  const std::string name = output.format.empty()
                               ? std::filesystem::path(output.out).extension().string()
                               : output.format;
  const absl::StatusOr<CacheFormat> format = ParseCacheFormat(name);
  if (format.ok() && *format == CacheFormat::kObj && !HasFrameNumber(output.out)) {
    return RequestError(absl::StrCat("out: got \"", output.out,
                                     "\", need #### or %04d in the name of an .obj, for the number "
                                     "of the frame"));
  }
  if (format.ok()) return format;
  return RequestError(absl::StrCat(output.format.empty() ? "out" : "format", ": got \"",
                                   output.format.empty() ? output.out : name,
                                   "\", need .pc2, .mdd, .npy, .usda, .obj or .glb, or the format "
                                   "pc2, mdd, npy, usda, obj or glb"));
}

absl::StatusOr<client::UpAxis> UpOf(const std::string& axes) {
  if (axes == "file") return client::UpAxis::kUnspecified;
  if (axes == "blender") return client::UpAxis::kZ;
  if (axes == "gltf" || axes == "maya") return client::UpAxis::kY;
  return RequestError(
      absl::StrCat("axes: got \"", axes, "\", need file, blender (Z up), gltf or maya (Y up)"));
}

// Indices of the meshes that are asked for, rising.
absl::StatusOr<std::vector<std::size_t>> MeshesOf(const BakeOutput& output,
                                                  const client::RigData& rig) {
  std::vector<std::string> names;
  for (const client::Mesh& mesh : rig.meshes) names.push_back(mesh.name);
  std::set<std::size_t> chosen;
  for (const std::string& name : output.meshes) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) {
      return InvalidArgument("mesh: got \"", name, "\"", kNoMesh, DidYouMean(name, names));
    }
    chosen.insert(static_cast<std::size_t>(found - names.begin()));
  }
  for (std::size_t m = 0; output.meshes.empty() && m < names.size(); ++m) chosen.insert(m);
  if (chosen.empty()) return InvalidArgument("the character has no mesh");
  return std::vector<std::size_t>(chosen.begin(), chosen.end());
}

absl::Status CheckKnownWords(const std::string& out) {
  static const std::regex word(
      R"(\{(\w{0,255})\})");  // bounded: a long run would exhaust the stack
  for (std::sregex_iterator it(out.begin(), out.end(), word), end; it != end; ++it) {
    const std::string found = (*it)[1];
    if (found == "mesh" || found == "clip" || found == "deformer") continue;
    return RequestError(absl::StrCat("out: got {", found, "}, need {mesh}, {clip} or {deformer}"));
  }
  return absl::OkStatus();
}

absl::Status CheckWord(const std::string& out, const std::string& word, std::size_t count) {
  if (count <= 1 || HasWord(out, word)) return absl::OkStatus();
  const std::filesystem::path path(out);
  return RequestError(absl::StrCat("out: got \"", out, "\", need {", word, "} in it for ", count,
                                   " caches, as in ", path.stem().string(), ".{", word, "}",
                                   path.extension().string()));
}

// Two caches, or a cache and the manifest of another, would have one name.
absl::Status CheckPaths(const std::vector<BakePass>& passes,
                        const std::vector<std::string>& inputs) {
  std::set<std::string> paths;
  for (const BakePass& pass : passes) {
    for (const CacheTarget& target : pass.targets) {
      std::vector<std::string> own = {target.path, ManifestPath(target.path)};
      if (target.WritesRest()) own.push_back(RestPath(target.path));
      for (const std::string& name : target.attributes) {
        if (IsSceneFormat(target.format)) break;
        own.push_back(AttributePath(target.path, name));
      }
      for (const std::string& path : own) {
        for (const std::string& input : inputs) {
          std::error_code error;
          if (input.empty() || !std::filesystem::equivalent(path, input, error)) continue;
          return RequestError(
              absl::StrCat("out: ", path, " is read by this command, need another name"));
        }
        if (!paths.insert(path).second) {
          return RequestError(absl::StrCat("out: two files would have the name ", path));
        }
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CacheTarget> CommonTarget(const BakeOutput& output) {
  CacheTarget common;
  common.overwrite = !output.no_clobber;
  if (output.normals) common.attributes.emplace_back(kNormals);
  if (output.velocities) common.attributes.emplace_back(kVelocities);
  SINEW_ASSIGN_OR_RETURN(common.format, FormatOf(output));
  if (output.velocities &&
      (common.format == CacheFormat::kObj || common.format == CacheFormat::kGlb)) {
    return RequestError(absl::StrCat("velocities: .", CacheFormatName(common.format),
                                     " cannot hold them, need .pc2, .mdd, .npy or .usda"));
  }
  SINEW_ASSIGN_OR_RETURN(common.up, UpOf(output.axes));
  return common;
}

void SelectVertices(const CharacterFile& character, CacheTarget& common) {
  if (common.up != client::UpAxis::kZ || !character.scene) return;
  VertexSelection selection;
  bool differs = false;
  for (const client::MeshExtras& mesh : character.scene->mesh_extras) {
    selection.push_back(mesh.blender_vertices);
    differs = differs || !mesh.blender_vertices.empty();
  }
  if (differs) common.selection = std::make_shared<const VertexSelection>(std::move(selection));
}

absl::Status AddScene(const BakeOutput& output, const CharacterFile& character,
                      std::uint64_t clip_samples, CacheTarget& common) {
  SelectVertices(character, common);
  common.rest_mesh = RestMeshOf(character, /*always=*/IsSceneFormat(common.format));
  if (common.format != CacheFormat::kUsda) {
    if (output.usd.empty() && output.usd_root.empty()) return absl::OkStatus();
    return RequestError(absl::StrCat(output.usd.empty() ? "usd_root" : "usd",
                                     ": is for .usda, not for .", CacheFormatName(common.format)));
  }
  common.usd.layout = output.usd.empty() ? kUsdMesh : output.usd;
  if (common.usd.layout == kUsdClips) common.usd.clip_samples = clip_samples;
  const std::vector<std::string> names = {std::filesystem::path(character.label).stem().string()};
  common.usd.root = output.usd_root.empty() ? "/" + UsdPrimNames(names)[0] : output.usd_root;
  if (IsUsdPrimPath(common.usd.root)) return absl::OkStatus();
  return RequestError(absl::StrCat("usd_root: got \"", output.usd_root,
                                   "\", need the path of a prim, such as /Hero/geo"));
}

client::OutputOptions OutputOf(const CacheTarget& target) {
  client::OutputOptions output;
  if (std::ranges::find(target.attributes, kNormals) != target.attributes.end()) {
    output.attributes = {client::Attribute::kPositions, client::Attribute::kNormals};
  }
  return output;
}

absl::Status UseObjectSpace(const CharacterFile& character, std::vector<BakePass>& passes) {
  if (character.kind == CharacterFile::Kind::kModel) return absl::OkStatus();  // all at the origin
  if (character.kind != CharacterFile::Kind::kImported) {
    return InvalidArgument("space: got \"object\" for ", character.label,
                           ", which does not say where its objects are; need model");
  }
  for (BakePass& pass : passes) {
    for (CacheTarget& target : pass.targets) {
      if (target.up != client::UpAxis::kUnspecified) {
        return RequestError("space: object has axes of its own, need it without `axes`");
      }
      if (target.meshes.size() != 1) {
        return RequestError("space: object needs `split`, or one `mesh`");
      }
      const std::size_t mesh = target.meshes.front();
      AffineD placed;
      placed.m = character.scene->mesh_extras[mesh].object_to_scene;
      const AffineD inverse = Inverse(placed);
      if (!std::ranges::all_of(inverse.m, [](double x) { return std::isfinite(x); })) {
        return InvalidArgument("space: the object of mesh \"", character.rig.meshes[mesh].name,
                               "\" has a scale of 0, need model");
      }
      target.space.assign(inverse.m.begin(), inverse.m.end());
      target.space_name = "object";
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<BakePass>> BakePasses(const BakeOutput& output,
                                                 const CacheTarget& common,
                                                 const client::RigData& rig,
                                                 const std::vector<std::string>& clips,
                                                 const std::vector<std::string>& deformers,
                                                 const std::vector<std::string>& inputs) {
  SINEW_ASSIGN_OR_RETURN(const std::vector<std::size_t> meshes, MeshesOf(output, rig));
  SINEW_RETURN_IF_ERROR(CheckKnownWords(output.out));
  SINEW_RETURN_IF_ERROR(CheckWord(output.out, "mesh", output.split ? meshes.size() : 1));
  SINEW_RETURN_IF_ERROR(CheckWord(output.out, "clip", clips.size()));
  SINEW_RETURN_IF_ERROR(CheckWord(output.out, "deformer", deformers.size()));
  if (!output.split && meshes.size() > 1 && HasWord(output.out, "mesh")) {
    return RequestError("out: {mesh} needs `split`, or one `mesh`");
  }
  std::vector<BakePass> passes;
  for (std::size_t d = 0; d < deformers.size(); ++d) {
    for (std::size_t c = 0; c < clips.size(); ++c) {
      BakePass& pass = passes.emplace_back(BakePass{.clip = c, .deformer = d, .targets = {}});
      const auto add = [&](const std::vector<std::size_t>& chosen) {
        CacheTarget& target = pass.targets.emplace_back(common);
        target.meshes = chosen;
        target.path = ExpandName(output.out, {{"mesh", rig.meshes[chosen.front()].name},
                                              {"clip", clips[c]},
                                              {"deformer", deformers[d]}});
      };
      if (output.split) {
        for (const std::size_t mesh : meshes) add({mesh});
      } else {
        add(meshes);
      }
    }
  }
  SINEW_RETURN_IF_ERROR(CheckPaths(passes, inputs));
  return passes;
}

}  // namespace sinew::bake
