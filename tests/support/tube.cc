#include "tests/support/tube.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <string>
#include <utility>

namespace sinew::testing {
namespace {

double Smoothstep(double x) {
  const double t = std::clamp(x, 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

double JointX(const TubeOptions& o, std::size_t j) {
  return o.length * (static_cast<double>(j) / static_cast<double>(o.joints) - 0.5);
}

// Weight of a point at x relative to joint j, 0 before to 1 beyond.
double Passed(const TubeOptions& o, double x, std::size_t j) {
  if (j == 0) return 1;
  if (j >= o.joints) return 0;
  const double d = x - JointX(o, j);
  if (o.weights == TubeWeights::kSmooth) return Smoothstep(d + 0.5);
  return std::abs(d) < 1e-9 ? 0.5 : d > 0 ? 1.0 : 0.0;
}

std::vector<std::pair<std::uint32_t, double>> RowWeights(const TubeOptions& o, double x) {
  std::vector<std::pair<std::uint32_t, double>> row;
  if (o.weights != TubeWeights::kFour) {
    for (std::size_t j = 0; j < o.joints; ++j) {
      const double w = Passed(o, x, j) - Passed(o, x, j + 1);
      if (w > 0) row.emplace_back(static_cast<std::uint32_t>(j), w);
    }
    return row;
  }
  const double step = o.length / static_cast<double>(o.joints);
  for (std::size_t j = 0; j < o.joints; ++j) {
    const double d = (x - JointX(o, j)) / step - 0.5;
    row.emplace_back(static_cast<std::uint32_t>(j), std::exp(-d * d));
  }
  std::sort(row.begin(), row.end(), [](auto& a, auto& b) { return a.second > b.second; });
  row.resize(std::min<std::size_t>(row.size(), 4));
  double sum = 0;
  for (const auto& entry : row) sum += entry.second;
  for (auto& entry : row) entry.second /= sum;
  return row;
}

void AddFaces(const TubeOptions& o, MeshSource& mesh) {
  const auto vertex = [&](std::size_t i, std::size_t k) {
    return static_cast<std::uint32_t>(i * o.around + k % o.around);
  };
  mesh.face_offsets = {0};
  const auto add = [&](std::initializer_list<std::uint32_t> corners) {
    mesh.face_vertices.insert(mesh.face_vertices.end(), corners);
    mesh.face_offsets.push_back(static_cast<std::uint32_t>(mesh.face_vertices.size()));
  };
  for (std::size_t i = 0; i + 1 < o.rings; ++i) {
    for (std::size_t k = 0; k < o.around; ++k) {
      if (o.quads) {
        add({vertex(i, k), vertex(i, k + 1), vertex(i + 1, k + 1), vertex(i + 1, k)});
      } else {
        add({vertex(i, k), vertex(i, k + 1), vertex(i + 1, k)});
        add({vertex(i + 1, k), vertex(i, k + 1), vertex(i + 1, k + 1)});
      }
    }
  }
}

AffineD TranslationBy(const Vec3d& t) {
  return {{1, 0, 0, t.x, 0, 1, 0, t.y, 0, 0, 1, t.z}};
}

AffineD AxisRotation(const Vec3d& axis, double degrees) {
  const double length = std::sqrt(Dot(axis, axis));
  const Vec3d a = (1 / length) * axis;
  const double angle = degrees * std::numbers::pi / 180;
  const double c = std::cos(angle), s = std::sin(angle), k = 1 - c;
  return {{k * a.x * a.x + c, k * a.x * a.y - s * a.z, k * a.x * a.z + s * a.y, 0,
           k * a.x * a.y + s * a.z, k * a.y * a.y + c, k * a.y * a.z - s * a.x, 0,
           k * a.x * a.z - s * a.y, k * a.y * a.z + s * a.x, k * a.z * a.z + c, 0}};
}

std::vector<Vec3d> RingMeans(const TubeOptions& o, std::span<const Vec3d> points) {
  std::vector<Vec3d> means(o.rings);
  for (std::size_t i = 0; i < o.rings; ++i) {
    for (std::size_t k = 0; k < o.around; ++k) means[i] = means[i] + points[i * o.around + k];
    means[i] = (1.0 / static_cast<double>(o.around)) * means[i];
  }
  return means;
}

}  // namespace

RigSource TubeSource(const TubeOptions& o) {
  RigSource source;
  source.influences.offsets = {0};
  for (std::size_t i = 0; i < o.rings; ++i) {
    const double x = o.length * (static_cast<double>(i) / static_cast<double>(o.rings - 1) - 0.5);
    const auto row = RowWeights(o, x);
    for (std::size_t k = 0; k < o.around; ++k) {
      const double angle =
          2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(o.around);
      source.mesh.positions.push_back(
          ToFloat(o.origin + Vec3d{x, o.radius * std::cos(angle), o.radius * std::sin(angle)}));
      for (const auto& [joint, weight] : row) {
        source.influences.bindings.push_back(joint);
        source.influences.weights.push_back(static_cast<float>(weight));
      }
      source.influences.offsets.push_back(source.influences.bindings.size());
    }
  }
  AddFaces(o, source.mesh);
  source.mesh.parts = {{"tube", 0, static_cast<std::uint32_t>(source.mesh.positions.size()), 0,
                        static_cast<std::uint32_t>(source.mesh.face_offsets.size() - 1)}};
  for (std::size_t j = 0; j < o.joints; ++j) {
    const Vec3d at = o.origin + Vec3d{JointX(o, j), 0, 0};
    const std::uint32_t parent = j == 0 ? kNoParent : static_cast<std::uint32_t>(j - 1);
    source.joints.push_back({.name = "joint" + std::to_string(j), .parent = parent});
    source.rest_local.push_back(
        TranslationBy(j == 0 ? at : Vec3d{o.length / static_cast<double>(o.joints), 0, 0}));
    source.bindings.push_back({static_cast<std::uint16_t>(j), TranslationBy(-1.0 * at)});
  }
  return source;
}

Rig MakeRig(RigSource source) {
  auto rig = Rig::Create(std::move(source));
  if (!rig.ok()) {
    std::fprintf(stderr, "test asset: %s\n", rig.status().ToString().c_str());
    std::abort();
  }
  return *std::move(rig);
}

Rig TubeRig(const TubeOptions& options) {
  return MakeRig(TubeSource(options));
}

std::vector<Affine> RestPose(const Rig& rig) {
  std::vector<Affine> pose;
  for (const AffineD& joint : rig.skeleton().rest_model()) pose.push_back(ToFloat(joint));
  return pose;
}

std::vector<Affine> TurnPose(const Rig& rig, const Vec3d& axis, double degrees) {
  const Skeleton& skeleton = rig.skeleton();
  std::vector<AffineD> model(skeleton.joints());
  std::vector<Affine> pose;
  for (std::size_t j = 0; j < model.size(); ++j) {
    const std::uint32_t parent = skeleton.joint(j).parent;
    const AffineD& local = skeleton.rest_local()[j];
    model[j] = parent == kNoParent
                   ? local
                   : Compose(model[parent], Compose(local, AxisRotation(axis, degrees)));
    pose.push_back(ToFloat(model[j]));
  }
  return pose;
}

std::vector<Affine> BendPose(const Rig& rig, double degrees) {
  return TurnPose(rig, {0, 0, 1}, degrees);
}

std::vector<Affine> TwistPose(const Rig& rig, double degrees) {
  return TurnPose(rig, {1, 0, 0}, degrees);
}

std::vector<Affine> Moved(const AffineD& motion, std::span<const Affine> pose) {
  std::vector<Affine> moved;
  for (const Affine& joint : pose) moved.push_back(ToFloat(Compose(motion, ToDouble(joint))));
  return moved;
}

AffineD RigidMotion(const Vec3d& axis, double degrees, const Vec3d& translation) {
  return Compose(TranslationBy(translation), AxisRotation(axis, degrees));
}

AffineD ScaleMotion(const Vec3d& scale) {
  return {{scale.x, 0, 0, 0, 0, scale.y, 0, 0, 0, 0, scale.z, 0}};
}

std::vector<AffineD> SkinMatrices(const Rig& rig, std::span<const Affine> pose) {
  std::vector<AffineD> skin;
  for (const Binding& binding : rig.bindings()) {
    skin.push_back(Compose(ToDouble(pose[binding.joint]), binding.inverse_bind));
  }
  return skin;
}

double TubeVolume(const TubeOptions& o, std::span<const Vec3d> points) {
  MeshSource mesh;
  TubeOptions triangles = o;
  triangles.quads = false;
  AddFaces(triangles, mesh);
  double six_volumes = 0;
  const auto add = [&](const Vec3d& a, const Vec3d& b, const Vec3d& c) {
    six_volumes += Dot(a, Cross(b, c));
  };
  for (std::size_t c = 0; c < mesh.face_vertices.size(); c += 3) {
    add(points[mesh.face_vertices[c]], points[mesh.face_vertices[c + 1]],
        points[mesh.face_vertices[c + 2]]);
  }
  const std::vector<Vec3d> means = RingMeans(o, points);
  const std::size_t last = (o.rings - 1) * o.around;
  for (std::size_t k = 0; k < o.around; ++k) {
    const std::size_t next = (k + 1) % o.around;
    add(means.front(), points[next], points[k]);
    add(means.back(), points[last + k], points[last + next]);
  }
  return six_volumes / 6;
}

double TubeMinRadius(const TubeOptions& o, std::span<const Vec3d> points) {
  const std::vector<Vec3d> means = RingMeans(o, points);
  double least = 1e300;
  for (std::size_t v = 0; v < points.size(); ++v) {
    const Vec3d d = points[v] - means[v / o.around];
    least = std::min(least, std::sqrt(Dot(d, d)));
  }
  return least / o.radius;
}

}  // namespace sinew::testing
