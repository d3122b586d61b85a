#include "client/import/collada_curve.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

// Times are decimal text, often of no more than six digits: one that misses a key by less is that
// of the key.
constexpr double kTimePrecision = 5e-6;

// The source of a sampler's input with that semantic, or nothing.
pugi::xml_node FindInput(const ColladaDocument& document, pugi::xml_node sampler,
                         const char* semantic) {
  const pugi::xml_node input = sampler.find_child_by_attribute("input", "semantic", semantic);
  return document.Follow(input.attribute("source").value(), sampler.parent());
}

absl::StatusOr<ColladaNumbers> ReadInput(const ColladaDocument& document, pugi::xml_node sampler,
                                         const char* semantic) {
  const pugi::xml_node source = FindInput(document, sampler, semantic);
  if (!source) return InvalidArgument("no ", semantic, " source");
  return ReadColladaNumbers(document, source);
}

absl::StatusOr<ColladaInterpolation> ParseKind(const std::string& name) {
  if (name == "STEP") return ColladaInterpolation::kStep;
  if (name == "LINEAR") return ColladaInterpolation::kLinear;
  if (name == "BEZIER") return ColladaInterpolation::kBezier;
  return InvalidArgument("interpolation '", ShownText(name), "', need STEP, LINEAR or BEZIER");
}

absl::Status ReadKinds(const ColladaDocument& document, pugi::xml_node sampler,
                       ColladaCurve& curve) {
  const std::size_t keys = curve.times.size();
  curve.kinds.assign(keys, ColladaInterpolation::kLinear);
  const pugi::xml_node source = FindInput(document, sampler, "INTERPOLATION");
  if (!source) return absl::OkStatus();
  SINEW_ASSIGN_OR_RETURN(const std::vector<std::string> names, ReadColladaNames(document, source));
  if (names.size() != keys) {
    return InvalidArgument(CountedText(names.size(), "interpolation"), " for ",
                           CountedText(keys, "key"));
  }
  for (std::size_t k = 0; k + 1 < keys; ++k) {  // nothing follows the last key
    SINEW_ASSIGN_OR_RETURN(curve.kinds[k], ParseKind(names[k]));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> ReadTangents(const ColladaDocument& document,
                                                 pugi::xml_node sampler, const char* semantic,
                                                 const ColladaCurve& curve) {
  SINEW_ASSIGN_OR_RETURN(ColladaNumbers read, ReadInput(document, sampler, semantic));
  if (read.count != curve.times.size() || read.width != 2 * curve.width) {
    return InvalidArgument(semantic, ": ", CountedText(read.count, "tangent"), " of ",
                           CountedText(read.width, "number"), ", need ", curve.times.size(), " of ",
                           2 * curve.width, ", a time and a value for each value of a key");
  }
  return std::move(read.numbers);
}

double Bernstein(double a, double b, double c, double d, double s) {
  const double r = 1 - s;
  return r * r * r * a + 3 * r * r * s * b + 3 * r * s * s * c + s * s * s * d;
}

// The four control points of a number from one key to the next.
struct Segment {
  double t0, t1, t2, t3;  // seconds
  double v0, v1, v2, v3;
};

Segment SegmentOf(const ColladaCurve& curve, std::size_t k, std::size_t i) {
  const std::size_t at = k * curve.width + i, next = at + curve.width;
  return {curve.times[k],
          curve.out_tangents[2 * at],
          curve.in_tangents[2 * next],
          curve.times[k + 1],
          curve.values[at],
          curve.out_tangents[2 * at + 1],
          curve.in_tangents[2 * next + 1],
          curve.values[next]};
}

// The derivative of the time is a quadratic with these Bernstein coefficients (over 3). It is
// nowhere negative if the outer ones are not and the middle one is at least minus the root of their
// product.
bool GoesForward(const Segment& s) {
  const double slack = kTimePrecision * std::max(std::abs(s.t0), std::abs(s.t3));
  const double first = s.t1 - s.t0, middle = s.t2 - s.t1, last = s.t3 - s.t2;
  if (first < -slack || last < -slack) return false;
  return middle >= -std::sqrt(std::max(first, 0.0) * std::max(last, 0.0)) - slack;
}

absl::Status CheckBezier(const ColladaCurve& curve) {
  for (std::size_t k = 0; k + 1 < curve.times.size(); ++k) {
    if (curve.kinds[k] != ColladaInterpolation::kBezier) continue;
    for (std::size_t i = 0; i < curve.width; ++i) {
      if (GoesForward(SegmentOf(curve, k, i))) continue;
      return InvalidArgument("the tangents after key ", k,
                             " go back in time, need one value at each time");
    }
  }
  return absl::OkStatus();
}

// The time rises with the parameter, so halving finds it.
double BezierAt(const Segment& s, double t) {
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (Bernstein(s.t0, s.t1, s.t2, s.t3, middle) < t ? low : high) = middle;
  }
  return Bernstein(s.v0, s.v1, s.v2, s.v3, 0.5 * (low + high));
}

absl::Status CheckBehavior(pugi::xml_node sampler) {
  for (const char* name : {"pre_behavior", "post_behavior"}) {
    const std::string_view value = sampler.attribute(name).value();
    if (value.empty() || value == "UNDEFINED" || value == "CONSTANT") continue;
    return InvalidArgument(name, " '", ShownText(value), "', need CONSTANT");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ColladaCurve> ReadColladaCurve(const ColladaDocument& document,
                                              pugi::xml_node sampler) {
  SINEW_RETURN_IF_ERROR(CheckBehavior(sampler));
  SINEW_ASSIGN_OR_RETURN(ColladaNumbers times, ReadInput(document, sampler, "INPUT"));
  SINEW_ASSIGN_OR_RETURN(ColladaNumbers values, ReadInput(document, sampler, "OUTPUT"));
  if (times.width != 1 || times.count == 0) {
    return InvalidArgument("INPUT: ", CountedText(times.count, "key"), " of ",
                           CountedText(times.width, "time"), ", need at least one key of one");
  }
  if (values.count != times.count) {
    return InvalidArgument(CountedText(values.count, "value"), " for ",
                           CountedText(times.count, "key"));
  }
  for (std::size_t k = 1; k < times.count; ++k) {
    if (times.numbers[k] >= times.numbers[k - 1]) continue;
    return InvalidArgument("the time of key ", k, " is ", times.numbers[k], " after ",
                           times.numbers[k - 1], ", need times that do not fall");
  }
  ColladaCurve curve;
  curve.width = values.width;
  curve.times = std::move(times.numbers);
  curve.values = std::move(values.numbers);
  SINEW_RETURN_IF_ERROR(ReadKinds(document, sampler, curve));
  if (std::ranges::count(curve.kinds, ColladaInterpolation::kBezier) > 0) {
    SINEW_ASSIGN_OR_RETURN(curve.in_tangents, ReadTangents(document, sampler, "IN_TANGENT", curve));
    SINEW_ASSIGN_OR_RETURN(curve.out_tangents,
                           ReadTangents(document, sampler, "OUT_TANGENT", curve));
    SINEW_RETURN_IF_ERROR(CheckBezier(curve));
  }
  return curve;
}

void EvaluateColladaCurve(const ColladaCurve& curve, double seconds, std::span<double> out) {
  const auto later = [](double t, double key) { return t + kTimePrecision * std::abs(key) < key; };
  const auto after = std::upper_bound(curve.times.begin(), curve.times.end(), seconds, later);
  const std::size_t reached = static_cast<std::size_t>(after - curve.times.begin());
  const std::size_t k = reached == 0 ? 0 : reached - 1;
  const double* key = curve.values.data() + k * curve.width;
  std::copy_n(key, curve.width, out.begin());
  if (reached == 0 || after == curve.times.end() || curve.kinds[k] == ColladaInterpolation::kStep ||
      seconds <= curve.times[k]) {
    return;
  }
  if (curve.kinds[k] == ColladaInterpolation::kBezier) {
    for (std::size_t i = 0; i < curve.width; ++i) {
      out[i] = BezierAt(SegmentOf(curve, k, i), seconds);
    }
    return;
  }
  const double u = (seconds - curve.times[k]) / (curve.times[k + 1] - curve.times[k]);
  for (std::size_t i = 0; i < curve.width; ++i) {
    out[i] = (1 - u) * key[i] + u * key[curve.width + i];
  }
}

}  // namespace sinew::client
