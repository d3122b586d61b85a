// sample_rig.h - a rig that uses every field of RigData, small enough to read.
#pragma once

#include "sinew/rig_data.h"

namespace sinew::client {

inline RigData SampleRig() {
  RigData rig;
  rig.label = "sample";
  rig.meters_per_unit = 0.01;
  rig.up_axis = UpAxis::kZ;
  rig.joints = {{.name = "root", .parent = -1, .source_path = "/root"},
                {.name = "arm", .parent = 0, .compensates_scale = true},
                {.name = "twist", .parent = 1, .helper = true}};
  for (int j = 0; j < 3; ++j) {
    rig.rest_local.insert(rig.rest_local.end(), {1, 0, 0, float(j), 0, 1, 0, 0.5f, 0, 0, 1, -2});
  }
  Mesh quad;
  quad.name = "quad";
  quad.positions = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0.5f, 0.5f, 1};
  quad.face_sizes = {4, 3};
  quad.face_vertices = {0, 1, 2, 3, 0, 1, 4};
  quad.weld = {0, 1, 2, 3, 0};
  quad.normals.assign(15, 0.25f);
  quad.tangents.assign(20, -0.5f);
  quad.skin.geometry_bind[3] = 7;
  quad.skin.joints = {0, 1};
  quad.skin.inverse_bind.assign(24, 0.125f);
  quad.skin.influence_counts = {1, 2, 1, 0, 2};
  quad.skin.influence_joints = {0, 0, 1, 1, 0, 1};
  quad.skin.influence_weights = {1, 0.25f, 0.75f, 1, 0.5f, 0.5f};
  quad.skin.fallback_joint = 1;
  quad.skin.coefficients = {.columns = 4,
                            .counts = {1, 0, 2, 0, 0},
                            .joints = {1, 0, 1},
                            .values = {0, 0, 0, 1, 0.5f, 0, -2, 0.75f, -0.5f, 0, 2, 0.25f}};
  quad.shapes = {{.control = "smile",
                  .targets = {{.weight = 0.5f, .vertices = {1, 3}, .offsets = {1, 2, 3, 4, 5, 6}},
                              {.weight = 1,
                               .vertices = {},
                               .offsets = std::vector<float>(15, 2),
                               .normal_offsets = std::vector<float>(15, 3)}}}};
  quad.maps = {{.name = "blend", .values = {0, 0.25f, 0.5f, 0.75f, 1}}};
  quad.source_path = "/root/quad";
  Mesh triangle;
  triangle.name = "triangle";
  triangle.positions = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  triangle.face_vertices = {0, 1, 2};
  triangle.skin.joints = {2};
  triangle.skin.inverse_bind.assign(12, 1);
  triangle.skin.influence_counts = {1, 1, 1};
  triangle.skin.influence_joints = {0, 0, 0};
  triangle.skin.influence_weights = {1, 1, 1};
  rig.meshes = {quad, triangle};
  rig.controls = {{.name = "smile", .minimum = 0.f, .maximum = 2.f, .default_value = 0.5f},
                  {.name = "free", .minimum = {}, .maximum = {}, .default_value = -1}};
  return rig;
}

}  // namespace sinew::client
