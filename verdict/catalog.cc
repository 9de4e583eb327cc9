#include "verdict/catalog.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "comm/errors.h"
#include "verdict/families.h"
#include "verdict/solution_cost.h"

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
  std::vector<std::string> names;
  for (const NamedMessageGraph& each : message_graphs()) {
    if (exercise.messages == each.name) return *each.graph;
    names.emplace_back(each.name);
  }
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

std::unique_ptr<Subject> subject_of(const Exercise& exercise, AnyFunction function,
                                    AnyFunction solution) {
  check_cost(exercise);
  const Family& family = family_of(exercise);
  std::unique_ptr<Subject> subject = family.subject(function, exercise.cost);
  if (!is_cost_of_solution(exercise)) return subject;
  return with_cost_of(solution == nullptr ? nullptr : family.subject(solution, exercise.cost),
                      std::move(subject));
}

Case first_case_of(const Exercise& exercise) {
  return subject_of(exercise, nullptr)->cases().front();
}

Case typical_case_of(const Exercise& exercise) {
  const std::vector<Case> cases = subject_of(exercise, nullptr)->cases();
  const auto is_typical = [](const Case& example) {
    return example.world_size == 8 && example.root.value_or(0) == 0 &&
           example.nodes.value_or(2) == 2 && example.steps.value_or(0) == 0;
  };
  const auto found = std::find_if(cases.rbegin(), cases.rend(), is_typical);
  return found == cases.rend() ? cases.back() : *found;
}

std::int64_t count_to_show(const Exercise& exercise) {
  return subject_of(exercise, nullptr)->count_to_show();
}

bool sends_messages(const Exercise& exercise) {
  return subject_of(exercise, nullptr)->sends_messages();
}

bool has_cost_form(const Exercise& exercise) {
  const std::unique_ptr<Subject> subject = subject_of(exercise, nullptr);
  return subject->sends_messages() && subject->has_cost_form();
}

std::optional<IdleShare> idle_share_of(const Exercise& exercise, const Case& example) {
  return subject_of(exercise, nullptr)->idle_share(example);
}

Cost cost_of(const Exercise& exercise, const Case& example) {
  return subject_of(exercise, nullptr)->cost(example);
}

void check_replay(const Exercise& exercise, const std::string& text) {
  parse_case(text, first_case_of(exercise));
}

Attempt attempt_exercise(const Exercise& exercise, AnyFunction function, const Case& example,
                         const RunOptions& how, const std::function<void()>& entering) {
  return attempt(*subject_of(exercise, function), example, how, entering);
}

Verdict judge_exercise(const Exercise& exercise, AnyFunction function, const JudgeOptions& options,
                       AnyFunction solution) {
  return judge(exercise.name, *subject_of(exercise, function, solution), options,
               graph_of(exercise));
}

}  // namespace rankbox
