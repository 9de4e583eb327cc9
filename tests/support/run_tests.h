// What every test program does: runs its test cases, and fails where one of them checked nothing.
#pragma once

#include <ostream>
#include <string>

namespace rankbox::testing {

/// Runs the test cases, and returns the exit status. It is 1 as well if a test case ended without a
/// check, unless it was passed over, or if no test case or row matches what was asked for.
///
/// Bazel's --test_filter=NAME runs one row of a table alone, and so does doctest's --subcase=NAME;
/// both allow wildcards.
///
/// @param out where reports go; null: to the standard output
int run_tests(int argc, char** argv, std::ostream* out = nullptr);

/// Whether to run this row of a table. A loop over rows with names asks before each of them.
bool wants_row(const std::string& name);

/// Says why the running test case does not apply here (too few ranks, another backend): it need not
/// check anything.
void pass_over(const std::string& why);

/// The exit status of a program whose tests cannot run here: 0, and 1 where RANKBOX_REQUIRE_GPU=1
/// forbids it. Prints why in one line.
int skip_all(const std::string& why);

}  // namespace rankbox::testing
