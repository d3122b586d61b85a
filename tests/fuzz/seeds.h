// seeds.h - the folder of inputs that seeds.cc writes.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "tests/support/temporary_folder.h"

namespace sinew::fuzz {

class Corpus {
 public:
  explicit Corpus(std::filesystem::path folder) : folder_(std::move(folder)) {}
  void Add(const std::string& target, const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories(folder_ / target);
    sinew::testing::WriteAll(folder_ / target / name, bytes);
  }

 private:
  std::filesystem::path folder_;
};

// Files of the targets collada, fbx and gltf.
void AddCharacterFiles(const Corpus& corpus);

}  // namespace sinew::fuzz
