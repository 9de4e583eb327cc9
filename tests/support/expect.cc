#include "tests/support/expect.h"

#include <algorithm>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "judge/catalog.h"
#include "judge/failure_of.h"
#include "judge/run_case.h"
#include "judge/verdict_text.h"
#include "tests/support/run_tests.h"

namespace rankbox {

namespace {

using Worlds = std::vector<std::pair<std::string, std::vector<Case>>>;

/// Returns the cases of each world size that this backend judges.
Worlds worlds_of(const Subject& subject) {
  Worlds worlds;
  for (const Case& example : subject.cases()) {
    if (!is_judged(example)) continue;
    const int number = example.threads.value_or(example.world_size);
    const std::string name =
        fmt::format("{} {}{}", number, example.threads ? "thread" : "rank", number == 1 ? "" : "s");
    auto found = std::find_if(worlds.begin(), worlds.end(),
                              [&](const auto& world) { return world.first == name; });
    if (found == worlds.end()) found = worlds.insert(worlds.end(), {name, {}});
    found->second.push_back(example);
  }
  return worlds;
}

/// Returns whether the check passed; throws if there is none of that name.
bool passes(const Verdict& verdict, const std::string& check) {
  const Check* found = verdict.find(check);
  REQUIRE_MESSAGE(found != nullptr, "no check is called ", check);
  return found->status == CheckStatus::kPass;
}

/// Fails the running test case at the failure's place.
void fail(const Judged& judged, const Failure& failure, const std::string& prefix = "") {
  Verdict verdict = undecided(judged.exercise->name);
  verdict.status = Status::kFail;
  verdict.failure = failure;
  // Without the heading, which is the name of the test case.
  std::string text = to_text(verdict);
  text.erase(0, text.find_first_not_of(' ', text.find('\n') + 1));
  text.pop_back();  // the last line's end
  if (failure.kind == FailureKind::kNotImplemented) text = "not implemented yet";
  const std::string& file = failure.file.empty() ? judged.file : failure.file;
  ADD_FAIL_CHECK_AT(file.c_str(), failure.line, prefix, text);
}

}  // namespace

Judged judged(const Exercise& exercise, AnyFunction function, AnyFunction solution,
              const std::string& file, const std::string& command) {
  JudgeOptions options;
  options.command = command;
  options.starting = testing::now_running;
  Subject subject = subject_of(exercise, function, solution);
  Judged result = {&exercise, file, command, judge(exercise.name, subject, options), {}};
  if (!result.is_implemented()) return result;
  const bool all_right = passes(result.verdict, "values");
  for (const auto& [name, cases] : worlds_of(subject)) {
    subject.cases = [&cases = cases] { return cases; };
    result.worlds.emplace_back(name,
                               all_right ? result.verdict : judge(exercise.name, subject, options));
  }
  return result;
}

void expect_values(const Judged& judged, const Verdict& verdict) {
  if (!passes(verdict, "values")) return fail(judged, verdict.failure.value());
  CHECK(passes(verdict, "values"));
}

void expect_pass(const Judged& judged, const std::string& check) {
  if (judges_only_values() && check != "values")
    return testing::pass_over("only the sandbox judges " + check);
  if (!judged.is_implemented()) return testing::pass_over("not implemented yet");
  const Verdict& verdict = judged.verdict;
  if (passes(verdict, check)) {
    CHECK(verdict.find(check)->status == CheckStatus::kPass);
    return;
  }
  const Failure& first = verdict.failure.value();
  if (verdict.find(check)->status == CheckStatus::kSkipped)
    return fail(judged, first, "not judged, because another check fails first: ");
  const auto own = std::find_if(
      verdict.others.begin(), verdict.others.end(),
      [&](const Failure& failure) { return check_named_after(failure.kind) == check; });
  fail(judged, own == verdict.others.end() ? first : *own);
}

void expect_example_cost(const Judged& judged, const Subject& subject) {
  if (judges_only_values()) return testing::pass_over("only the sandbox counts costs");
  if (!judged.is_implemented()) return testing::pass_over("not implemented yet");
  const Exercise& exercise = *judged.exercise;
  const Case example = parse_case(exercise.example, subject.cases().front());
  const std::string replay = fmt::format("{} --replay {}", judged.command, to_string(example));
  testing::now_running(replay);
  CaseRun run = run_case(subject, example);
  Cost cost = run.report.cost;
  // The solution's cost is this one. Others may add more, up to a bound that is judged elsewhere.
  if (subject.may_cost_less && subject.may_cost_less(example))
    cost.reduced = exercise.example_cost.reduced;
  if (!run.failure && cost != exercise.example_cost)
    run.failure = failure_of_cost(exercise.example_cost, example, run.report);
  if (!run.failure) {
    CHECK(cost == exercise.example_cost);
    return;
  }
  run.failure->replay = replay;
  fail(judged, *run.failure);
}

}  // namespace rankbox
