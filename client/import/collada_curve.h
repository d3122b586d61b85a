// collada_curve.h - the key frames of a COLLADA sampler.
//
// Source: COLLADA 1.4.1, <sampler>, and "Curve Interpolation" of its programming guide. The kind of
// a key holds up to the next key. Keys of several numbers interpolate each of them by itself.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <pugixml.hpp>
#include <span>
#include <vector>

#include "client/import/collada_document.h"

namespace sinew::client {

enum class ColladaInterpolation : std::uint8_t { kStep, kLinear, kBezier };

struct ColladaCurve {
  std::size_t width = 1;                    // numbers per key
  std::vector<double> times;                // [n] seconds, not falling, n >= 1
  std::vector<double> values;               // [n * width]
  std::vector<ColladaInterpolation> kinds;  // [n]
  // [n * width * 2] control points of BEZIER, (time, value), in the curve's own coordinates; empty
  // if no key is BEZIER.
  std::vector<double> in_tangents, out_tangents;
};

// Reads a <sampler>; without INTERPOLATION its keys are LINEAR.
// kInvalidArgument: inputs missing or of unequal length, times that fall; HERMITE, CARDINAL,
// BSPLINE and other kinds; tangents that are not pairs of time and value (what a single number
// means has changed between versions of the format); control points that go back in time, so that
// the curve has several values at one time; a pre_behavior or post_behavior that does not hold the
// value.
absl::StatusOr<ColladaCurve> ReadColladaCurve(const ColladaDocument& document,
                                              pugi::xml_node sampler);

// The values at a time, out [width]. Before the first key its value holds, after the last key its
// value.
void EvaluateColladaCurve(const ColladaCurve& curve, double seconds, std::span<double> out);

}  // namespace sinew::client
