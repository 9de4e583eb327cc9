// Where a program fails and where it does not: what the failing cases have in common.
#pragma once

#include <string>
#include <vector>

#include "judge/case.h"

namespace rankbox {

struct CaseOutcome {
  Case example;
  bool failed = false;
};

/// Returns few cases that differ in what pattern_of() looks at, in their order: one of each kind,
/// small ones.
std::vector<Case> telling_cases(const std::vector<Case>& cases);

/// Returns "right for root 0 only" or the like, if that holds in all cases; else "".
std::string pattern_of(const std::vector<CaseOutcome>& outcomes);

}  // namespace rankbox
