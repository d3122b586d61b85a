// weights_text.h - the joints of a rig with what they carry, as a table.
#pragma once

#include <string>

#include "sinew/rig_data.h"

namespace sinew::cli {

// The joints that carry something, largest share first.
std::string WeightsText(const client::RigData& rig);

}  // namespace sinew::cli
