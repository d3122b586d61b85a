// gltf.cc - glTF files, text and binary, through ImportFile: exceptions must not leave it.
#include "tests/fuzz/scene.h"
#include "tests/support/temporary_folder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sinew;
  static const testing::TemporaryFolder folder;
  const std::string text(fuzz::Text(data, size));
  const std::string path = folder / (text.starts_with("glTF") ? "fuzz.glb" : "fuzz.gltf");
  testing::WriteAll(path, text);
  fuzz::ImportAndCheck(path);
  return 0;
}
