// poses_file.h - clips as .npy files, for --poses.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace sinew::testing {

// Writes float32 of shape (values.size() / joints / 12, joints, 12).
void WritePoses(const std::string& path, std::span<const float> values, std::size_t joints);

}  // namespace sinew::testing
