// Uploads a triangle, moves it by (0, 0, 5), prints where its last vertex went.
#include <cstdio>

#include "sinew/client.h"

int main(int argc, char** argv) {
  using namespace sinew::client;
  if (argc != 2) return 64;
  RigData rig;
  rig.joints = {{.name = "root"}};
  rig.rest_local = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  Mesh mesh;
  mesh.name = "triangle";
  mesh.positions = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  mesh.face_vertices = {0, 1, 2};
  mesh.skin.joints = {0};
  mesh.skin.inverse_bind = rig.rest_local;
  mesh.skin.influence_counts = {1, 1, 1};
  mesh.skin.influence_joints = {0, 0, 0};
  mesh.skin.influence_weights = {1, 1, 1};
  rig.meshes = {mesh};

  auto client = Client::Connect({.address = argv[1]});
  if (!client.ok()) return 70;
  auto character = Character::Create(*client, rig, "lbs");
  const std::vector<float> pose = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 5};
  auto frame =
      character.ok() ? character->Deform({}, {.joint_transforms = pose}) : character.status();
  std::vector<float> points(9);
  if (!frame.ok() || !frame->CopyPositions(points).ok()) {
    std::fprintf(stderr, "%s\n", frame.status().ToString().c_str());
    return 70;
  }
  std::printf("%g %g %g\n", points[6], points[7], points[8]);
}
