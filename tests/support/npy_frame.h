// npy_frame.h - a frame of a baked .npy, where its header says that it is.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "client/bake/formats/npy.h"

namespace sinew::testing {

// Its points [V * 3]; empty, and a failure, if there is no such frame.
inline std::vector<float> NpyFrame(const std::string& bytes, std::size_t frame) {
  const auto header = bake::ParseNpyHeader(std::as_bytes(std::span(bytes)));
  const bool good = header.ok() && header->value_bytes == sizeof(float) &&
                    header->shape.size() == 3 && header->shape[2] == 3 && frame < header->shape[0];
  EXPECT_TRUE(good) << header.status();
  if (!good) return {};
  std::vector<float> points(header->shape[1] * 3);
  const std::size_t size = points.size() * sizeof(float);
  std::memcpy(points.data(), bytes.data() + header->data_offset + frame * size, size);
  return points;
}

}  // namespace sinew::testing
