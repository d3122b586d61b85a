#include "core/deform/implicit/field.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/median.h"
#include "core/base/status.h"
#include "core/deform/implicit/parts.h"
#include "core/rig/bones.h"

namespace sinew {
namespace {

constexpr std::size_t kAtOnce = 8;  // parts fitted in parallel

std::size_t MostCentres(std::size_t samples) {
  return samples + kMostCapCentres;
}

std::size_t MostParts(const Rig& rig) {
  return std::min(rig.joints(), rig.vertices() / kFewestSamples);
}

// Nanoseconds: a few parts at each point of each grid.
double GapWork(const Rig& rig, std::size_t samples) {
  return 4.0 * static_cast<double>(MostParts(rig) * kGridCorners * samples);
}

template <class Values>
bool AllFinite(const Values& values) {
  return std::ranges::all_of(values, [](auto v) { return std::isfinite(v); });
}

}  // namespace

std::size_t LimbField::CostBytes(const Rig& rig, std::size_t samples) {
  const std::size_t centres = MostCentres(samples), parts = MostParts(rig);
  const std::size_t unknowns = 4 * centres;
  const std::size_t fits =
      std::min(parts, kAtOnce) * (unknowns * (unknowns + 64) * sizeof(double) + samples * 40 * 200);
  constexpr std::size_t kFixed = 4096;
  // Areas of a part's triangles.
  const std::size_t corners = rig.mesh().face_vertices().size();
  const std::size_t triangles = corners - std::min(corners, 2 * rig.mesh().faces());
  // A triangle belongs to at most three parts; a vertex is counted for two.
  return kFixed + LimbSurfaceBytes(rig) + fits +
         triangles * (std::min(parts, kAtOnce) * 8 + 24 + 84) +
         parts * (2 * centres * (kCentreFloats * sizeof(float) + 56) +
                  3 * sizeof(std::uint32_t) * kGridCells + 2 * kGridCorners + 2048) +
         rig.vertices() * (16 + 240) + rig.joints() * 64;
}

double LimbField::Work(const Rig& rig, std::size_t samples) {
  const auto unknowns = static_cast<double>(4 * (samples + 2 * (1 + 2 * kCapRing)));
  return GapWork(rig, samples) + static_cast<double>(rig.vertices()) * 300 +
         static_cast<double>(MostParts(rig)) *
             (kFits * unknowns * unknowns * unknowns * 0.12 + 2e6);
}

absl::StatusOr<LimbField> LimbField::Bind(const Rig& rig, const WeldedPoints& welded,
                                          std::size_t samples, Task& task) {
  SINEW_RETURN_IF_ERROR(task.CheckMemory(CostBytes(rig, samples)));
  const double gap_work = GapWork(rig, samples), work = Work(rig, samples) - gap_work;
  const double surface_work = 300 * static_cast<double>(rig.vertices());
  const LimbSurface surface = MakeLimbSurface(rig, welded);
  const std::vector<LimbBone> bones = MakeLimbBones(rig, surface);
  task.Advance(surface_work);
  std::vector<PartFit> fits(bones.size());
  for (std::size_t from = 0; from < bones.size(); from += kAtOnce) {
    const std::size_t n = std::min(kAtOnce, bones.size() - from);
    task.For(n, 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t b = from + begin; b < from + end; ++b) {
        fits[b] = FitPart(surface, bones[b], samples, task);
      }
    });
    SINEW_RETURN_IF_ERROR(task.CheckCancelled());
    task.Advance((work - surface_work) * static_cast<double>(n) /
                 static_cast<double>(bones.size()));
  }
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());

  LimbField field;
  std::vector<double> sizes;
  for (std::size_t b = 0; b < bones.size(); ++b) {
    if (fits[b].hrbf.size() > 0) sizes.push_back(bones[b].size);
  }
  const double diagonal = rig.mesh().diagonal();
  field.unit_ = !sizes.empty() ? Median(sizes) : diagonal > 0 ? 0.05 * diagonal : 1;
  field.figures_.assign(kFigures, 0);
  field.centre_offset_ = {0};
  std::vector<std::int32_t> part_of_joint(rig.joints(), -1);
  for (std::size_t b = 0; b < bones.size(); ++b) {
    const LimbBone& bone = bones[b];
    const PartFit& fit = fits[b];
    field.figures_[kFolded] = std::max(field.figures_[kFolded], fit.folded);
    field.figures_[kOpen] += fit.open ? 1 : 0;
    const double units = bone.size / field.unit_;  // the reach is at most kMostReach times that
    if (fit.hrbf.size() == 0 || !(units > 2 / kMostUnits && units < kMostUnits / 2)) continue;
    const AffineD to_joint =
        Compose(Inverse(surface.pose[bone.joint]),
                {{1, 0, 0, fit.centre.x, 0, 1, 0, fit.centre.y, 0, 0, 1, fit.centre.z}});
    if (!AllFinite(to_joint.m)) continue;
    part_of_joint[bone.joint] = static_cast<std::int32_t>(field.joint_.size());
    field.joint_.push_back(bone.joint);
    field.to_joint_.push_back(to_joint);
    field.centre_.push_back(fit.centre);
    field.root_.push_back(bone.root - fit.centre);
    field.tip_.push_back(bone.tip - fit.centre);
    field.reach_.push_back(bone.reach);
    field.size_.push_back(bone.size);
    for (const double v : fit.box.least) field.box_.push_back(static_cast<float>(v));
    for (const double v : fit.box.largest) field.box_.push_back(static_cast<float>(v));
    field.cell_bound_.insert(field.cell_bound_.end(), fit.cell_bound.begin(), fit.cell_bound.end());
    AppendPacked(fit.hrbf, field.centres_, field.polynomials_);
    field.centre_offset_.push_back(
        static_cast<std::uint32_t>(field.centres_.size() / kCentreFloats));
    field.figures_[kSamples] += static_cast<double>(fit.samples);
  }
  for (std::uint32_t j = 0; j < rig.joints(); ++j) {
    if (part_of_joint[j] < 0 && !surface.vertices.row(j).empty()) ++field.figures_[kWithout];
  }
  for (const Binding& binding : rig.bindings()) {
    field.part_of_binding_.push_back(part_of_joint[binding.joint]);
  }
  field.FindGaps(task);
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  task.Advance(gap_work);
  return field;
}

void LimbField::FindGaps(const Task& task) {
  corner_gap_.resize(parts() * kGridCorners);
  const PosedLimbField bind_pose(*this);
  task.For(parts() * kCornerSide, 4, [&](std::size_t begin, std::size_t end) {
    for (std::size_t layer = begin; layer < end; ++layer) {
      const auto part = static_cast<std::uint32_t>(layer / kCornerSide);
      const float* const sides = box_.data() + 6 * part;
      const GridBox box = {{sides[0], sides[1], sides[2]}, {sides[3], sides[4], sides[5]}};
      const float size = bind_pose.Size(part), reach = bind_pose.Reach(part) / size;
      const auto place = [&](std::size_t axis, std::size_t i) {
        return reach_[part] * box.At(axis, static_cast<double>(i));
      };
      DistanceNeed need;
      need.own.fill(static_cast<std::uint16_t>(part));
      need.level.fill(std::numeric_limits<float>::lowest());
      need.margin.fill((kMostGap + 1) * size);  // FadingDistance raises f by up to 1
      constexpr std::size_t kPoints = kCornerSide * kCornerSide;
      for (std::size_t first = 0; first < kPoints; first += kLanes) {
        const std::size_t count = std::min(kLanes, kPoints - first);
        const PartBlocks blocks = bind_pose.Distances(
            BlockOf(count,
                    [&](std::size_t i) {
                      return ToFloat(centre_[part] + Vec3d{place(0, (first + i) % kCornerSide),
                                                           place(1, (first + i) / kCornerSide),
                                                           place(2, layer % kCornerSide)});
                    }),
            need);
        for (std::size_t i = 0; i < count; ++i) {
          float own = reach, others = reach + kMostGap;
          for (const PartBlock& block : blocks) {
            float& least = block.part == part ? own : others;
            least = std::min(
                least, FadingDistance(block.value[i] / size, bind_pose.Reach(block.part) / size));
          }
          // Least outside the support, so that trust fades to 0 before its end.
          corner_gap_[layer * kPoints + first + i] =
              PackedGap(own < reach ? others - own : -kMostGap);
        }
      }
    }
  });
}

std::vector<Affine> LimbField::BindFrames() const {
  std::vector<Affine> frames;
  for (const Vec3d& c : centre_) {
    frames.push_back(ToFloat(AffineD{{1, 0, 0, c.x, 0, 1, 0, c.y, 0, 0, 1, c.z}}));
  }
  return frames;
}

std::vector<std::int32_t> LimbField::PartsOfVertices(const Rig& rig) const {
  std::vector<std::int32_t> parts;
  parts.reserve(rig.vertices());
  for (std::size_t v = 0; v < rig.vertices(); ++v) {
    parts.push_back(part_of_binding_[StrongestBinding(rig, v)]);
  }
  return parts;
}

std::vector<BindStatistic> LimbField::Statistics() const {
  return {
      {"parts", static_cast<double>(parts()), "", "Joints with a field of their own."},
      {"parts_without_field", figures_[kWithout], "",
       "Joints whose vertices are not projected: too few of them, skin shared with other joints, "
       "or a surface that cannot be closed."},
      {"parts_open", figures_[kOpen], "", "Of these, joints whose field is not closed."},
      {"samples", figures_[kSamples], "points", "Skin samples that the fields interpolate."},
      {"folded_skin", figures_[kFolded], "",
       "Largest share of a part's skin that faces its bone; ignored in the fit if at most half."},
  };
}

}  // namespace sinew
