// What tests of exercises say about a verdict.
#pragma once

#include <string>

#include "comm/run_options.h"
#include "verdict/subject.h"
#include "verdict/verdict.h"

namespace rankbox {

/// Passes the running test case if this check ("values", "messages", "cost", "safety") passed; else
/// fails it and shows the verdict as a learner would see it. On backends that are judged by their
/// values alone, it passes the test case over for the other checks.
void expect_pass(const Verdict& verdict, const std::string& check);

/// Passes the running test case if this case of the subject
/// ("world_size=8,count=24") costs just so, where the backend counts costs.
void expect_cost(const Subject& subject, const std::string& example_text, const Cost& expected);

}  // namespace rankbox
