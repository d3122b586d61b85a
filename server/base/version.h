// version.h - the software's version, from the build.
#pragma once

namespace sinew::server {

extern const char kVersion[];

}  // namespace sinew::server
