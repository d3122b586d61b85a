#include "tests/integration/cli/poses_file.h"

#include <absl/strings/str_cat.h>

#include "tests/support/temporary_folder.h"

namespace sinew::testing {

void WritePoses(const std::string& path, std::span<const float> values, std::size_t joints) {
  std::string header = absl::StrCat("{'descr': '<f4', 'fortran_order': False, 'shape': (",
                                    values.size() / joints / 12, ", ", joints, ", 12), }");
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 10, ' ');
  header.back() = '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  WriteAll(path, bytes);
}

}  // namespace sinew::testing
