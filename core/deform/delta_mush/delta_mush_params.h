// delta_mush_params.h - parameters of Delta Mush (see delta_mush.h).
#pragma once

#include "core/deform/method/param_doc.h"

namespace sinew {

// Neighbour weights: equal, cotangents of the rest mesh, or 1 / edge length.
enum class MushLaplacian : std::uint8_t { kUniform, kCotangent, kInverseDistance };
inline std::span<const std::string_view> ChoiceNames(MushLaplacian) {
  static constexpr std::array<std::string_view, 3> kNames = {"uniform", "cotangent",
                                                             "inverse_distance"};
  return kNames;
}

struct DeltaMushParams {
  static constexpr std::string_view kName = "delta_mush";
  std::uint32_t iterations = 10;  // ignored if radius is set
  float step = 0.5f;              // fraction of the way to the neighbours' mean
  MushLaplacian laplacian = MushLaplacian::kCotangent;
  std::optional<float> radius{};  // smoothing radius in bounding-box diagonals of the rest mesh
  float displacement = 1;         // factor of the detail; negative inverts it
  bool pin_borders = true;        // points on open edges are not smoothed
  std::string map{};              // vertex map resolved at bind; its values (0 to 1) multiply step
  float keep_area = 0.8f;         // see kKeepAreaDoc

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit(ParamDoc{"iterations", "steps", 0, 1000, "Smoothing steps; 0 = no effect."}.Unless(
              !self.radius, "it follows from radius"),
          self.iterations);
    visit(ParamDoc{"step", "", 0, 1, "How far each step moves a point towards its neighbours."},
          self.step);
    visit(ParamDoc{"laplacian", "", 0, 0,
                   "Neighbour weights: cotangent follows the shape, uniform only the edges and is "
                   "faster, inverse_distance is in between."},
          self.laplacian);
    visit(
        ParamDoc{
            "radius", "bounding-box diagonals", 0, 1,
            "Smoothing radius; when set, iterations follow from it, the step and the mean edge."},
        self.radius);
    visit(ParamDoc{"displacement", "", -10, 10, "How much of the rest detail is restored."},
          self.displacement);
    visit(ParamDoc{"pin_borders", "", 0, 0,
                   "Points on open edges keep the position of the previous stage."},
          self.pin_borders);
    visit(ParamDoc{"map", "", 0, 0, "Vertex map that multiplies step; empty = none."}, self.map);
    visit(kKeepAreaDoc, self.keep_area);
  }
};

}  // namespace sinew
