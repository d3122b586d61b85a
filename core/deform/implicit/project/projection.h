// projection.h - projects every point of posed skin onto its own level of the posed field.
//
// Schedule of a frame: up to `iterations` times { one step of every active point; one tangential
// relaxation of these }; wrong-side points return to the contact (stray_points.h), and again below;
// where points stopped at contacts, six diffusions of that flag, `smoothing` Laplacian passes over
// the flagged region, up to twenty steps back to the level, three diffusions, one more pass. Points
// with a feature preservation weight keep their skinned shape. Every sweep reads one buffer and
// writes another, so results do not depend on threads or chunks. Source: Vaillant et al. 2013;
// Newton steps, bisection at creases and the constants are additions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/deform/implicit/field/posed_field.h"
#include "core/deform/implicit/surface/skin_surface.h"
#include "core/deform/method/method.h"

namespace sinew {

struct ProjectionOptions {
  float unit = 1;       // typical limb radius in bind space, see LimbField
  bool contact = true;  // points stop at creases, which are smoothed
  float sigma = 0.7f;   // fraction of a Newton step
  std::uint32_t iterations = 60;
  std::uint32_t smoothing = 5;
  bool relax = true;   // tangential relaxation between the steps
  bool strays = true;  // return wrong-side points, see stray_points.h
  std::uint32_t fit_iterations = 20;
};

// Statistics of a frame, for tests and benchmarks.
struct ProjectionCounts {
  std::array<std::size_t, 7> first{};  // points by VertexStatus at their first stop
  std::array<std::size_t, 7> last{};   // as reported
  std::size_t evaluations = 0;         // field evaluations in points
};

std::size_t ProjectionScratch(std::size_t points);  // floats

// Reads frame.in, writes frame.out and, if requested, frame.states. Thread-safe. Finite for finite
// input. When the task is cancelled it returns early with partial results.
//
//    counts  filled, or null
void Project(const SkinSurface& skin, const PosedField& field, const ProjectionOptions& options,
             const StageFrame& frame, ProjectionCounts* counts = nullptr);

}  // namespace sinew
