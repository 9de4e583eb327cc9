// The checks of a run's report: construction and application.
#pragma once

#include <functional>
#include <optional>

#include "judge/subject.h"

namespace rankbox {

/// Returns a check that needs a trace and points to the rank of the difference. A difference of any
/// kind fails with `kind`.
RunCheck check_of(
    FailureKind kind,
    std::function<std::optional<Difference>(const RunReport& report, const Case& example)> compare);

/// Compares the number of messages of all ranks. Where a cost is the longest chain, and in bytes or
/// steps that empty messages have none of, others may be missing or too many. If `steps` is set, a
/// run with another number of steps passes: cost_check() names that mistake.
RunCheck number_check(std::function<std::int64_t(const Case&)> messages, const Hint& hint,
                      std::function<double(const Case&)> steps = {});

/// Returns the check that a run costs what the subject promises. REQUIRES: subject.cost.
RunCheck cost_check(const Subject& subject);

/// Returns the first failure among the checks of this kind. If the report has no trace, checks that
/// need one are skipped.
std::optional<Failure> first_failure(const std::vector<RunCheck>& checks, FailureKind kind,
                                     const RunReport& report, const Case& example);

}  // namespace rankbox
