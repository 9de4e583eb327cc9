// main() of the tests of a chapter's exercises, on any backend.
//
// Their test cases are named "broadcast_tree: judged". The first arguments are:
//
//   learners NAME         the linked function is the learner's, and only its test cases run
//   solutions [NAME...]   each of these exercises must have the judge's rows
//
// Bazel's --test_filter may name exercises, too ("allreduce_*").
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include <fnmatch.h>

#include "comm/run_ranks.h"
#include "exercises/registry.h"
#include "tests/support/judge_rows.h"
#include "tests/support/processes.h"

int main(int argc, char** argv) {
  std::vector<char*> others = {argv[0]};
  std::vector<std::string> named;
  for (int i = 2; i < argc; ++i) {
    const bool is_name = rankbox::find_exercise(argv[i]) != nullptr;
    if (is_name) named.emplace_back(argv[i]);
    if (!is_name) others.push_back(argv[i]);
  }
  const std::string whose = argc > 1 ? argv[1] : "";
  if (whose != "solutions" && (whose != "learners" || named.empty())) {
    std::cerr << "usage: " << argv[0] << " learners NAME | solutions [NAME...]\n";
    return 2;
  }
  std::string exercise;  // whose test cases run; empty: all
  if (whose == "learners") {
    exercise = named.front();
    rankbox::use_learners(exercise);
  }
  const char* const filter = std::getenv("TESTBRIDGE_TEST_ONLY");
  const bool names_exercises = filter != nullptr && std::ranges::any_of(named, [&](auto& name) {
                                 return fnmatch(filter, name.c_str(), 0) == 0;
                               });
  if (names_exercises) {
    exercise = filter;
    unsetenv("TESTBRIDGE_TEST_ONLY");
  }
  const bool all = exercise.empty() && filter == nullptr && others.size() == 1;
  std::string cases = "--test-case=" + exercise + ":*";
  if (!exercise.empty()) others.push_back(cases.data());

  int status =
      rankbox::testing::run_tests_of_processes(static_cast<int>(others.size()), others.data());
  for (const std::string& name : named) {
    if (!all || !rankbox::why_no_ranks().empty() || rankbox::judged_exercises().contains(name))
      continue;
    std::cout << "ERROR: no test case calls judge_rows(\"" << name << "\")\n";
    status = 1;
  }
  return status;
}
