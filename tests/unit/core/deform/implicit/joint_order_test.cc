// The order in which a file lists joints and vertices decides nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "core/base/vectors.h"
#include "core/deform/dqs/dqs.h"
#include "core/deform/implicit/implicit.h"
#include "tests/support/canonical_limb.h"
#include "tests/support/small_rigs.h"

namespace sinew {
namespace {

using testing::ValueOrDie;

// Fingers of different radii side by side: three chains of two joints below the joint of a palm.
// Skin at their bases belongs to a finger and to its neighbour in equal shares.
RigSource ThreeFingers() {
  constexpr double kRadii[] = {0.3, 0.5, 0.4};
  RigSource hand =
      testing::TubeSource({.rings = 31, .joints = 1, .length = 3, .origin = {-2, 0, 0}});
  for (Vec3f& p : hand.mesh.positions) p.y *= 3;
  for (std::uint32_t f = 0; f < 3; ++f) {
    const double y = static_cast<double>(f) - 1;
    const RigSource finger = testing::TubeSource(
        {.rings = 41, .joints = 2, .length = 4, .radius = kRadii[f], .origin = {2, y, 0}});
    const auto first = static_cast<std::uint32_t>(hand.mesh.positions.size());
    for (std::size_t v = 0; v < finger.mesh.positions.size(); ++v) {
      const Vec3f& p = finger.mesh.positions[v];
      hand.mesh.positions.push_back(p);
      const std::uint32_t own = 1 + 2 * f;
      for (std::uint64_t k = finger.influences.offsets[v]; k < finger.influences.offsets[v + 1];
           ++k) {
        hand.influences.bindings.push_back(own + finger.influences.bindings[k]);
        hand.influences.weights.push_back(finger.influences.weights[k]);
      }
      if (p.x < 0.5f) {
        hand.influences.weights.back() = 0.5f;
        hand.influences.bindings.push_back(f == 0 ? 3 : own - 2);
        hand.influences.weights.push_back(0.5f);
      }
      hand.influences.offsets.push_back(hand.influences.bindings.size());
    }
    for (const std::uint32_t v : finger.mesh.face_vertices) {
      hand.mesh.face_vertices.push_back(first + v);
    }
    for (std::size_t face = 1; face < finger.mesh.face_offsets.size(); ++face) {
      hand.mesh.face_offsets.push_back(hand.mesh.face_offsets.back() + 3);
    }
    const auto at = [](double x, double along_y) {
      return AffineD{{1, 0, 0, x, 0, 1, 0, along_y, 0, 0, 1, 0}};
    };
    const auto root = static_cast<std::uint32_t>(hand.joints.size());
    hand.joints.push_back({.name = "base" + std::to_string(f), .parent = 0});
    hand.joints.push_back({.name = "tip" + std::to_string(f), .parent = root});
    hand.rest_local.push_back(at(3.5, y));
    hand.rest_local.push_back(at(2, 0));
    hand.bindings.push_back({static_cast<std::uint16_t>(root), at(0, -y)});
    hand.bindings.push_back({static_cast<std::uint16_t>(root + 1), at(-2, -y)});
  }
  hand.mesh.parts = {{"hand", 0, static_cast<std::uint32_t>(hand.mesh.positions.size()), 0,
                      static_cast<std::uint32_t>(hand.mesh.face_offsets.size() - 1)}};
  return hand;
}

// Joint k becomes joint place[k], parents first.
RigSource WithJointsAt(const RigSource& source, std::span<const std::uint32_t> place) {
  RigSource moved = source;
  for (std::size_t j = 0; j < place.size(); ++j) {
    SkeletonJoint joint = source.joints[j];
    if (joint.parent != kNoParent) joint.parent = place[joint.parent];
    moved.joints[place[j]] = joint;
    moved.rest_local[place[j]] = source.rest_local[j];
  }
  for (Binding& binding : moved.bindings) {
    binding.joint = static_cast<std::uint16_t>(place[binding.joint]);
  }
  return moved;
}

// And its bindings in the order of the joints.
RigSource WithBindingsByJoint(RigSource source) {
  std::vector<std::uint32_t> order(source.bindings.size()), place(order.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, {}, [&](std::uint32_t e) { return source.bindings[e].joint; });
  std::vector<Binding> bindings;
  for (const std::uint32_t e : order) {
    place[e] = static_cast<std::uint32_t>(bindings.size());
    bindings.push_back(source.bindings[e]);
  }
  source.bindings = bindings;
  for (std::uint32_t& binding : source.influences.bindings) binding = place[binding];
  return source;
}

// Vertex v becomes the vertex  V - 1 - v.
RigSource WithVerticesReversed(const RigSource& source) {
  RigSource turned = source;
  std::ranges::reverse(turned.mesh.positions);
  const auto last = static_cast<std::uint32_t>(source.mesh.positions.size() - 1);
  for (std::uint32_t& v : turned.mesh.face_vertices) v = last - v;
  turned.influences = {.offsets = {0}, .bindings = {}, .weights = {}};
  for (std::size_t v = last + 1; v-- > 0;) {
    for (std::uint64_t k = source.influences.offsets[v]; k < source.influences.offsets[v + 1];
         ++k) {
      turned.influences.bindings.push_back(source.influences.bindings[k]);
      turned.influences.weights.push_back(source.influences.weights[k]);
    }
    turned.influences.offsets.push_back(turned.influences.bindings.size());
  }
  return turned;
}

// The last finger first, fingertips last.
constexpr std::uint32_t kFingersReversed[] = {0, 3, 6, 2, 5, 1, 4};

// `dqs | implicit` with the fingers bent towards each other.
std::vector<Vec3d> Deformed(const RigSource& source) {
  const Rig rig = testing::MakeRig(source);
  std::vector<Affine> pose;
  for (std::uint32_t j = 0; j < rig.joints(); ++j) {
    const AffineD& local = rig.skeleton().rest_local()[j];
    const std::uint32_t parent = rig.skeleton().joint(j).parent;
    const bool tip = rig.skeleton().joint(j).name.starts_with("tip");
    const AffineD turned =
        Compose(local, testing::RigidMotion({0, 0, 1}, tip                   ? 70
                                                       : parent == kNoParent ? 0
                                                                             : 15));
    pose.push_back(ToFloat(parent == kNoParent ? turned : Compose(ToDouble(pose[parent]), turned)));
  }
  const testing::PosedMesh start = testing::RunMethod<Dqs>(rig, {}, pose);
  Task task;
  const Implicit implicit =
      ValueOrDie(Implicit::Bind({rig, *start.layout, RigSurface(rig, *start.layout)}, {}, task));
  EXPECT_TRUE(implicit.Check(*start.layout, rig.bindings().size()).ok());
  PosedRig posed;
  posed.joints = pose;
  const std::vector<Vec3d> points = testing::FileOrder(
      *start.layout, testing::RunBound(implicit, *start.layout, posed, start.blocks, {}));
  EXPECT_GT(testing::MaxDistance(points, start.points), 0.1);
  return points;
}

TEST(JointOrder, ChangesNoBitOfVertices) {
  const RigSource hand = ThreeFingers();
  EXPECT_TRUE(testing::SameBits(Deformed(WithJointsAt(hand, kFingersReversed)), Deformed(hand)));
}

// Skinning adds up the influences of a vertex in the order of the bindings.
TEST(JointOrder, OfBindingsChangesRoundingAlone) {
  const RigSource hand = ThreeFingers();
  EXPECT_LT(
      testing::MaxDistance(Deformed(WithBindingsByJoint(WithJointsAt(hand, kFingersReversed))),
                           Deformed(hand)),
      1e-5);
}

// Fits and smoothing add up vertices in the order of the file.
TEST(VertexOrder, ChangesRoundingAlone) {
  const RigSource hand = ThreeFingers();
  std::vector<Vec3d> turned = Deformed(WithVerticesReversed(hand));
  std::ranges::reverse(turned);
  EXPECT_LT(testing::MaxDistance(turned, Deformed(hand)), 1e-5);
}

TEST(LimbField, LimbsKeepTheirOwnSize) {
  const Rig rig = testing::MakeRig(ThreeFingers());
  const LimbField field = testing::BindField(rig);
  testing::FieldInPose rest(field, testing::RestPose(rig));
  ASSERT_EQ(field.parts(), 7u);
  for (std::uint32_t p = 0; p < field.parts(); ++p) {
    const std::uint32_t joint = field.joints()[p];
    if (joint == 0) continue;
    const double radii[] = {0.3, 0.5, 0.4};
    EXPECT_NEAR(double{(*rest).Size(p)} * field.unit(), radii[(joint - 1) / 2], 0.01) << joint;
  }
}

}  // namespace
}  // namespace sinew
