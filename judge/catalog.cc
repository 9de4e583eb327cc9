#include "judge/catalog.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "comm/errors.h"
#include "judge/families.h"
#include "judge/message_graph.h"
#include "judge/run_case.h"

namespace rankbox {

namespace {

[[noreturn]] void refuse(const Exercise& exercise, const char* field, const std::string& value,
                         const std::string& allowed) {
  throw InvalidArgument(fmt::format("{}: exercise {}: {} = \"{}\", expected {}", registry().source,
                                    exercise.name, field, value, allowed));
}

const Family& family_of(const Exercise& exercise) {
  if (const Family* found = find_family(exercise.family)) return *found;
  std::vector<std::string_view> names;
  for (const Family& each : families()) names.push_back(each.name);
  refuse(exercise, "family", exercise.family, fmt::format("one of {}", fmt::join(names, ", ")));
}

const MessageGraph& graph_of(const Exercise& exercise) {
  if (const MessageGraph* found = find_message_graph(exercise.messages)) return *found;
  std::vector<std::string_view> names;
  for (const MessageGraph& each : message_graphs()) names.emplace_back(each.name);
  refuse(exercise, "messages", exercise.messages, fmt::format("one of {}", fmt::join(names, ", ")));
}

void check_cost(const Exercise& exercise) {
  const Family& family = family_of(exercise);
  const auto& costs = family.costs;
  if (is_cost_of_solution(exercise)) return;
  if (costs.empty() && exercise.cost.empty()) return;
  if (costs.empty()) {
    refuse(exercise, "cost", exercise.cost,
           fmt::format("none: the family {} knows it itself", family.name));
  }
  if (std::find(costs.begin(), costs.end(), exercise.cost) != costs.end()) return;
  refuse(exercise, "cost", exercise.cost,
         fmt::format("{}one of {}", family.takes_solution ? "solution or " : "",
                     fmt::join(costs, ", ")));
}

/// Returns the cost of the solution on the sandbox's clock.
Cost cost_of_solution(const Subject& solution, const Case& example) {
  const CaseRun run = run_case(solution, example, {.cluster = solution.cluster});
  if (run.failure) {
    throw Error(fmt::format("the reference solution fails where {}: {}", to_string(example),
                            run.failure->message));
  }
  return run.report.cost;
}

}  // namespace

void check_registry() {
  for (const Exercise& exercise : exercises()) {
    check_cost(exercise);
    graph_of(exercise);
  }
}

const char* parameters_of(const Exercise& exercise) { return family_of(exercise).parameters; }

bool is_cost_of_solution(const Exercise& exercise) {
  return family_of(exercise).takes_solution &&
         (exercise.cost.empty() || exercise.cost == kCostOfSolution);
}

Subject subject_of(const Exercise& exercise, AnyFunction function, AnyFunction solution) {
  check_cost(exercise);
  const Family& family = family_of(exercise);
  Subject subject = family.subject(function, exercise.cost);
  subject.checks.push_back(graph_check(graph_of(exercise)));
  if (!is_cost_of_solution(exercise)) return subject;
  subject.cost = nullptr;
  if (solution != nullptr) {
    subject.cost = [reference = family.subject(solution, exercise.cost)](const Case& example) {
      return cost_of_solution(reference, example);
    };
  }
  return subject;
}

Case first_case_of(const Exercise& exercise) { return subject_of(exercise).cases().front(); }

Case typical_case_of(const Exercise& exercise) {
  const std::vector<Case> cases = subject_of(exercise).cases();
  const auto is_typical = [](const Case& example) {
    return example.world_size == 8 && example.root.value_or(0) == 0 &&
           example.nodes.value_or(2) == 2 && example.steps.value_or(0) == 0;
  };
  const auto found = std::find_if(cases.rbegin(), cases.rend(), is_typical);
  return found == cases.rend() ? cases.back() : *found;
}

std::optional<Case> case_of_replay(const Exercise& exercise, std::string_view line) {
  constexpr std::string_view kOption = " --replay ";
  const std::size_t at = line.find(kOption);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = line.substr(at + kOption.size());
  try {
    return replayed_case(rest.substr(0, rest.find(' ')), cases_to_replay(subject_of(exercise)));
  } catch (const InvalidArgument&) {
    return std::nullopt;
  }
}

bool sends_messages(const Exercise& exercise) { return subject_of(exercise).sends_messages; }

Verdict judge_exercise(const Exercise& exercise, AnyFunction function, const JudgeOptions& options,
                       AnyFunction solution) {
  return judge(exercise.name, subject_of(exercise, function, solution), options);
}

}  // namespace rankbox
