// fit_table - fits built-in templates to characters and prints how far joints are from the file's
// own, in per cent of the height.
//
//   fit_table human CesiumMan.glb chest=Skeleton_torso_joint_3 ...
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "client/bake/character/character_file.h"
#include "core/fit/body.h"
#include "core/fit/fit_skeleton.h"
#include "core/fit/spheres.h"
#include "tests/support/run_method.h"

namespace sinew {
namespace {

using testing::ValueOrDie;

std::vector<AffineD> RestFrames(const client::RigData& rig) {
  std::vector<AffineD> frames(rig.joints.size());
  for (std::size_t j = 0; j < frames.size(); ++j) {
    Affine local;
    std::copy_n(rig.rest_local.data() + j * 12, 12, local.m.begin());
    frames[j] = ToDouble(local);
    if (rig.joints[j].parent >= 0)
      frames[j] = Compose(frames[static_cast<std::size_t>(rig.joints[j].parent)], frames[j]);
  }
  return frames;
}

Mesh RestMesh(const client::RigData& rig, const std::vector<AffineD>& frames) {
  MeshSource source;
  source.face_offsets.push_back(0);
  for (const client::Mesh& mesh : rig.meshes) {
    MeshPart part{.name = mesh.name,
                  .vertex_offset = std::uint32_t(source.positions.size()),
                  .vertex_count = std::uint32_t(mesh.vertices()),
                  .face_offset = std::uint32_t(source.face_offsets.size() - 1)};
    std::vector<AffineD> skin;
    Affine geometry;
    std::copy(mesh.skin.geometry_bind.begin(), mesh.skin.geometry_bind.end(), geometry.m.begin());
    for (std::size_t s = 0; s < mesh.skin.joints.size(); ++s) {
      Affine inverse;
      std::copy_n(mesh.skin.inverse_bind.data() + s * 12, 12, inverse.m.begin());
      skin.push_back(
          Compose(Compose(frames[mesh.skin.joints[s]], ToDouble(inverse)), ToDouble(geometry)));
    }
    std::size_t at = 0;
    for (std::size_t v = 0; v < mesh.vertices(); ++v) {
      const Vec3d p{mesh.positions[3 * v], mesh.positions[3 * v + 1], mesh.positions[3 * v + 2]};
      Vec3d q = mesh.skin.empty() ? p : Vec3d{};
      if (!mesh.skin.empty()) {
        for (std::size_t k = 0; k < mesh.skin.influence_counts[v]; ++k, ++at) {
          q = q + double(mesh.skin.influence_weights[at]) *
                      Apply(skin[mesh.skin.influence_joints[at]], p);
        }
      }
      source.positions.push_back(ToFloat(q));
    }
    std::size_t corner = 0;
    const std::size_t faces =
        mesh.face_sizes.empty() ? mesh.face_vertices.size() / 3 : mesh.face_sizes.size();
    for (std::size_t f = 0; f < faces; ++f) {
      const std::size_t size = mesh.face_sizes.empty() ? 3 : mesh.face_sizes[f];
      for (std::size_t k = 0; k < size; ++k)
        source.face_vertices.push_back(part.vertex_offset + mesh.face_vertices[corner++]);
      source.face_offsets.push_back(std::uint32_t(source.face_vertices.size()));
    }
    part.face_count = std::uint32_t(faces);
    source.parts.push_back(part);
  }
  return ValueOrDie(Mesh::Create(std::move(source)));
}

int Main(int argc, char** argv) {
  const auto skeleton = ValueOrDie(fit::BuiltInTemplate(argv[1]));
  client::RigData rig = ValueOrDie(bake::ReadCharacter(argv[2], {.allow_no_skin = true})).rig;
  const std::vector<AffineD> frames = RestFrames(rig);
  const Mesh mesh = RestMesh(rig, frames);
  FitOptions options;
  if (const char* r = std::getenv("RES")) options.resolution = std::uint32_t(std::atoi(r));
  if (const char* r = std::getenv("SCALE")) options.scale = std::atof(r);
  if (std::getenv("NOTURN")) options.turns = false;
  if (const char* r = std::getenv("UP")) options.up = FitUp(std::atoi(r));
  Task task;
  {
    const auto body = ValueOrDie(fit::Body::Create(mesh, options.resolution, task));
    const auto graph = ValueOrDie(fit::PackSpheres(body, task));
    std::size_t edges = 0;
    for (const auto& list : graph.neighbours) edges += list.size();
    std::printf("connected %.3f medial %zu spheres %zu edges %zu cell %.4f\n", body.connected(),
                body.medial().size(), graph.count(), edges / 2, body.cell());
    if (std::getenv("LIST"))
      for (std::size_t k = 0; k < graph.count(); ++k)
        std::printf("%.3f %.3f %.3f r %.3f\n", graph.centre[k].x, graph.centre[k].y,
                    graph.centre[k].z, graph.radius[k]);
  }
  const auto start = std::chrono::steady_clock::now();
  const auto fitted = FitSkeleton(mesh, skeleton, options, task);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!fitted.ok()) {
    std::printf("%s: %s (%.2f s)\n", argv[2], fitted.status().ToString().c_str(), seconds);
    return 1;
  }
  std::printf("%s %s: residual %.4f facing %g %g %g, %zu spheres, %.2f s\n", argv[2], argv[1],
              fitted->facing.residual, fitted->facing.forward.x, fitted->facing.forward.y,
              fitted->facing.forward.z, fitted->spheres, seconds);
  for (const Problem& warning : fitted->warnings)
    std::printf("  warning: %s: %s\n", warning.field.c_str(), warning.message.c_str());
  const double height = mesh.maximum().y - mesh.minimum().y;
  std::map<std::string, std::string> own;
  for (int k = 3; k < argc; ++k) {
    const std::string text = argv[k];
    own[text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
  }
  double sum = 0, most = 0;
  int count = 0;
  for (std::size_t j = 0; j < skeleton.joints.size(); ++j) {
    const Vec3d p = fitted->places[j];
    std::printf("  %-14s %7.3f %7.3f %7.3f", skeleton.joints[j].name.c_str(), p.x, p.y, p.z);
    const auto name = own.find(skeleton.joints[j].name);
    if (name != own.end()) {
      for (std::size_t k = 0; k < rig.joints.size(); ++k) {
        if (rig.joints[k].name != name->second) continue;
        const Vec3d q = Translation(frames[k]);
        const double error = 100 * std::sqrt(Dot(p - q, p - q)) / height;
        std::printf("   own %7.3f %7.3f %7.3f  error %.1f %%", q.x, q.y, q.z, error);
        sum += error;
        most = std::max(most, error);
        ++count;
      }
    }
    std::printf("\n");
  }
  if (count > 0) std::printf("  mean %.1f max %.1f of %d\n", sum / count, most, count);
  return 0;
}

}  // namespace
}  // namespace sinew

int main(int argc, char** argv) {
  return sinew::Main(argc, argv);
}
