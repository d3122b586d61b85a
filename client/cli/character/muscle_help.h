// muscle_help.h - `sinew help muscles`: documents the file of --muscles, member by member.
#pragma once

#include <string>

namespace sinew::cli {

// A complete text for model:arm.
extern const char kMuscleExample[];

// Every member with unit, range and default, and the example.
std::string MuscleHelp();

}  // namespace sinew::cli
