// joint_roles.h - which part of a person a joint is, by its name.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace sinew::client {

struct JointRole {
  std::string name;      // such as "left thigh"; empty: none that is known
  bool is_limb = false;  // upper or lower arm or leg: a bone whose direction counts
};

// [names] the role of each joint, parents first; no role twice. Knows the names of Mixamo, Biped,
// Unreal, MakeHuman, VRM and of our templates, in any spelling and behind any namespace,
// and chains that are only numbered, such as leg_joint_L_1.
std::vector<JointRole> JointRoles(std::span<const std::string> names);

}  // namespace sinew::client
