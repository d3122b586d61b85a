#include "tests/reference/normal_errors.h"

#include <algorithm>
#include <numbers>
#include <span>

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
  if (pose == TubePose::kTwist90) return testing::TwistPose(rig, 90);
  std::vector<Affine> joints = testing::BendPose(rig, 45);
  if (pose == TubePose::kStretched45) {
    joints[1] = ToFloat(Compose(ToDouble(joints[1]), testing::ScaleMotion({1.4, 0.8, 1.1})));
  }
  return joints;
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

namespace {

struct TubeFrame {
  std::vector<Affine> joints;
  std::vector<AffineD> skin;
  std::vector<Vec3d> points, normals;
};

TubeFrame FrameOf(const Recipe& recipe, TubePose pose, NormalRule rule, const TubeMesh& mesh,
                  const testing::TubeOptions& options) {
  const Rig rig = mesh.authored ? testing::TexturedTube(options) : testing::TubeRig(options);
  TubeFrame frame{.joints = PoseOf(rig, pose), .skin = {}, .points = {}, .normals = {}};
  frame.skin = testing::SkinMatrices(rig, frame.joints);
  Task task;
  const Deformer deformer = testing::ValueOrDie(Deformer::Bind(rig, recipe, task));
  std::vector<Vec3f> positions(rig.vertices()), normals(rig.vertices());
  FrameOut out{.normal_rule = rule,
               .positions = std::as_writable_bytes(std::span(positions)),
               .normals = std::as_writable_bytes(std::span(normals))};
  Workspace workspace;
  const absl::Status status = deformer.Evaluate({.joints = frame.joints}, out, workspace, task);
  if (!status.ok()) testing::ValueOrDie<int>(status);
  for (const Vec3f& p : positions) frame.points.push_back(ToDouble(p));
  for (const Vec3f& n : normals) frame.normals.push_back(ToDouble(n));
  return frame;
}

testing::TubeOptions OptionsOf(const TubeMesh& mesh) {
  return {.rings = mesh.rings, .around = mesh.around, .quads = mesh.quads};
}

}  // namespace

NormalError MeasureNormals(TubeMethod method, TubePose pose, NormalRule rule,
                           const TubeMesh& mesh) {
  const Recipe recipe = {method == TubeMethod::kLbs   ? StageParams(LbsParams{})
                         : method == TubeMethod::kDqs ? StageParams(DqsParams{})
                                                      : StageParams(PublishedDdm())};
  const testing::TubeOptions options = OptionsOf(mesh);
  const TubeFrame frame = FrameOf(recipe, pose, rule, mesh, options);
  return Compare(frame.normals, TrueNormals(method, frame.skin, options, frame.points));
}

NormalError MeasureNormals(const Recipe& recipe, TubePose pose, NormalRule rule,
                           const TubeMesh& mesh) {
  const testing::TubeOptions options = OptionsOf(mesh);
  const TubeFrame frame = FrameOf(recipe, pose, rule, mesh, options);
  return Compare(frame.normals, GridNormals(frame.points, options.rings, options.around));
}

}  // namespace sinew::reference
