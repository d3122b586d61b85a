// fbx.cc - FBX files, text and binary, through ImportFile.
#include "tests/fuzz/scene.h"
#include "tests/support/temporary_folder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sinew;
  static const testing::TemporaryFolder folder;
  const std::string path = folder / "fuzz.fbx";
  testing::WriteAll(path, std::string(fuzz::Text(data, size)));
  fuzz::ImportAndCheck(path);
  return 0;
}
