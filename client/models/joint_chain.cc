#include "client/models/joint_chain.h"

namespace sinew::client {
namespace {

void Append(const Eigen::Affine3d& a, std::vector<float>& out) {
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 4; ++column) out.push_back(static_cast<float>(a(row, column)));
  }
}

// Rest of a joint relative to its parent.
Eigen::Affine3d Local(const std::vector<ChainJoint>& joints, std::size_t j) {
  const std::int32_t parent = joints[j].parent;
  if (parent < 0) return joints[j].rest;
  return joints[static_cast<std::size_t>(parent)].rest.inverse(Eigen::Isometry) * joints[j].rest;
}

}  // namespace

void AddJoints(const std::vector<ChainJoint>& joints, RigData& rig, Skin& skin) {
  for (std::size_t j = 0; j < joints.size(); ++j) {
    Joint joint;
    joint.name = joints[j].name;
    joint.parent = joints[j].parent;
    rig.joints.push_back(std::move(joint));
    Append(Local(joints, j), rig.rest_local);
    skin.joints.push_back(static_cast<std::uint32_t>(j));
    Append(joints[j].rest.inverse(Eigen::Isometry), skin.inverse_bind);
  }
}

void AppendFrame(const std::vector<ChainJoint>& joints,
                 const std::vector<Eigen::Quaterniond>& local, ClipData& clip) {
  std::vector<Eigen::Affine3d> posed(joints.size());
  for (std::size_t j = 0; j < joints.size(); ++j) {
    const std::int32_t parent = joints[j].parent;
    const Eigen::Affine3d moved = Local(joints, j) * local[j];
    posed[j] = parent < 0 ? moved : posed[static_cast<std::size_t>(parent)] * moved;
    Append(posed[j], clip.joint_transforms);
  }
  ++clip.frames;
}

Eigen::Affine3d Frame(const Eigen::Vector3d& origin, const Eigen::Vector3d& y,
                      const Eigen::Vector3d& z) {
  const Eigen::Vector3d y_axis = y.normalized();
  const Eigen::Vector3d x_axis = y_axis.cross(z).normalized();
  Eigen::Affine3d frame = Eigen::Affine3d::Identity();
  frame.linear().col(0) = x_axis;
  frame.linear().col(1) = y_axis;
  frame.linear().col(2) = x_axis.cross(y_axis);
  frame.translation() = origin;
  return frame;
}

}  // namespace sinew::client
