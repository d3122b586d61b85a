// faults.h - the kinds of fault, each in a file of its own. Each injects, checks, and returns when
// its share is done, the time is over or something was violated.
#pragma once

#include "tests/fault/motions.h"
#include "tests/fault/suite.h"

namespace sinew::testing {

void InjectKills(Suite& suite, Undisturbed& undisturbed);
void InjectFullDisks(Suite& suite, Undisturbed& undisturbed);
void InjectDamage(Suite& suite, Undisturbed& undisturbed);
void InjectSlowReaders(Suite& suite, Undisturbed& undisturbed);
void InjectPauses(Suite& suite, Undisturbed& undisturbed);
void InjectNewCertificates(Suite& suite, Undisturbed& undisturbed);
void InjectFullBudgets(Suite& suite, Undisturbed& undisturbed);
// Last: streams until the total of frames is reached.
void InjectBrokenConnections(Suite& suite, Undisturbed& undisturbed);

}  // namespace sinew::testing
