// fit_picture.h - a fitted skeleton inside its mesh, as a panel of DrawPanels.
#pragma once

#include <span>
#include <string>

#include "client/bake/pictures/posed_picture.h"
#include "sinew/fit.h"
#include "sinew/rig_data.h"

namespace sinew::bake {

// The rig with these joints ([J * 12] joint to model), by linear blending, and its bones; turned so
// that +Y is up and the side that `azimuth` degrees to the left of the front look at faces +Z.
PosedPanel FitPanel(const client::RigData& rig, std::span<const float> joints,
                    const client::FitFacing& facing, double azimuth, std::string label);

}  // namespace sinew::bake
