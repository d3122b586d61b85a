#include "client/models/joint_chain.h"

namespace sinew::client {
namespace {

using Eigen::Affine3d;

Affine3d At(double y) {
  return Affine3d(Eigen::Translation3d(0, y, 0));
}

// Rest of a joint relative to its parent.
Affine3d Local(const std::vector<ChainJoint>& joints, std::size_t j) {
  return At(j == 0 ? joints[j].y : joints[j].y - joints[j - 1].y);
}

void Append(const Affine3d& a, std::vector<float>& out) {
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 4; ++column) out.push_back(static_cast<float>(a(row, column)));
  }
}

}  // namespace

void AddJoints(const std::vector<ChainJoint>& joints, RigData& rig, Skin& skin) {
  for (std::size_t j = 0; j < joints.size(); ++j) {
    Joint joint;
    joint.name = joints[j].name;
    joint.parent = static_cast<std::int32_t>(j) - 1;
    rig.joints.push_back(std::move(joint));
    Append(Local(joints, j), rig.rest_local);
    skin.joints.push_back(static_cast<std::uint32_t>(j));
    Append(At(joints[j].y).inverse(Eigen::Isometry), skin.inverse_bind);
  }
}

void AppendFrame(const std::vector<ChainJoint>& joints,
                 const std::vector<Eigen::Quaterniond>& local, ClipData& clip) {
  Affine3d posed;
  for (std::size_t j = 0; j < joints.size(); ++j) {
    const Affine3d moved = Local(joints, j) * local[j];
    posed = j == 0 ? moved : posed * moved;
    Append(posed, clip.joint_transforms);
  }
  ++clip.frames;
}

}  // namespace sinew::client
