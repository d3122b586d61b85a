#include "server/base/version.h"

namespace sinew::server {

const char kVersion[] = SINEW_VERSION;

}  // namespace sinew::server
