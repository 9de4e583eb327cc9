// The judge's verdict on an exercise, as rows of a test case.
//
//   TEST_CASE("broadcast_tree: judged") { judge_rows("broadcast_tree"); }
//
// One judgement, over all world sizes, counts and other fields, has a row for each property:
// "values/5 ranks" for each world size, "messages", "cost", "example" (the cost that was worked out
// by hand), "safety" and "memory" where they apply. A failed row has the message, place and replay
// line of `./rankbox check`. A stub fails one row alone, "values", and leaves out the test cases of
// its exercise that follow.
#pragma once

#include <set>
#include <string>

namespace rankbox {

/// Judges the linked function of the exercise `name`, in a running test case whose name begins with
/// it. Backends that judge only values have no other rows.
/// REQUIRES: an exercise of the registry.
void judge_rows(const std::string& name);

/// Returns the exercises of which judge_rows() has judged any.
std::set<std::string> judged_exercises();

/// From now on the linked function of this exercise is the learner's: failures without a place are
/// in that file, and replay lines judge it.
void use_learners(const std::string& exercise);

}  // namespace rankbox
