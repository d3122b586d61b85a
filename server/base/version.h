// version.h - the software version, set by the build.
#pragma once

namespace sinew::server {

extern const char kVersion[];

}  // namespace sinew::server
