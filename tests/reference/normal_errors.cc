#include "tests/reference/normal_errors.h"

#include <algorithm>
#include <numbers>
#include <span>

#include "core/deform/ddm/ddm.h"
#include "core/deform/dqs/dqs.h"
#include "core/deform/lbs/lbs.h"
#include "core/surface/normals.h"
#include "tests/reference/ddm_reference.h"
#include "tests/reference/smooth_tube.h"
#include "tests/support/run_method.h"
#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"

namespace sinew::reference {
namespace {

struct Place {
  double x, angle;
};

std::vector<Place> Places(const testing::TubeOptions& o) {
  std::vector<Place> places;
  for (std::size_t i = 0; i < o.rings; ++i) {
    for (std::size_t k = 0; k < o.around; ++k) {
      places.push_back(
          {o.length * (static_cast<double>(i) / static_cast<double>(o.rings - 1) - 0.5),
           2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(o.around)});
    }
  }
  return places;
}

NormalError Compare(std::span<const Vec3d> got, std::span<const Vec3d> want) {
  NormalError error;
  for (std::size_t v = 0; v < got.size(); ++v) {
    const double degrees = Degrees(got[v], want[v]);
    error.max = std::max(error.max, degrees);
    error.mean += degrees / static_cast<double>(got.size());
  }
  return error;
}

std::vector<Affine> PoseOf(const Rig& rig, TubePose pose) {
  return pose == TubePose::kBend45 ? testing::BendPose(rig, 45) : testing::TwistPose(rig, 90);
}

// The configuration with published figures.
DdmParams PublishedDdm() {
  DdmParams params;
  params.laplacian = Laplacian::kUniform;
  params.keep_area = 0;
  return params;
}

SmoothTube SmoothOf(TubeMethod method, std::span<const AffineD> skin) {
  return {method == TubeMethod::kDqs ? SmoothMethod::kDqs : SmoothMethod::kLbs, skin};
}

std::vector<Vec3d> TrueNormals(TubeMethod method, std::span<const AffineD> skin,
                               const testing::TubeOptions& o, std::span<const Vec3d> posed) {
  if (method == TubeMethod::kDdm) return GridNormals(posed, o.rings, o.around);
  const SmoothTube smooth = SmoothOf(method, skin);
  std::vector<Vec3d> normals;
  for (const Place& at : Places(o)) normals.push_back(smooth.Normal(at.x, at.angle));
  return normals;
}

}  // namespace

RuleErrors MeasureRules(TubeMethod method, TubePose pose, std::size_t rings, std::size_t around) {
  const testing::TubeOptions options = {.rings = rings, .around = around};
  const Rig rig = testing::TubeRig(options);
  const auto skin = testing::SkinMatrices(rig, PoseOf(rig, pose));
  RuleErrors errors;
  if (method == TubeMethod::kDdm) {
    const DdmReference ddm(MeshOf(rig), DdmReferenceParams(PublishedDdm()));
    const auto rotations = ddm.Rotations(skin);
    const auto truth = GridNormals(ddm.Evaluate(skin, false), rings, around);
    const auto places = Places(options);
    std::vector<Vec3d> rotated;
    for (std::size_t v = 0; v < places.size(); ++v) {
      const double angle = places[v].angle;
      rotated.push_back(Multiply(rotations[v], Vec3d{0, std::cos(angle), std::sin(angle)}));
    }
    errors.rotated = errors.cofactor = Compare(rotated, truth);
    return errors;
  }
  const SmoothTube smooth = SmoothOf(method, skin);
  const auto truth = TrueNormals(method, skin, options, {});
  std::vector<Vec3d> rotated, cofactor, gradient;
  for (const Place& at : Places(options)) {
    rotated.push_back(smooth.Rotated(at.x, at.angle));
    cofactor.push_back(smooth.Cofactor(at.x, at.angle));
    gradient.push_back(smooth.GradientCorrected(at.x, at.angle));
  }
  errors.rotated = Compare(rotated, truth);
  errors.cofactor = Compare(cofactor, truth);
  if (method == TubeMethod::kLbs) errors.gradient = Compare(gradient, truth);
  return errors;
}

NormalError MeasureRecomputed(TubeMethod method, TubePose pose, const TubeMesh& mesh) {
  const testing::TubeOptions options = {
      .rings = mesh.rings, .around = mesh.around, .quads = mesh.quads};
  const Rig rig = mesh.authored ? testing::TexturedTube(options) : testing::TubeRig(options);
  const auto joints = PoseOf(rig, pose);
  const testing::PosedMesh posed =
      method == TubeMethod::kLbs   ? testing::RunMethod<Lbs>(rig, {}, joints)
      : method == TubeMethod::kDqs ? testing::RunMethod<Dqs>(rig, {}, joints)
                                   : testing::RunMethod<Ddm>(rig, PublishedDdm(), joints);
  const auto finisher =
      testing::ValueOrDie(NormalFinisher::Bind(RigSurface(rig, *posed.layout), Task()));
  std::vector<Vec3f> normals(rig.vertices());
  AlignedVector<float> scratch(finisher.scratch_floats());
  finisher.Run(*posed.layout, posed.rig(), posed.blocks, scratch,
               {.normals = std::as_writable_bytes(std::span(normals))}, Task());
  std::vector<Vec3d> got;
  for (const Vec3f& n : normals) got.push_back(ToDouble(n));
  return Compare(got,
                 TrueNormals(method, testing::SkinMatrices(rig, joints), options, posed.points));
}

}  // namespace sinew::reference
