// field_path.h - the field that an error names at the start of its message.
#pragma once

#include <string_view>

namespace sinew {

// The path of "meshes[2].weights: got 3, need 4", or empty if the message begins with none:
// letters, digits, `_`, `.` and `[n]`. A view of `message`.
std::string_view LeadingPath(std::string_view message);

}  // namespace sinew
