#include "core/deform/implicit/track/tracking.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/base/smooth_step.h"

namespace sinew {
namespace {

// Cosines of 100 and 140 degrees. Other angles from 90 and 120 to 120 and 150 change the figures by
// less than a tenth.
constexpr double kBent = -0.17, kFolded = -0.77;

// Motions of the parts from one pose to the next, minus the identity, so that points that do not
// move keep their bits.
std::vector<AffineD> Moves(const PosedField& before, const PosedField& now) {
  const std::span<const Affine> from = before.PartFrames(), to = now.PartFrames();
  std::vector<AffineD> moves(from.size());
  for (std::size_t b = 0; b < from.size(); ++b) {
    const AffineD start = ToDouble(from[b]), end = ToDouble(to[b]);
    AffineD motion = Determinant(Linear(start)) != 0 ? Compose(end, Inverse(start)) : AffineD{};
    for (const std::size_t i : {0, 5, 10}) motion.m[i] -= 1;
    // A part scaled to zero carries nothing.
    const bool finite = std::ranges::all_of(motion.m, [](double v) { return std::abs(v) < 1e30; });
    moves[b] = finite ? motion : AffineD{.m = {}};
  }
  return moves;
}

// How far the joints of each part, to its parent and its children, are bent or twisted from the
// bind pose: 0 up to the first of the angles, 1 from the second on.
std::vector<float> Bends(std::span<const Mat3d> turns, std::span<const std::int32_t> parents) {
  std::vector<float> bends(turns.size());
  for (std::size_t b = 0; b < turns.size(); ++b) {
    if (parents[b] < 0) continue;
    const auto parent = static_cast<std::size_t>(parents[b]);
    if (Determinant(turns[b]) == 0 || Determinant(turns[parent]) == 0) continue;  // scaled to zero
    double trace = 0;
    for (std::size_t i = 0; i < 9; ++i) trace += turns[b].m[i] * turns[parent].m[i];
    const double cosine = 0.5 * (trace - 1);
    const auto bent = static_cast<float>(SmoothStep((kBent - cosine) / (kBent - kFolded)));
    bends[b] = std::max(bends[b], bent);
    bends[parent] = std::max(bends[parent], bent);
  }
  return bends;
}

// The rest pose by each point's strongest joint, in model space, because mesh parts may have their
// own bind spaces.
void Begin(const SkinSurface& skin, const StageFrame& frame) {
  for (std::size_t p = 0; p < skin.points(); ++p) {
    const std::size_t binding = frame.layout.pivot[skin.point_lane[p] / kLanes];
    const Vec3f at = ToFloat(
        Apply(ToDouble(frame.before->skin[binding]), ToDouble(skin.PointOf(frame.rest, p))));
    std::copy_n(&at.x, 3, frame.state.data() + p * 3);
  }
}

}  // namespace

std::size_t TrackingState(std::size_t points) {
  return points * 3;
}

void Track(const ProjectionInput& input, const PosedField& before,
           std::span<const std::int32_t> parents, const StageFrame& frame) {
  const SkinSurface& skin = input.skin;
  if (frame.begins) Begin(skin, frame);
  const std::span<float> at = frame.scratch.first(skin.points() * 4);
  GatherPoints(skin, frame.in, at, frame.task);
  std::vector<std::uint8_t> status(frame.vertex_status.empty() ? 0 : skin.points());
  const std::vector<AffineD> moves = Moves(before, input.posed);
  const std::vector<float> bent = Bends(input.turns, parents);
  const ProjectedBefore tracked = {frame.state, moves, bent, frame.passing};
  ProjectPoints(input, &tracked, frame.task, at, status);
  for (std::size_t p = 0; p < skin.points(); ++p) {
    std::copy_n(at.data() + p * 4, 3, frame.state.data() + p * 3);
  }
  if (frame.passing) return;
  ScatterPoints(skin, frame.in, at, frame.out, frame.task);
  if (!status.empty()) ScatterVertexStatus(skin, frame.layout, status, frame.vertex_status);
}

}  // namespace sinew
