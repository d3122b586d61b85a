// influences.h - skin weights as one compressed row per vertex.
//
// A binding is one (skin, joint) pair: the same joint has another inverse bind matrix in another
// skin, so weights name bindings, and each binding names its joint.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/types.h"

namespace sinew {

struct Binding {
  std::uint16_t joint = 0;
  AffineD inverse_bind;  // bind space to joint space, including the part's geometry bind
};

struct InfluenceSource {
  std::vector<std::uint64_t> offsets;    // [V + 1] into bindings and weights
  std::vector<std::uint32_t> bindings;   // [n]
  std::vector<float> weights;            // [n]
  std::vector<std::int32_t> fallback{};  // [V] binding if all weights are 0, -1 = none; or empty
};

inline constexpr std::size_t kMaxInfluences = 255;  // per vertex

class Influences {
 public:
  // Normalises every row: weights of the same binding are added, those below 1e-6 dropped, the rest
  // divided by their sum in double; strongest first, ties by lower binding.
  // kInvalidArgument: a negative or non-finite weight, a sum more than 1e-3 off 1 (without a
  // fallback for 0), a binding out of range, more than kMaxInfluences left. The message has the
  // first vertex and the number of them.
  static absl::StatusOr<Influences> Create(InfluenceSource source, std::size_t bindings);

  // Row v of the result is row rows[v] of this.
  Influences Pick(std::span<const std::uint32_t> rows) const;

  std::size_t vertices() const { return offsets_.size() - 1; }
  std::size_t size() const { return bindings_.size(); }
  std::size_t max_per_vertex() const { return max_; }
  // The `most` strongest of a vertex; 0: all.
  std::span<const std::uint16_t> bindings(std::size_t v, std::size_t most = 0) const {
    return {bindings_.data() + offsets_[v], Count(v, most)};
  }
  std::span<const double> weights(std::size_t v, std::size_t most = 0) const {
    return {weights_.data() + offsets_[v], Count(v, most)};
  }
  std::span<const std::uint64_t> offsets() const { return offsets_; }
  std::span<const std::uint16_t> all_bindings() const { return bindings_; }
  std::span<const double> all_weights() const { return weights_; }

 private:
  Influences() = default;
  std::size_t Count(std::size_t v, std::size_t most) const {
    const std::size_t count = offsets_[v + 1] - offsets_[v];
    return most == 0 || count < most ? count : most;
  }
  std::vector<std::uint64_t> offsets_;
  std::vector<std::uint16_t> bindings_;
  std::vector<double> weights_;
  std::size_t max_ = 0;
};

}  // namespace sinew
