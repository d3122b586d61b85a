#include "client/lib/stream/decode.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace sinew::client {
namespace {

constexpr std::size_t kBatch = 1024;  // vertices that are gathered at a time

// Calls decode(numbers, first vertex, vertices) for all vertices of `per` numbers each, batch by
// batch. Spans may end anywhere.
template <class Number, std::size_t per, class Decode>
absl::Status ForBatches(const ByteSpans& bytes, std::span<float> out, Decode&& decode) {
  constexpr std::size_t kVertex = sizeof(Number) * per;
  if (out.size() % 3 != 0 || bytes.size() != out.size() / 3 * kVertex) {
    return absl::InvalidArgumentError(
        absl::StrCat("out: got ", out.size(), " numbers, need ", bytes.size() / kVertex * 3));
  }
  std::array<Number, kBatch * per> batch;
  std::size_t filled = 0, first = 0;
  const auto flush = [&] {
    decode(batch.data(), first, filled / kVertex);
    first += filled / kVertex;
    filled = 0;
  };
  for (std::span<const std::byte> span : bytes.spans()) {
    while (!span.empty()) {
      const std::size_t count = std::min(span.size(), sizeof batch - filled);
      std::memcpy(reinterpret_cast<std::byte*>(batch.data()) + filled, span.data(), count);
      span = span.subspan(count);
      filled += count;
      if (filled == sizeof batch) flush();
    }
  }
  if (filled > 0) flush();
  return absl::OkStatus();
}

template <class Number>
absl::Status DecodeOct(const ByteSpans& bytes, std::span<float> out) {
  constexpr auto kScale = static_cast<float>((1 << (sizeof(Number) * 8 - 1)) - 1);
  return ForBatches<Number, 2>(
      bytes, out, [&](const Number* q, std::size_t first, std::size_t vertices) {
        float* const to = out.data() + first * 3;
        std::array<float, kBatch> x, y, z;  // apart, so that the loop runs in vectors
        for (std::size_t i = 0; i < vertices; ++i) {
          const float u = static_cast<float>(q[2 * i]) / kScale;
          const float v = static_cast<float>(q[2 * i + 1]) / kScale;
          const float up = 1.0f - std::abs(u) - std::abs(v);
          const float below = up < 0 ? -up : 0.0f;
          const float across = u < 0 ? u + below : u - below;
          const float along = v < 0 ? v + below : v - below;
          const float length = std::sqrt(across * across + along * along + up * up);
          x[i] = across / length;
          y[i] = along / length;
          z[i] = up / length;
        }
        for (std::size_t i = 0; i < vertices; ++i) {
          to[3 * i] = x[i];
          to[3 * i + 1] = y[i];
          to[3 * i + 2] = z[i];
        }
      });
}

}  // namespace

absl::Status DecodeQ16(const ByteSpans& bytes, const Quantisation& quantisation,
                       std::span<float> out) {
  // The pattern of 48 coordinates lets the loop run in vectors.
  std::array<float, 48> origin, step;
  for (std::size_t i = 0; i < 48; ++i) {
    origin[i] = quantisation.origin[i % 3];
    step[i] = quantisation.step[i % 3];
  }
  return ForBatches<std::uint16_t, 3>(
      bytes, out, [&](const std::uint16_t* q, std::size_t first, std::size_t vertices) {
        float* const to = out.data() + first * 3;
        const std::size_t count = vertices * 3, whole = count / 48 * 48;
        for (std::size_t k = 0; k < whole; k += 48) {
          for (std::size_t i = 0; i < 48; ++i) {
            to[k + i] = origin[i] + step[i] * static_cast<float>(q[k + i]);
          }
        }
        for (std::size_t k = whole; k < count; ++k) {
          to[k] = origin[k % 3] + step[k % 3] * static_cast<float>(q[k]);
        }
      });
}

absl::Status DecodeOct8(const ByteSpans& bytes, std::span<float> out) {
  return DecodeOct<std::int8_t>(bytes, out);
}

absl::Status DecodeOct16(const ByteSpans& bytes, std::span<float> out) {
  return DecodeOct<std::int16_t>(bytes, out);
}

}  // namespace sinew::client
