// field.h - the scalar fields of a character: one Hermite radial basis function per joint's part of
// the skin, posed with its joint.
//
// f of a part is about the signed distance from its surface, negative inside, and ends at r, its
// support. Parts are fitted to samples of the mesh in its bind pose, so evaluation needs neither
// vertices nor faces. Sources: Vaillant et al. 2013 (Implicit Skinning), Macedo et al. 2011
// (Hermite radial basis functions).
#pragma once

#include <absl/container/inlined_vector.h>
#include <absl/status/statusor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/aligned.h"
#include "core/base/bind_statistic.h"
#include "core/base/point_block.h"
#include "core/base/types.h"
#include "core/deform/implicit/grid.h"
#include "core/deform/implicit/hrbf_kernel.h"
#include "core/muscle/muscle_shape.h"
#include "core/parallel/task.h"
#include "core/rig/posed_rig.h"
#include "core/rig/rig.h"
#include "core/surface/adjacency.h"

namespace sinew {

// f and its gradient at 16 points, of one part.
struct PartBlock : FieldBlock {
  std::uint32_t part = 0;
  std::array<float, kLanes> swell{};  // by how much muscles of the part lower f, >= 0
};
using PartBlocks = absl::InlinedVector<PartBlock, 8>;

// The distances a caller needs at 16 points: at point i those of the part own[i], and of every part
// whose f is below  max(f of own[i], level[i]) + margin[i].
struct DistanceNeed {
  std::array<std::uint16_t, kLanes> own{};
  std::array<float, kLanes> level{}, margin{};
};

// f of a part as other parts see it: it rises before the part's support ends, so that a part stops
// mattering gradually; infinite beyond. Both lengths may be relative to the same size.
float FadingDistance(float f, float reach);

// The limbs of a posed character as signed distances. Lengths are in units of the pose (unit), so a
// gradient is about 1 at the surface. Points are in model space. The bits of a lane depend on its
// own point alone.
class PosedField {
 public:
  virtual ~PosedField() = default;
  // f of single parts and its gradient, ascending by part. Beyond the support of a part f is
  // Reach(part). Parts that `need` does not name may be omitted; the bits of the others do not
  // depend on that. Thread-safe; finite for finite points.
  virtual PartBlocks Distances(const PointBlock& points, const DistanceNeed& need) const = 0;
  virtual float Reach(std::uint32_t part) const = 0;
  // Typical radius of a part's limb, in units, > 0.
  virtual float Size(std::uint32_t part) const = 0;
  // Typical limb radius in model space, > 0.
  virtual float unit() const = 0;
  // How far the field of a part at a point is skin of that part, 0 to 1, and not the cap by which
  // the field is closed inside its neighbours: whether the part, without muscles, has the least f
  // there in the bind pose. The point is carried back to it with the part.
  virtual float Trust(std::uint32_t part, const Vec3f& point) const = 0;
  // Vector from the nearest point of a part's bone to a point, in units and in the axes of the bind
  // pose, to which the point is carried back likewise.
  virtual Vec3f FromBone(std::uint32_t part, const Vec3f& point) const = 0;
  // [parts] part space to this pose's model space. Part space does not depend on the pose; each
  // part moves rigidly with its joint. Its origin is in the middle of the part's skin.
  virtual std::span<const Affine> PartFrames() const = 0;

  // Mean scale from part space to model space over all parts; 1 if undefined.
  float Scale() const;
};

// Bound data, immutable. P parts, one per joint whose vertices gave a closed field, by place
// (JointsByPlace): the order of the joints in the file changes no result. Part space: the bind
// pose's model space relative to the part's centre.
class LimbField {
 public:
  // Upper limits of the memory Bind holds (including its result), and its progress units. samples:
  // surface samples per part.
  static std::size_t CostBytes(const Rig& rig, std::size_t samples);
  static double Work(const Rig& rig, std::size_t samples);
  // Independent of the thread count. Advances the task by Work. kCancelled.
  static absl::StatusOr<LimbField> Bind(const Rig& rig, const WeldedPoints& welded,
                                        std::size_t samples, Task& task);
  // Length unit: the median over parts of their size, > 0, in the bind pose.
  double unit() const { return unit_; }
  std::size_t parts() const { return joint_.size(); }
  // [V] file order: part of a vertex's strongest joint, -1 = no field. `rig`: the bound one.
  std::vector<std::int32_t> PartsOfVertices(const Rig& rig) const;
  // [E] part of a binding's joint, -1 = no field.
  std::span<const std::int32_t> parts_of_bindings() const { return part_of_binding_; }
  // [P] joint of a part.
  std::span<const std::uint32_t> joints() const { return joint_; }
  // [P] part space to the bind pose's model space.
  std::vector<Affine> BindFrames() const;
  // r, where a part's support ends, in bind pose lengths.
  double reach(std::size_t part) const { return reach_[part]; }
  std::vector<BindStatistic> Statistics() const;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit, const TableSizes& rig = {}) {
    const std::size_t parts = self.parts();
    const rule::Within length{self.unit_ / kMostUnits, self.unit_ * kMostUnits};
    visit("field_unit", self.unit_, rule::Positive());
    visit("field_joint", self.joint_, rule::Distinct{rig.joints});
    visit("field_part_of_binding", self.part_of_binding_, rule::Below(parts, -1));
    visit("field_to_joint", self.to_joint_, rule::Size(parts), rule::Finite());
    visit("field_centre", self.centre_, rule::Size(parts), rule::Finite());
    visit("field_root", self.root_, rule::Size(parts), rule::Finite());
    visit("field_tip", self.tip_, rule::Size(parts), rule::Finite());
    visit("field_size", self.size_, rule::Size(parts), length);
    visit("field_reach", self.reach_, rule::Size(parts), length);
    visit("field_box", self.box_, rule::Size(6 * parts), rule::Finite());
    visit("field_cell_bound", self.cell_bound_, rule::Size(kGridCells * parts));
    visit("field_corner_gap", self.corner_gap_, rule::Size(kGridCorners * parts));
    visit("field_centre_offset", self.centre_offset_,
          rule::Offsets(parts, self.centres_.size() / kCentreFloats));
    visit("field_centres", self.centres_, rule::MultipleOf{kCentreFloats}, rule::Finite());
    visit("field_polynomials", self.polynomials_, rule::Size(kPolynomialFloats * parts),
          rule::Finite());
    visit("field_figures", self.figures_, rule::Size(kFigures), rule::Finite());
  }

 private:
  friend class PosedLimbField;
  static constexpr double kMostUnits = 1e6;  // of a size or reach; the least is 1 / kMostUnits
  void FindGaps(const Task& task);

  enum Figure : std::size_t { kSamples, kFolded, kOpen, kWithout, kFigures };
  std::vector<std::uint32_t> joint_;
  std::vector<std::int32_t> part_of_binding_;
  std::vector<AffineD> to_joint_;             // [P] part space to joint space
  std::vector<Vec3d> centre_;                 // [P] origin of part space in the bind pose
  std::vector<Vec3d> root_, tip_;             // [P] ends of the bone in part space
  std::vector<double> reach_, size_;          // [P] of the support, and of the limb
  std::vector<float> box_;                    // [P][6] GridBox
  std::vector<std::uint32_t> cell_bound_;     // [P][kGridCells] see BoundCells
  std::vector<std::uint8_t> corner_gap_;      // [P][kGridCorners] see PackedGap
  std::vector<std::uint32_t> centre_offset_;  // [P + 1]
  AlignedVector<float> centres_;              // [centres][kCentreFloats], over the reach
  AlignedVector<float> polynomials_;          // [P][kPolynomialFloats]
  std::vector<double> figures_;               // see Statistics
  double unit_ = 1;
};

// A muscle in one frame. The smaller distance of part and muscle replaces the part's, so contact
// acts between limbs including their muscles (after Vaillant et al. 2013).
struct MusclePrimitive {
  MuscleShape shape;
  double fat = 0, reach = 1;  // value of f - fat where its support ends
  std::uint32_t part = 0;     // the part it is combined with
  // Bounds in model space, on and outside which f - fat >= reach must hold.
  Vec3f minimum, maximum;
};

// One frame. A part whose joint is scaled to zero reaches nothing.
class PosedLimbField final : public PosedField {
 public:
  // `muscles` must outlive it; their parts must be below field.parts().
  PosedLimbField(const LimbField& field, const PosedRig& posed,
                 std::span<const MusclePrimitive> muscles = {});
  // The bind pose, without muscles.
  explicit PosedLimbField(const LimbField& field);

  PartBlocks Distances(const PointBlock& points, const DistanceNeed& need) const override;
  float Reach(std::uint32_t part) const override;
  float Size(std::uint32_t part) const override;
  float unit() const override { return unit_; }
  float Trust(std::uint32_t part, const Vec3f& point) const override;
  Vec3f FromBone(std::uint32_t part, const Vec3f& point) const override;
  std::span<const Affine> PartFrames() const override { return frames_; }

 private:
  class Query;
  template <class FrameOf>
  PosedLimbField(const LimbField& field, std::span<const MusclePrimitive> muscles,
                 FrameOf frame_of);
  Vec3f InPartSpace(std::size_t part, const Vec3f& point) const;  // part space over reach
  void Place(std::size_t part, const AffineD& frame);
  void SetBounds(std::size_t part, const Vec3d& least, const Vec3d& largest);
  HrbfPart PartAt(std::size_t part) const;

  const LimbField& field_;
  const std::span<const MusclePrimitive> muscles_;
  std::vector<Affine> frames_;       // [P]
  std::vector<float> reach_, size_;  // [P] in units
  AlignedVector<float> placed_;      // [P][kPlacedFloats] kernel input per part
  AlignedVector<float> bounds_;      // [ceil(P / 16)][6][16] support in model space
  float unit_ = 1;                   // in the pose
};

}  // namespace sinew
