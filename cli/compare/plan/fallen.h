// A learner's row that has no figures, and why.
#pragma once

#include <string>

#include "cli/compare/plan/plan.h"
#include "comm/errors.h"

namespace rankbox::cli {

/// What an error of the run says, by its kind.
Fallen fallen_by(const Error& error);

/// A learner's row falls if its result is wrong.
void fall_if_wrong(Row& row);

/// The error, with the row named. What the user can mend stays InvalidArgument.
[[noreturn]] void rethrow_naming(const Error& error, const Row& row);

/// "deadlock: ranks 0, 1 blocked … (ring.cc:14)": one line, without the row.
std::string in_words(const Fallen& fallen);

}  // namespace rankbox::cli
