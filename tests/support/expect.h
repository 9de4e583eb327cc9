// Checks of a verdict in tests of exercises.
#pragma once

#include <string>

#include "comm/run_options.h"
#include "verdict/subject.h"
#include "verdict/verdict.h"

namespace rankbox {

/// Passes the running test case if this check ("values", "messages", "cost", "safety") passed. Else
/// fails it and shows the verdict as a learner would see it. On backends that judge only values,
/// passes over the test case for the other checks.
void expect_pass(const Verdict& verdict, const std::string& check);

/// Passes the running test case if this case of the subject ("world_size=8,count=24") has exactly
/// this cost, where the backend counts costs.
void expect_cost(const Subject& subject, const std::string& example_text, const Cost& expected);

}  // namespace rankbox
