// warnings.h - what a client should know about a recipe and a rig that are valid.
#pragma once

#include <google/protobuf/repeated_field.h>

#include "core/deform/engine/deformer.h"
#include "sinew/v1/problem.pb.h"

namespace sinew::server {

using Warnings = google::protobuf::RepeatedPtrField<v1::Problem>;

// Parameters and stages without effect on the rig, with their paths in a CreateSession request, and
// suspicious muscles. Visits all vertices of the rig.
Warnings WarningsOf(const Recipe& recipe, const Rig& rig);

}  // namespace sinew::server
