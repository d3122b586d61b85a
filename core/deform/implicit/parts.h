// parts.h - the parts of the skin, one for each joint: bone, samples of the surface, and the fit of
// a field to them.
//
// Lengths are in the rig's units and places in the model space of the bind pose, unless noted. J
// joints, V vertices in file order; rows are offsets into a flat array.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/rows.h"
#include "core/base/types.h"
#include "core/deform/implicit/constants.h"
#include "core/deform/implicit/grid.h"
#include "core/deform/implicit/hrbf.h"
#include "core/deform/implicit/skin_tree.h"
#include "core/parallel/task.h"
#include "core/rig/rig.h"
#include "core/surface/adjacency.h"

namespace sinew {

// The skin divided by the strongest joints of its vertices. Immutable once created; shared by
// threads.
struct LimbSurface {
  std::vector<AffineD> pose;          // [J] bind pose; a bent rest pose loses the shape
  std::vector<Vec3d> points;          // [V] bind pose positions, model space
  std::vector<Vec3d> normals;         // [V] outward unit normals; 0 0 0 if no face has an area
  std::vector<std::uint16_t> joint;   // [V] of the strongest binding
  Rows<std::uint32_t> vertices;       // [J] one of each point, ascending
  std::vector<Corners> triangles;     // in the order of the file
  std::vector<std::uint32_t> number;  // of each triangle, among those of its mesh
  SkinTree tree;                      // of the triangles
  double diagonal = 0;                // of the bounding box of the points

  // A triangle with at least one corner of the joint.
  struct Skin {
    std::uint32_t triangle = 0;
    std::array<float, 3> weight{};  // the joint's weight at the corners
  };
  Rows<Skin> skin;  // [J]
};

// Polygons are split into fans. Normals are area-weighted over welded points and reversed for an
// inside-out mesh (negative signed volume). Cannot fail for a valid rig. O(n log n) in corners.
LimbSurface MakeLimbSurface(const Rig& rig, const WeldedPoints& welded);
// Upper estimate of the memory needed.
std::size_t LimbSurfaceBytes(const Rig& rig);

// The bone of a joint with at least kFewestSamples vertices.
struct LimbBone {
  std::uint32_t joint = 0;
  Vec3d root, tip;
  bool last = true;  // no child part
  Vec3d direction;   // unit, also if root = tip
  double size = 0;   // median distance of the part's vertices to the bone, > 0
  double reach = 0;  // where the support of its field ends

  // Nearest point on the bone.
  Vec3d Nearest(const Vec3d& p) const;
};

// By place (JointsByPlace). A bone ends at the mean of its child parts' origins; a leaf bone at the
// end of its part. Joints whose vertices are all on the bone, or with a singular bind matrix, have
// none.
std::vector<LimbBone> MakeLimbBones(const Rig& rig, const LimbSurface& surface);

struct SurfaceSample {
  Vec3d point, normal;  // unit normal
};

// About `count` of the candidates (within 10 %, if there are enough), at a common least distance,
// but never closer than 1 to 2 % of their extent. The distance is a fraction of `unit` with a small
// power of two as the denominator, so that it stays the same where some candidates come or go.
// Distances grow where normals differ, so that both sides of a thin sheet are sampled. Earlier
// candidates win. Source: Cook 1986; metric of Bowers et al. 2010.
std::vector<SurfaceSample> SpreadSamples(std::span<const SurfaceSample> candidates,
                                         std::size_t count, double unit);

struct PartSkin {
  std::vector<SurfaceSample> drawn;  // uniform over the skin
  double area = 0;                   // of all triangles with a corner of the joint
  // Share of `drawn` whose normal points to the bone; those are left out if at most half.
  double folded = 0;
};

// Random points of the skin that a joint carries, about 40 per sample. Deterministic.
PartSkin DrawSkin(const LimbSurface& surface, const LimbBone& bone, std::size_t samples);

// Points of the fit are in part space divided by the bone's reach: the support ends at f = 1.
struct PartFit {
  Hrbf hrbf;     // no centres: no field
  Vec3d centre;  // of part space
  GridBox box;
  std::vector<std::uint32_t> cell_bound;  // see BoundCells
  std::size_t samples = 0;                // samples on the skin
  double folded = 0;  // share of the skin whose normal points to the bone; ignored in the fit
  bool open = false;  // failed: no box closes the field
};

// Maximum centres besides the samples: both end caps, each a top point, a ring and a section, and
// side constraints.
inline constexpr std::size_t kMostCapCentres =
    2 * (1 + 2 * kCapRing) + kSideRing * (2 * kMaxSideRings - 1);

// Fits samples of the skin, end caps where the limb continues in other parts, and sides. f is about
// the signed distance over the reach. Deterministic. Needs about 8 * (4 * centres)^2 bytes.
// Returns early, without a field, once the task is cancelled.
PartFit FitPart(const LimbSurface& surface, const LimbBone& bone, std::size_t samples,
                const Task& task);

}  // namespace sinew
