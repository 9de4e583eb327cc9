// Runs a program's test cases, and fails if one of them checked nothing.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>

namespace rankbox::testing {

/// Runs the test cases, and returns the exit status. It is also 1 if a test case ended without a
/// check, unless it was passed over, or if no test case or row matches the filter.
///
/// Bazel's --test_filter=NAME runs only one row of a table, as does --row=NAME; both allow
/// wildcards. A row of a table is what wants_row() names.
///
/// Writes JUnit's XML, with a case per SUBCASE that was not passed over, to the file that
/// XML_OUTPUT_FILE names, which Bazel keeps as test.xml. A call of exit() by what is tested ends
/// the program with status 1.
///
/// @param out where reports go; null: to the standard output. Otherwise no XML is written
int run_tests(int argc, char** argv, std::ostream* out = nullptr);

/// Returns whether to run this row of a table. A loop over named rows calls it before each of them.
/// (doctest's own filter of subcases never ends if others follow the one that it names.)
bool wants_row(const std::string& name);

/// Leaves out test cases of this pattern that have not begun.
void leave_out(const std::string& pattern);

/// Names what runs from now on, for the report of a crash, of exit(), or of a time limit.
void now_running(const std::string& what);

/// Marks the running test case as not applicable here (too few ranks, another backend), with the
/// reason: it need not check anything. Its running row is not in test.xml.
void pass_over(const std::string& why);

/// As pass_over(), for a test that needs a container: `problem` is why there is none. With
/// RANKBOX_REQUIRE_CONTAINER=1 (CI) the test case fails.
void pass_over_without_containers(const std::string& problem);

/// Returns whether to run row number `row` of a long table: always, or one in three with
/// RANKBOX_THIRD=0, 1 or 2. `./rankbox test` sets it to another third for each commit. Of these,
/// a test with a shard_count runs those of its shard. With RANKBOX_CASES_ROTATE=1, the test cases
/// of a file are such a table.
bool is_to_run(std::size_t row);
/// Returns whether that variable is set, and its value.
bool runs_a_third();
int third();

/// Returns the exit status of a program whose tests cannot run here: 0, or 1 if
/// RANKBOX_REQUIRE_GPU=1 forbids that. Prints the reason in one line.
int skip_all(const std::string& why);

}  // namespace rankbox::testing
