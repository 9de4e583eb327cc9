// The checks of a run's report: how they are made, and how they are applied.
#pragma once

#include <functional>
#include <optional>

#include "verdict/subject.h"

namespace rankbox {

/// A check that needs a trace, and points to the rank of the difference. A difference of any kind
/// fails with `kind`.
RunCheck check_of(
    FailureKind kind,
    std::function<std::optional<Difference>(const RunReport& report, const Case& example)> compare);

/// The check that a run costs what the subject promises. REQUIRES: subject.cost.
RunCheck cost_check(const Subject& subject);

/// Returns the first failure among the checks of this kind. Leaves out those that need a trace if
/// the report has none.
std::optional<Failure> first_failure(const std::vector<RunCheck>& checks, FailureKind kind,
                                     const RunReport& report, const Case& example);

}  // namespace rankbox
