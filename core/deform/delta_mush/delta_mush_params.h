// delta_mush_params.h - parameters of delta mush (Mancewicz et al. 2014; see delta_mush.h): plain
// numbers unless a unit stands beside. Ranges and sentences are in Fields, which checks, text form
// and documentation read; ValidateStage checks them, Bind takes them as checked.
#pragma once

#include "core/deform/method/param_doc.h"

namespace sinew {

// Weights of a point's neighbours: all equal, by the angles of the rest mesh, by 1 / edge length.
enum class MushLaplacian : std::uint8_t { kUniform, kCotangent, kInverseDistance };
inline std::span<const std::string_view> ChoiceNames(MushLaplacian) {
  static constexpr std::array<std::string_view, 3> kNames = {"uniform", "cotangent",
                                                             "inverse_distance"};
  return kNames;
}

struct DeltaMushParams {
  static constexpr std::string_view kName = "delta_mush";
  std::uint32_t iterations = 10;  // ignored where radius is set
  float step = 0.5f;              // part of the way to the neighbours' mean
  MushLaplacian laplacian = MushLaplacian::kCotangent;
  std::optional<float> radius{};  // of the smoothing, in bounding-box diagonals of the rest mesh
  float displacement = 1;         // factor of the detail; negative turns it inside out
  bool pin_borders = true;        // smoothing leaves points on open edges alone
  std::string map{};  // name of a vertex map, which bind looks for; values (0 to 1) multiply step
  float keep_area = 0.8f;  // see kKeepAreaDoc

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit(ParamDoc{"iterations", "steps", 0, 1000, "Smoothing steps; 0 = no effect."},
          self.iterations);
    visit(ParamDoc{"step", "", 0, 1, "How far each step moves a point towards its neighbours."},
          self.step);
    visit(ParamDoc{"laplacian", "", 0, 0,
                   "Neighbour weights: cotangent follows the shape, uniform the edges alone and is "
                   "faster, inverse_distance lies between."},
          self.laplacian);
    visit(
        ParamDoc{
            "radius", "bounding-box diagonals", 0, 1,
            "Smoothing radius; when set, iterations follow from it, the step and the mean edge."},
        self.radius);
    visit(ParamDoc{"displacement", "", -10, 10, "How much of the rest detail is put back."},
          self.displacement);
    visit(ParamDoc{"pin_borders", "", 0, 0,
                   "Points on open edges stay where the stage before put them."},
          self.pin_borders);
    visit(ParamDoc{"map", "", 0, 0, "Vertex map that multiplies step; empty = none."}, self.map);
    visit(kKeepAreaDoc, self.keep_area);
  }
};

}  // namespace sinew
