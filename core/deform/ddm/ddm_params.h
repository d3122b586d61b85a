// ddm_params.h - parameters of Direct Delta Mush and its enhanced form, named as in Le and Lewis
// 2019.
#pragma once

#include "core/deform/method/param_doc.h"

namespace sinew {

// Neighbour weights of the smoothing: equal, or cotangents of the rest mesh (never negative, see
// NegativeWeights::kClamp).
enum class Laplacian : std::uint8_t { kUniform, kCotangent };
inline std::span<const std::string_view> ChoiceNames(Laplacian) {
  static constexpr std::array<std::string_view, 2> kNames = {"uniform", "cotangent"};
  return kNames;
}

// With L the Laplacian: (I + lambda L)^-1 or (I - lambda L), `iterations` times.
enum class Smoothing : std::uint8_t { kImplicit, kExplicit };
inline std::span<const std::string_view> ChoiceNames(Smoothing) {
  static constexpr std::array<std::string_view, 2> kNames = {"implicit", "explicit"};
  return kNames;
}

struct DdmParams {
  static constexpr std::string_view kName = "ddm";
  std::uint32_t variant = 0;  // 0 to 5; 0 is the full method, the others are cheaper
  Laplacian laplacian = Laplacian::kCotangent;
  Smoothing smoothing = Smoothing::kImplicit;
  std::uint32_t iterations = 4;  // p, steps
  float lambda = 4;              // per step; ignored if radius is set
  // Like lambda, for the translation weights; used if alpha > 0. Default: lambda / 3.
  std::optional<float> kappa;
  float alpha = 0;  // share of the translation taken from the translation weights
  // Smoothing radius in bounding-box diagonals of the rest mesh; sets lambda, and the iterations of
  // explicit smoothing (see ResolveSmoothing).
  std::optional<float> radius;
  float truncation = 1e-3f;  // of a vertex's influence mass, whose total is 1
  bool pop_guard = true;     // variant 0 only
  float keep_area = 0.5f;    // see kKeepAreaDoc

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit(
        ParamDoc{
            "variant", "", 0, 5,
            "0 = fitted rotation, full quality; 1 = affine fit; 2 = blended rotation; 3 = blended "
            "matrix; 4 = blended rotation about the smoothed point; 5 = smoothed weights only."},
        self.variant);
    visit(ParamDoc{"laplacian", "", 0, 0,
                   "Neighbour weights: cotangent follows the shape, uniform only the edges."},
          self.laplacian);
    visit(ParamDoc{"smoothing", "", 0, 0, "implicit = backward Euler steps, explicit = Jacobi."},
          self.smoothing);
    visit(ParamDoc{"iterations", "steps", 1, 1000, "Smoothing steps."}, self.iterations);
    visit(ParamDoc{"lambda", "", 0, 1000,
                   "Smoothing per step: any size when implicit, 0 to 1 when explicit."}
              .Unless(!self.radius, "it follows from radius"),
          self.lambda);
    visit(ParamDoc{"kappa", "", 0, 1000,
                   "Smoothing per step of the translation weights, used when alpha > 0; unset = "
                   "lambda / 3."}
              .Unless(self.alpha > 0, "alpha is 0"),
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
                   "Variant 0: fade to the blended rotation where the fitted one would jump."}
              .Unless(self.variant == 0, "variant is not 0"),
          self.pop_guard);
    visit(kKeepAreaDoc, self.keep_area);
  }
};

// DdmParams without the variants that have no enhanced form (Kalentchouk and Hutchinson 2021).
struct EnhancedDdmParams : DdmParams {
  static constexpr std::string_view kName = "enhanced_ddm";
  static constexpr std::array<std::uint32_t, 4> kVariants = {0, 2, 3, 4};

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    DdmParams::Fields(self, [&](ParamDoc doc, auto& member) {
      if (doc.name == "variant") {
        doc.maximum = kVariants.back();
        doc.only = kVariants;
        doc.description =
            "0 = fitted rotation, full quality; 2 = blended rotation; 3 = blended matrix; 4 = "
            "blended rotation about the smoothed point.";
      }
      visit(doc, member);
    });
  }
};

}  // namespace sinew
