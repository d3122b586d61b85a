// version.h - the software's version, from the build.
#pragma once

namespace sinew::server {

inline constexpr char kVersion[] = SINEW_VERSION;

}  // namespace sinew::server
