#include "judge/case_choice.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>

#include "comm/run_ranks.h"
#include "judge/judge.h"

namespace rankbox {
namespace {

// Outside the sandbox, ranks may share a few GPUs or cores, so larger worlds only take longer.
constexpr int kMostRanksOffSandbox = 8;

constexpr std::int64_t kMostElementsOfSeveralCalls = 1000;

}  // namespace

bool is_judged(const Case& example) {
  if (!judges_only_values()) return true;
  const int processes = launch().processes;
  return processes > 0 ? example.world_size == std::min(processes, kMostRanksOffSandbox)
                       : example.world_size <= kMostRanksOffSandbox;
}

std::vector<Case> cases_to_replay(const Subject& subject) {
  std::vector<Case> cases = subject.cases();
  if (subject.far_cases) std::ranges::copy(subject.far_cases(), std::back_inserter(cases));
  cases.insert(cases.end(), subject.large_cases.begin(), subject.large_cases.end());
  return cases;
}

std::vector<Case> cases_of(const Subject& subject, const std::string& replay) {
  std::vector<Case> cases = subject.cases();
  if (!replay.empty()) return {replayed_case(replay, cases_to_replay(subject))};
  std::erase_if(cases, [](const Case& example) { return !is_judged(example); });
  return cases;
}

std::vector<Case> far_cases_of(const Subject& subject, const std::string& replay) {
  if (!replay.empty() || !subject.far_cases) return {};
  std::vector<Case> cases = subject.far_cases();
  std::erase_if(cases, [](const Case& example) { return !is_judged(example); });
  return cases;
}

std::vector<Case> some_of_world(const std::vector<Case>& cases, int world_size) {
  std::vector<Case> some;
  for (const Case& example : cases) {
    const bool fits = example.world_size == world_size && example.count.value_or(1) > 0 &&
                      example.count.value_or(1) <= kMostElementsOfSeveralCalls &&
                      example.steps.value_or(0) <= 1;
    if (!fits || (!some.empty() && example.nodes != some.front().nodes)) continue;
    if (some.size() == 2) some.pop_back();
    some.push_back(example);
  }
  if (!some.empty()) some.push_back(some.front());
  return some;
}

bool is_smallest(const std::vector<Case>& cases, std::size_t i) {
  const auto has_elements = [](const Case& example) { return example.count.value_or(1) > 0; };
  const auto before = std::span(cases).first(i);
  const auto same_world = [&](const Case& other) {
    return other.world_size == cases[i].world_size;
  };
  if (std::ranges::none_of(before, same_world)) return true;
  return has_elements(cases[i]) && std::ranges::none_of(before, [&](const Case& other) {
           return same_world(other) && has_elements(other);
         });
}

}  // namespace rankbox
