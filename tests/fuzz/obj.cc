// obj.cc - Wavefront .obj files.
#include <numeric>
#include <vector>

#include "client/bake/formats/obj.h"
#include "client/import/obj_reader.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sinew;
  const absl::StatusOr<client::ImportedScene> scene = client::ReadObj(fuzz::Text(data, size));
  if (!scene.ok()) {
    fuzz::RequireRefusal(scene.status());
    return 0;
  }
  fuzz::Require(scene->rig.meshes.size() == 1, "one mesh");
  const client::Mesh& mesh = scene->rig.meshes.front();
  fuzz::Require(!mesh.positions.empty() && fuzz::AllFinite(mesh.positions), "finite positions");
  std::size_t corners = 0;
  for (const std::uint32_t face : mesh.face_sizes) {
    fuzz::Require(face >= 3, "three corners or more");
    corners += face;
  }
  fuzz::Require(corners == mesh.face_vertices.size(), "as many corners as the faces have");
  for (const std::uint32_t vertex : mesh.face_vertices) {
    fuzz::Require(vertex < mesh.vertices(), "corners at vertices of the mesh");
  }
  // Written again it is the same mesh.
  const bake::ObjPart part{mesh.name, mesh.positions, mesh.face_sizes, mesh.face_vertices};
  const absl::StatusOr<std::string> text = bake::EncodeObj("fuzz", std::span(&part, 1));
  fuzz::Require(text.ok(), "a mesh that can be written");
  const absl::StatusOr<client::ImportedScene> again = client::ReadObj(*text);
  fuzz::Require(again.ok(), "a file that is read back");
  const client::Mesh& copy = again->rig.meshes.front();
  fuzz::Require(copy.positions == mesh.positions && copy.face_sizes == mesh.face_sizes &&
                    copy.face_vertices == mesh.face_vertices,
                "the same mesh");
  return 0;
}
