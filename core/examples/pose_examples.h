// pose_examples.h - poses of a skeleton and where the vertices of a mesh should be in them, with
// the sums over poses that fits of all models share. Knows no rig.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/functional/function_ref.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/rows.h"
#include "core/base/types.h"
#include "core/parallel/task.h"

namespace sinew {

struct JointWeight {
  std::uint32_t joint = 0;
  double weight = 0;
  bool operator==(const JointWeight&) const = default;
};

// A linear blend of `matrices`.
AffineD Blend(std::span<const JointWeight> row, std::span<const AffineD> matrices);

// Fills [poses][end - begin] targets of the vertices [begin, end).
using FillTargets =
    std::function<absl::Status(std::size_t begin, std::size_t end, std::span<Vec3f> targets)>;
// Targets in memory, [poses][vertices], which must stay valid.
FillTargets TargetsInMemory(std::span<const Vec3f> targets, std::size_t vertices);

struct PoseExamples {
  std::size_t poses = 0, joints = 0;
  std::span<const AffineD> matrices;  // [poses][joints] from the rest pose
  std::span<const Vec3f> rest;        // [n]
  // Called for one block of vertices after the other, in the calling thread. A block holds at most
  // 64 MiB, or 64 vertices.
  FillTargets targets;
};

inline constexpr std::size_t kMaxCandidates = 64;  // per vertex

// What a vertex should look like in every pose, as a fit sees it.
struct VertexExample {
  std::size_t vertex = 0;
  Vec3d rest;                      // relative to the centre
  std::span<const Vec3d> targets;  // [poses] relative to the pose's origin
};

// Poses relative to the centre of the rest points and, in each pose, to the place where the joints
// take it on average. Small numbers keep the digits of the differences that a fit is about, also
// for a character that walks far away.
class CentredPoses {
 public:
  using Block = std::array<double, 16>;  // 4 x 4 by rows

  // `candidates` has a row for each vertex: 1 to kMaxCandidates joints, rising, with weights of at
  // least 0. The examples and candidates must stay valid.
  // kInvalidArgument: what is out of range or not finite; kResourceExhausted; kCancelled.
  static absl::StatusOr<CentredPoses> Create(const PoseExamples& examples,
                                             const Rows<JointWeight>& candidates, Task& task);

  std::size_t poses() const { return examples_->poses; }
  std::size_t joints() const { return examples_->joints; }
  const AffineD& matrix(std::size_t pose, std::size_t joint) const {
    return matrices_[pose * joints() + joint];
  }
  const Vec3d& centre() const { return centre_; }
  // The diagonal of the box of the rest points, in their unit, and in the unit of the targets,
  // which is another one if the matrices scale.
  double rest_diagonal() const { return rest_diagonal_; }
  double diagonal() const { return diagonal_; }

  // The sum over poses of M_i' M_j, for joints that are candidates of one vertex; M has 3 x 4.
  Block Product(std::uint32_t i, std::uint32_t j) const;

  // Calls fit(example) for every vertex, on any thread, and advances the task by 1 for each; no two
  // at a time share a chunk of 64 vertices. kInvalidArgument: a target that is not finite;
  // kCancelled; errors of `targets`.
  absl::Status ForVertices(Task& task, absl::FunctionRef<void(const VertexExample&)> fit) const;

 private:
  const PoseExamples* examples_ = nullptr;
  Vec3d centre_;
  double rest_diagonal_ = 0, diagonal_ = 0;
  std::vector<AffineD> matrices_;
  std::vector<Vec3d> origins_;                            // [poses]
  absl::flat_hash_map<std::uint64_t, std::size_t> pair_;  // of joints i <= j
  std::vector<Block> products_;
};

}  // namespace sinew
