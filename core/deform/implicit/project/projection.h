// projection.h - brings every point of a posed skin back to its own level of the posed field.
//
// The schedule of a frame: up to `iterations` times { one step of every point that has not
// stopped; one tangential relaxation of those }; points that left another limb by its side return
// to the contact, see stray_points.h, now and once more below; where points stopped, six
// diffusions of that flag, `smoothing` Laplacian passes over it, up to twenty steps back to the
// level, three diffusions, one more pass. Firm skin keeps its shape as skinned. Every sweep reads
// one buffer and writes another, so the result depends neither on threads nor on chunks. Source:
// Vaillant et al. 2013; Newton steps, bisection at creases and the numbers are our own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/deform/implicit/field/posed_field.h"
#include "core/deform/implicit/surface/skin_surface.h"
#include "core/deform/method/method.h"

namespace sinew {

struct ProjectionOptions {
  float unit = 1;       // typical radius of a limb in bind space, see LimbField
  bool contact = true;  // points stop at creases, and those are smoothed
  bool newton = true;   // else steps of 0.05 units
  float sigma = 0.7f;   // part of the way a Newton step goes
  std::uint32_t iterations = 60;
  std::uint32_t smoothing = 5;
  bool relax = true;   // tangential relaxation between the steps
  bool strays = true;  // points that left another limb by its side return, see stray_points.h
  std::uint32_t fit_iterations = 20;
};

// What a frame did, for tests and benchmarks.
struct ProjectionCounts {
  std::array<std::size_t, 7> first{};  // points by VertexStatus when they first stopped
  std::array<std::size_t, 7> last{};   // as reported
  std::size_t evaluations = 0;         // points the field was evaluated at
};

std::size_t ProjectionScratch(std::size_t points);  // floats

// Reads frame.in, writes frame.out and, where wanted, frame.states. Thread-safe. Finite for finite
// input; stops early, with whatever it has, when the task is cancelled.
//   counts  filled; or null
void Project(const SkinSurface& skin, const PosedField& field, const ProjectionOptions& options,
             const StageFrame& frame, ProjectionCounts* counts = nullptr);

}  // namespace sinew
