#include "core/examples/pose_examples.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "core/base/status.h"
#include "core/base/vectors.h"

namespace sinew {
namespace {

constexpr std::size_t kChunk = 64;                         // vertices
constexpr std::size_t kBlockBytes = std::size_t{1} << 26;  // of targets

bool Finite(const Vec3d& p) {
  return std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z);
}

std::uint64_t PairKey(std::uint32_t i, std::uint32_t j) {
  return std::uint64_t{std::min(i, j)} << 32 | std::max(i, j);
}

absl::Status CheckCandidates(const PoseExamples& examples, const Rows<JointWeight>& candidates) {
  const std::size_t vertices = examples.rest.size();
  if (candidates.offsets.size() != vertices + 1) {
    return InvalidArgument("candidates: got ",
                           candidates.offsets.size() - !candidates.offsets.empty(),
                           " rows, need one for each of ", vertices, " vertices");
  }
  for (std::size_t v = 0; v < vertices; ++v) {
    const auto row = candidates.row(v);
    if (row.empty() || row.size() > kMaxCandidates) {
      return InvalidArgument("candidates of vertex ", v, ": got ", row.size(),
                             " joints, need 1 to ", kMaxCandidates);
    }
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (row[k].joint >= examples.joints || (k > 0 && row[k].joint <= row[k - 1].joint)) {
        return InvalidArgument("candidates of vertex ", v, ": joint ", row[k].joint,
                               "; joints must rise and be below ", examples.joints);
      }
      if (!(row[k].weight >= 0) || !std::isfinite(row[k].weight)) {
        return InvalidArgument("candidates of vertex ", v, ": weight ", row[k].weight,
                               ", need at least 0");
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckExamples(const PoseExamples& examples) {
  if (examples.poses == 0) return InvalidArgument("poses: got none, need at least 1");
  if (examples.rest.empty()) return InvalidArgument("rest: got no vertices");
  if (examples.matrices.size() != examples.poses * examples.joints) {
    return InvalidArgument("matrices: got ", examples.matrices.size(), ", need ", examples.joints,
                           " for each of ", examples.poses, " poses");
  }
  for (std::size_t k = 0; k < examples.matrices.size(); ++k) {
    for (const double m : examples.matrices[k].m) {
      if (!std::isfinite(m)) {
        return InvalidArgument("matrices: pose ", k / examples.joints, ", joint ",
                               k % examples.joints, " is not finite");
      }
    }
  }
  for (std::size_t v = 0; v < examples.rest.size(); ++v) {
    if (!Finite(ToDouble(examples.rest[v]))) {
      return InvalidArgument("rest: vertex ", v, " is not finite");
    }
  }
  return absl::OkStatus();
}

}  // namespace

AffineD Blend(std::span<const JointWeight> row, std::span<const AffineD> matrices) {
  AffineD blend;
  blend.m.fill(0);
  for (const JointWeight& entry : row) {
    const AffineD& matrix = matrices[entry.joint];
    for (std::size_t k = 0; k < 12; ++k) blend.m[k] += entry.weight * matrix.m[k];
  }
  return blend;
}

FillTargets TargetsInMemory(std::span<const Vec3f> targets, std::size_t vertices) {
  return [targets, vertices](std::size_t begin, std::size_t end, std::span<Vec3f> block) {
    if (block.size() / (end - begin) * vertices != targets.size()) {
      return InvalidArgument("targets: got ", targets.size(), ", need ", vertices, " for each of ",
                             block.size() / (end - begin), " poses");
    }
    auto out = block.begin();
    for (std::size_t first = 0; first < targets.size(); first += vertices) {
      out = std::ranges::copy(targets.subspan(first + begin, end - begin), out).out;
    }
    return absl::OkStatus();
  };
}

absl::StatusOr<CentredPoses> CentredPoses::Create(const PoseExamples& examples,
                                                  const Rows<JointWeight>& candidates, Task& task) {
  SINEW_RETURN_IF_ERROR(CheckExamples(examples));
  SINEW_RETURN_IF_ERROR(CheckCandidates(examples, candidates));
  CentredPoses result;
  result.examples_ = &examples;
  const auto& [poses, joints, matrices, rest, targets] = examples;
  Vec3d low = ToDouble(rest[0]), high = low;
  for (const Vec3f& p : rest) {
    low = {std::min<double>(low.x, p.x), std::min<double>(low.y, p.y),
           std::min<double>(low.z, p.z)};
    high = {std::max<double>(high.x, p.x), std::max<double>(high.y, p.y),
            std::max<double>(high.z, p.z)};
  }
  result.centre_ = 0.5 * (low + high);
  result.rest_diagonal_ = Length(high - low);
  double scale = 0;
  for (const AffineD& m : matrices) scale += std::cbrt(std::abs(Determinant(Linear(m))));
  result.diagonal_ = result.rest_diagonal_ * scale / static_cast<double>(matrices.size());

  std::vector<std::uint64_t> pairs;
  for (std::size_t v = 0; v < rest.size(); ++v) {
    const auto row = candidates.row(v);
    for (const JointWeight& a : row) {
      for (const JointWeight& b : row) {
        if (a.joint > b.joint) continue;
        const std::uint64_t key = PairKey(a.joint, b.joint);
        if (result.pair_.try_emplace(key, pairs.size()).second) pairs.push_back(key);
      }
    }
  }
  SINEW_RETURN_IF_ERROR(task.CheckMemory(poses * joints * sizeof(AffineD) +
                                         pairs.size() * (sizeof(Block) + 40) +
                                         std::max(kBlockBytes, poses * kChunk * sizeof(Vec3f))));

  result.matrices_.assign(matrices.begin(), matrices.end());
  result.origins_.resize(poses);
  task.For(poses, 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t f = begin; f < end; ++f) {
      const std::span pose(result.matrices_.data() + f * joints, joints);
      Vec3d origin;
      for (const AffineD& m : pose) {
        origin = origin + 1.0 / static_cast<double>(joints) * Apply(m, result.centre_);
      }
      for (AffineD& m : pose) {
        const Vec3d at = Apply(m, result.centre_) - origin;
        m.m[3] = at.x;
        m.m[7] = at.y;
        m.m[11] = at.z;
      }
      result.origins_[f] = origin;
    }
  });
  result.products_.resize(pairs.size());
  task.For(pairs.size(), 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      Block sum{};
      for (std::size_t f = 0; f < poses; ++f) {
        const auto& a = result.matrix(f, pairs[p] >> 32).m;
        const auto& b = result.matrix(f, pairs[p] & 0xffffffff).m;
        for (std::size_t r = 0; r < 4; ++r) {
          for (std::size_t c = 0; c < 4; ++c) {
            sum[r * 4 + c] += a[r] * b[c] + a[4 + r] * b[4 + c] + a[8 + r] * b[8 + c];
          }
        }
      }
      result.products_[p] = sum;
    }
  });
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  return result;
}

CentredPoses::Block CentredPoses::Product(std::uint32_t i, std::uint32_t j) const {
  const Block& block = products_[pair_.at(PairKey(i, j))];
  if (i <= j) return block;
  Block transposed;
  for (std::size_t r = 0; r < 4; ++r) {
    for (std::size_t c = 0; c < 4; ++c) transposed[r * 4 + c] = block[c * 4 + r];
  }
  return transposed;
}

absl::Status CentredPoses::ForVertices(Task& task,
                                       absl::FunctionRef<void(const VertexExample&)> fit) const {
  const std::size_t vertices = examples_->rest.size();
  const std::size_t chunks =
      std::max<std::size_t>(1, kBlockBytes / (poses() * sizeof(Vec3f)) / kChunk);
  const std::size_t block = std::min(vertices, chunks * kChunk);
  std::vector<Vec3f> targets;
  for (std::size_t first = 0; first < vertices; first += block) {
    const std::size_t count = std::min(block, vertices - first);
    targets.resize(poses() * count);
    SINEW_RETURN_IF_ERROR(examples_->targets(first, first + count, targets));
    std::mutex failing;
    std::size_t failed = targets.size();  // the first target that is not finite
    task.For(count, kChunk, [&](std::size_t begin, std::size_t end) {
      std::vector<Vec3d> own(poses());
      for (std::size_t v = begin; v < end; ++v) {
        std::size_t bad = targets.size();
        for (std::size_t f = poses(); f-- > 0;) {
          own[f] = ToDouble(targets[f * count + v]) - origins_[f];
          if (!Finite(own[f])) bad = f * count + v;
        }
        if (bad < targets.size()) {
          const std::lock_guard lock(failing);
          failed = std::min(failed, bad);
          continue;
        }
        fit({first + v, ToDouble(examples_->rest[first + v]) - centre_, own});
      }
      task.Advance(static_cast<double>(end - begin));
    });
    SINEW_RETURN_IF_ERROR(task.CheckCancelled());
    if (failed < targets.size()) {
      return InvalidArgument("targets: pose ", failed / count, ", vertex ", first + failed % count,
                             " is not finite");
    }
  }
  return absl::OkStatus();
}

}  // namespace sinew
