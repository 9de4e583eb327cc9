// Failures of learners' rows: kind, message and place.
#pragma once

#include <string>

#include "cli/compare/plan/plan.h"
#include "comm/errors.h"

namespace rankbox::cli {

/// Returns the failure for an error of a run.
RowFailure row_failure_of(const Error& error);

/// Marks a learner's row as failed if its result is wrong.
void fail_if_wrong(Row& row);

/// Throws the error with the row named. User errors remain InvalidArgument.
[[noreturn]] void rethrow_naming(const Error& error, const Row& row);

/// Returns "deadlock: ranks 0, 1 blocked … (ring.cc:14)": one line, without the row.
std::string in_words(const RowFailure& failure);

}  // namespace rankbox::cli
