// paths.h - where tests find the sources, the programs under test and optional data.
#pragma once

#include <filesystem>
#include <string>

namespace sinew::testing {

std::filesystem::path SourceFolder();
std::filesystem::path BuildFolder();

// The path of a program this build makes, for example "sinewd".
std::string ProgramPath(const std::string& name);

// The folder of shared models and reference outputs: $SINEW_SHARED_DATA, else ../shared/data beside
// the repository. Tests that need it skip when it does not exist.
std::filesystem::path SharedData();

}  // namespace sinew::testing
