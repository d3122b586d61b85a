// params.h - the closed list of all methods' parameters. Each struct lists its members in Fields,
// from which the text form, range checks, keys of bound data and ListMethods are derived.
#pragma once

#include <variant>
#include <vector>

#include "core/deform/animation_space/animation_space_params.h"
#include "core/deform/bulge_free/bulge_free_params.h"
#include "core/deform/cor/cor_params.h"
#include "core/deform/ddm/ddm_params.h"
#include "core/deform/delta_mush/delta_mush_params.h"
#include "core/deform/dqs/dqs_params.h"
#include "core/deform/implicit/implicit_params.h"
#include "core/deform/lbs/lbs_params.h"
#include "core/deform/multi_weight/multi_weight_params.h"
#include "core/deform/muscle/muscle_params.h"
#include "core/deform/relax/relax_params.h"
#include "core/deform/shapes/shapes_params.h"
#include "core/deform/spherical_blend/spherical_blend_params.h"

namespace sinew {

// A new method adds its parameters here and itself to the list in registry.cc, in the same order.
using StageParams =
    std::variant<LbsParams, DqsParams, BulgeFreeParams, SphericalBlendParams, CorParams,
                 DeltaMushParams, DdmParams, EnhancedDdmParams, ShapesParams, ImplicitParams,
                 RelaxParams, MuscleParams, AnimationSpaceParams, MultiWeightParams>;
using Recipe = std::vector<StageParams>;

// Calls visit(doc, member) for every parameter of a stage.
template <class Visit>
void VisitParameters(const StageParams& params, Visit&& visit) {
  std::visit([&]<class P>(const P& p) { P::Fields(p, visit); }, params);
}

}  // namespace sinew
