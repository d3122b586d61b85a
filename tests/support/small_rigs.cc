#include "tests/support/small_rigs.h"

#include <cmath>
#include <utility>

#include "tests/support/tube.h"

namespace sinew::testing {

RigSource RigidSource(std::vector<Vec3f> positions,
                      const std::vector<std::vector<std::uint32_t>>& faces) {
  RigSource source;
  const auto vertices = static_cast<std::uint32_t>(positions.size());
  source.mesh.parts = {{"mesh", 0, vertices, 0, static_cast<std::uint32_t>(faces.size())}};
  source.mesh.positions = std::move(positions);
  source.mesh.face_offsets = {0};
  for (const auto& face : faces) {
    source.mesh.face_vertices.insert(source.mesh.face_vertices.end(), face.begin(), face.end());
    source.mesh.face_offsets.push_back(
        static_cast<std::uint32_t>(source.mesh.face_vertices.size()));
  }
  source.joints = {{.name = "root"}};
  source.rest_local = {AffineD{}};
  source.bindings = {Binding{}};
  for (std::uint32_t v = 0; v <= vertices; ++v) source.influences.offsets.push_back(v);
  source.influences.bindings.assign(vertices, 0);
  source.influences.weights.assign(vertices, 1.0f);
  return source;
}

Rig OneVertex() {
  return MakeRig(RigidSource({{1, 2, 3}}, {}));
}

Rig OneTriangle() {
  return MakeRig(RigidSource({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}}));
}

Rig DegenerateFan() {
  return MakeRig(
      RigidSource({{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}, {3, 0, 0}},
                  {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {1, 1, 1}, {0, 1, 1}, {0, 0, 1, 2}}));
}

Rig NonmanifoldEdge() {
  return MakeRig(RigidSource({{0, 0, 0}, {1, 0, 0}, {0.5f, 1, 0}, {0.5f, -1, 0}, {0.5f, 0, 1}},
                             {{0, 1, 2}, {1, 0, 3}, {0, 1, 4}}));
}

Rig SeamDuplicateVertices() {
  return MakeRig(RigidSource({{0, 0, 0},
                              {1, 0, 0.5f},
                              {1, 1, 0.5f},
                              {0, 1, 0},
                              {1, 0, 0.5f},
                              {2, 0, 0},
                              {2, 1, 0},
                              {1, 1, 0.5f}},
                             {{0, 1, 2, 3}, {4, 5, 6, 7}}));
}

Rig TouchingLips() {
  RigSource source = RigidSource(
      {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, -1, 1}, {1, -1, 1}, {1, 0, 0}, {0, 0, 0}},
      {{0, 1, 2, 3}, {4, 5, 6, 7}});
  source.joints.push_back({.name = "lower_lip", .parent = 0});
  source.rest_local.emplace_back();
  source.bindings.push_back({1, AffineD{}});
  for (std::size_t v = 4; v < 8; ++v) source.influences.bindings[v] = 1;
  return MakeRig(std::move(source));
}

Rig IsolatedVertex() {
  return MakeRig(RigidSource({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {5, 5, 5}}, {{0, 1, 2}}));
}

Rig HardCube() {
  std::vector<Vec3f> positions, normals;
  std::vector<Vec4f> tangents;
  std::vector<std::vector<std::uint32_t>> faces;
  for (int axis = 0; axis < 3; ++axis) {
    for (const float side : {-1.0f, 1.0f}) {
      const auto first = static_cast<std::uint32_t>(positions.size());
      for (const auto& [a, b] :
           {std::pair{-1.0f, -1.0f}, {1.0f, -1.0f}, {1.0f, 1.0f}, {-1.0f, 1.0f}}) {
        // Seen from outside, corners are counter-clockwise.
        float p[3] = {}, n[3] = {}, t[3] = {};
        p[axis] = side;
        p[(axis + 1) % 3] = a * side;
        p[(axis + 2) % 3] = b;
        n[axis] = side;
        t[(axis + 1) % 3] = 1;
        positions.push_back({0.5f * p[0], 0.5f * p[1], 0.5f * p[2]});
        normals.push_back({n[0], n[1], n[2]});
        tangents.push_back({t[0], t[1], t[2], axis == 2 ? -1.0f : 1.0f});
      }
      faces.push_back({first, first + 1, first + 2, first + 3});
    }
  }
  RigSource source = RigidSource(std::move(positions), faces);
  source.mesh.normals = std::move(normals);
  source.mesh.tangents = std::move(tangents);
  return MakeRig(std::move(source));
}

Rig TexturedTube(const TubeOptions& options) {
  RigSource source = TubeSource(options);
  for (const Vec3f& p : source.mesh.positions) {
    const double y = (double{p.y} - options.origin.y) / options.radius;
    const double z = (double{p.z} - options.origin.z) / options.radius;
    source.mesh.normals.push_back(ToFloat(Vec3d{0, y, z}));
    // Three units along the tube, four around it.
    source.mesh.tangents.push_back({3, static_cast<float>(-4 * z), static_cast<float>(4 * y), -1});
  }
  return MakeRig(std::move(source));
}

RigSource PalmSource(std::size_t around) {
  RigSource source = TubeSource({.around = around});
  for (Vec3f& p : source.mesh.positions) p.y *= 4;
  const auto at = [](double x, double y) { return AffineD{{1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, 0}}; };
  source.joints = {{.name = "palm"}, {.name = "left", .parent = 0}, {.name = "right", .parent = 0}};
  source.rest_local = {at(-2, 0), at(0, -1), at(0, 1)};
  source.bindings = {{1, at(2, 1)}, {2, at(2, -1)}};
  InfluenceSource rows{.offsets = {0}, .bindings = {}, .weights = {}};
  for (const Vec3f& p : source.mesh.positions) {
    const float t = std::clamp((p.y + 0.6F) / 1.2F, 0.0F, 1.0F), right = t * t * (3 - 2 * t);
    rows.bindings.insert(rows.bindings.end(), {0, 1});
    rows.weights.insert(rows.weights.end(), {1 - right, right});
    rows.offsets.push_back(rows.bindings.size());
  }
  source.influences = std::move(rows);
  return source;
}

Rig CrowdedTube() {
  constexpr std::size_t kJoints = 33;
  RigSource source =
      TubeSource({.rings = 12, .around = 8, .joints = kJoints, .length = 8, .quads = true});
  double x = 0;
  for (std::size_t j = 1; j < kJoints; ++j) {
    x += source.rest_local[j].m[3];
    source.rest_local[j].m[3] = x;  // relative to the parent
    source.joints[j].parent = 0;
  }
  source.rest_local[2] = source.rest_local[1];
  source.bindings[2].inverse_bind = source.bindings[1].inverse_bind;
  InfluenceSource rows{.offsets = {0}, .bindings = {}, .weights = {}};
  for (std::size_t v = 0; v < source.mesh.positions.size(); ++v) {
    const std::size_t count = v % 32 + 1;
    for (std::size_t k = 0; k < count; ++k) {
      rows.bindings.push_back(static_cast<std::uint32_t>((v / 8 + k) % kJoints));
      rows.weights.push_back(2.0f * static_cast<float>(k + 1) /
                             static_cast<float>(count * (count + 1)));
    }
    rows.offsets.push_back(rows.bindings.size());
  }
  source.influences = std::move(rows);
  MeshSource& mesh = source.mesh;
  for (std::size_t f = 0, faces = mesh.face_offsets.size() - 1; f < faces; f += 3) {
    for (std::uint32_t c = mesh.face_offsets[f]; c < mesh.face_offsets[f + 1]; ++c) {
      mesh.face_vertices.push_back(mesh.face_vertices[c]);
    }
    mesh.face_offsets.push_back(static_cast<std::uint32_t>(mesh.face_vertices.size()));
  }
  mesh.parts.front().face_count = static_cast<std::uint32_t>(mesh.face_offsets.size() - 1);
  return MakeRig(std::move(source));
}

Rig TubeFarOrigin() {
  return TubeRig({.origin = {300, 200, 200}});
}

RigSource TubeWithShapesSource() {
  const TubeOptions tube = {.rings = 61, .around = 20};
  RigSource source = TubeSource(tube);
  const auto round = [](float x) { return std::round(x * 1024) / 1024; };
  for (Vec3f& p : source.mesh.positions) p = {round(p.x), round(p.y), round(p.z)};
  // Offsets of the rings [first, last] from their positions.
  const auto add = [&](ShapeTarget& target, std::size_t first, std::size_t last, auto&& offset) {
    for (std::size_t v = first * tube.around; v < (last + 1) * tube.around; ++v) {
      const Vec3f d = offset(source.mesh.positions[v]);
      target.vertices.push_back(static_cast<std::uint32_t>(v));
      target.offsets.push_back({round(d.x), round(d.y), round(d.z)});
    }
  };
  const auto radial = [](float by) {
    return [by](const Vec3f& p) { return Vec3f{0, by * p.y, by * p.z}; };
  };
  source.controls = {
      {.name = "sway", .minimum = -1}, {.name = "bulge", .minimum = -1}, {.name = "pinch"}};
  ShapeTarget pinch, hollow, half, full, shear, other;
  hollow.weight = -1;
  half.weight = 0.5f;
  other.weight = -2;
  add(pinch, 2, 6, radial(-0.25f));
  add(pinch, 54, 58, radial(-0.375f));
  add(hollow, 27, 33, radial(-0.25f));
  add(half, 26, 30, [](const Vec3f& p) { return Vec3f{0.0625f, 0, 0.125f * p.y}; });
  add(full, 28, 34, radial(0.25f));
  add(shear, 0, 60, [](const Vec3f& p) { return Vec3f{0, 0, 0.125f * p.y}; });
  add(other, 20, 40, [](const Vec3f& p) { return Vec3f{0, 0.25f * p.z, 0}; });
  source.shapes = {{.control = 2, .targets = {pinch}},
                   {.control = 1, .targets = {hollow, half, full}},
                   {.control = 0, .targets = {shear}},
                   {.control = 0, .targets = {other}}};
  return source;
}

Rig TubeWithShapes() {
  return MakeRig(TubeWithShapesSource());
}

RigSource TubeWithMusclesSource() {
  RigSource source = TubeSource({.rings = 41, .around = 24});
  source.controls = {{.name = "tense"}};
  Muscle flexor;
  flexor.name = "flexor";
  flexor.origin = {0, {0.3, 0.15, 0}};
  flexor.via = {{0, {1.75, 0.25, 0}}};
  flexor.insertion = {1, {0.35, 0.2, 0}};
  flexor.origin_tendon = 0.3;
  flexor.insertion_tendon = 0.7;
  flexor.width = 0.22;
  flexor.depth = 0.2;
  flexor.activation = 0;
  Muscle extensor;
  extensor.name = "extensor";
  extensor.origin = {0, {0.3, -0.15, 0}};
  extensor.insertion = {1, {0.3, -0.25, 0}};
  extensor.wrap = {WrapShape::kCylinder, 0, {2, 0, 0}, {0, 0, 1}, 0.2};
  extensor.origin_tendon = 0.3;
  extensor.insertion_tendon = 0.7;
  extensor.width = 0.15;
  extensor.depth = 0.2;
  extensor.profile = MuscleProfile::kSine;
  extensor.warp = 1.5;
  source.muscles = {flexor, extensor};
  return source;
}

std::vector<NamedRig> AllRigs() {
  std::vector<NamedRig> rigs;
  rigs.push_back({"one_vertex", OneVertex()});
  rigs.push_back({"one_triangle", OneTriangle()});
  rigs.push_back({"degenerate_fan", DegenerateFan()});
  rigs.push_back({"nonmanifold_edge", NonmanifoldEdge()});
  rigs.push_back({"seam_duplicate_vertices", SeamDuplicateVertices()});
  rigs.push_back({"touching_lips", TouchingLips()});
  rigs.push_back({"isolated_vertex", IsolatedVertex()});
  rigs.push_back({"hard_cube", HardCube()});
  rigs.push_back({"tube_smooth", TubeRig()});
  rigs.push_back({"tube_rigid", TubeRig({.weights = TubeWeights::kRigid})});
  rigs.push_back(
      {"tube_five_joints",
       TubeRig({.rings = 41, .joints = 5, .weights = TubeWeights::kFour, .quads = true})});
  rigs.push_back({"tube_with_shapes", TubeWithShapes()});
  rigs.push_back({"tube_with_muscles", MakeRig(TubeWithMusclesSource())});
  rigs.push_back({"tube_crowded", CrowdedTube()});
  rigs.push_back({"tube_far_origin", TubeFarOrigin()});
  rigs.push_back({"tube_textured", TexturedTube({.rings = 31, .around = 24})});
  return rigs;
}

}  // namespace sinew::testing
