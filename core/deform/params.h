// params.h - the closed list of methods' parameters. Each struct names its members once, in Fields;
// the text form, range checks, keys of bound data and ListMethods all come from there.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sinew {

// What a parameter is, beside its C++ member (float, uint32, bool, an enum with ChoiceNames,
// std::string for the name of a vertex map, or std::optional of a number where "unset" means
// something of its own).
struct ParamDoc {
  std::string_view name;
  std::string_view unit;            // empty = a plain number
  double minimum = 0, maximum = 0;  // inclusive; unused for bool, choices and maps
  std::string_view description;
};

enum class Laplacian : std::uint8_t { kUniform, kCotangent };
inline std::span<const std::string_view> ChoiceNames(Laplacian) {
  static constexpr std::array<std::string_view, 2> kNames = {"uniform", "cotangent"};
  return kNames;
}

enum class Smoothing : std::uint8_t { kImplicit, kExplicit };
inline std::span<const std::string_view> ChoiceNames(Smoothing) {
  static constexpr std::array<std::string_view, 2> kNames = {"implicit", "explicit"};
  return kNames;
}

struct LbsParams {
  static constexpr std::string_view kName = "lbs";
  std::uint32_t max_influences = 0;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit(ParamDoc{"max_influences", "influences", 0, 255,
                   "Keep only the strongest influences of each vertex; 0 keeps all."},
          self.max_influences);
  }
};

struct DqsParams {
  static constexpr std::string_view kName = "dqs";
  float blend = 1;
  std::string blend_map;
  std::uint32_t max_influences = 0;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit(ParamDoc{"blend", "", 0, 1, "0 = linear blend, 1 = dual quaternion."}, self.blend);
    visit(ParamDoc{"blend_map", "", 0, 0, "Vertex map that multiplies blend; empty = none."},
          self.blend_map);
    visit(ParamDoc{"max_influences", "influences", 0, 255,
                   "Keep only the strongest influences of each vertex; 0 keeps all."},
          self.max_influences);
  }
};

struct DdmParams {
  static constexpr std::string_view kName = "ddm";
  std::uint32_t variant = 0;
  Laplacian laplacian = Laplacian::kUniform;
  Smoothing smoothing = Smoothing::kImplicit;
  std::uint32_t iterations = 4;
  float lambda = 4;
  std::optional<float> kappa;
  float alpha = 0;
  std::optional<float> radius;
  float truncation = 1e-3f;
  bool pop_guard = true;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit(ParamDoc{"variant", "", 0, 0, "0 = full quality (others follow)."}, self.variant);
    visit(ParamDoc{"laplacian", "", 0, 0,
                   "Neighbour weights: uniform is robust, cotangent follows the shape."},
          self.laplacian);
    visit(ParamDoc{"smoothing", "", 0, 0, "implicit = backward Euler steps, explicit = Jacobi."},
          self.smoothing);
    visit(ParamDoc{"iterations", "steps", 1, 1000, "Smoothing steps."}, self.iterations);
    visit(ParamDoc{"lambda", "", 0, 1000,
                   "Smoothing per step: any size when implicit, 0 to 1 when explicit."},
          self.lambda);
    visit(ParamDoc{"kappa", "", 0, 1000,
                   "Smoothing per step of the translation weights, used when alpha > 0; unset = "
                   "lambda / 3."},
          self.kappa);
    visit(ParamDoc{"alpha", "", 0, 1,
                   "0 = translation from the smoothed points, 1 = from the weights."},
          self.alpha);
    visit(ParamDoc{"radius", "bounding-box diagonals", 0, 1,
                   "Smoothing radius; when set, lambda follows from it and the mean edge."},
          self.radius);
    visit(ParamDoc{"truncation", "", 0, 0.5,
                   "Influence mass below which a joint is dropped from a vertex; 0 keeps all."},
          self.truncation);
    visit(ParamDoc{"pop_guard", "", 0, 0,
                   "Fade to the blended rotation where the fitted one would jump."},
          self.pop_guard);
  }
};

struct EnhancedDdmParams : DdmParams {
  static constexpr std::string_view kName = "enhanced_ddm";
};

// Adding a method adds its parameters here and the method to the list in registry.cc.
using StageParams = std::variant<LbsParams, DqsParams, DdmParams, EnhancedDdmParams>;
using Recipe = std::vector<StageParams>;

}  // namespace sinew
