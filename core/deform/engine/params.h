// params.h - the closed list of methods' parameters. Each struct names its members once, in Fields;
// the text form, range checks, keys of bound data and ListMethods all come from there.
#pragma once

#include <variant>
#include <vector>

#include "core/deform/bulge_free/bulge_free_params.h"
#include "core/deform/cor/cor_params.h"
#include "core/deform/ddm/ddm_params.h"
#include "core/deform/delta_mush/delta_mush_params.h"
#include "core/deform/dqs/dqs_params.h"
#include "core/deform/implicit/implicit_params.h"
#include "core/deform/lbs/lbs_params.h"
#include "core/deform/muscle/muscle_params.h"
#include "core/deform/relax/relax_params.h"
#include "core/deform/shapes/shapes_params.h"
#include "core/deform/spherical_blend/spherical_blend_params.h"

namespace sinew {

// Adding a method adds its parameters here and the method to the list in registry.cc.
using StageParams = std::variant<LbsParams, DqsParams, BulgeFreeParams, SphericalBlendParams,
                                 CorParams, DeltaMushParams, DdmParams, EnhancedDdmParams,
                                 ShapesParams, ImplicitParams, RelaxParams, MuscleParams>;
using Recipe = std::vector<StageParams>;

}  // namespace sinew
