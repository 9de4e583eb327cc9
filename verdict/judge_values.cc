// judge() where ranks are processes or GPUs: the values. Messages, cost and safety are read off the
// trace that the sandbox keeps, and the same source has been judged there.
#include <algorithm>

#include <fmt/format.h>

#include "comm/run_ranks.h"
#include "verdict/attempt.h"
#include "verdict/judge.h"

namespace rankbox {
namespace {

// Of threads that share GPUs: more ranks than that only take longer.
constexpr int kMostRanks = 8;

/// Where processes were launched, the cases of as many ranks; else all that are not too large.
std::vector<Case> cases_for(const Subject& subject, const JudgeOptions& options) {
  std::vector<Case> cases = subject.cases();
  if (!options.replay.empty()) return {parse_case(options.replay, cases.front())};
  const int processes = launch().processes;
  std::erase_if(cases, [&](const Case& example) {
    return processes > 0 ? example.world_size != std::min(processes, kMostRanks)
                         : example.world_size > kMostRanks;
  });
  return cases;
}

}  // namespace

bool judges_only_values() { return true; }

Verdict judge(const std::string& name, const Subject& subject, const JudgeOptions& options,
              const MessageGraph& /*graph*/) {
  Verdict verdict = undecided(name);
  if (subject.limits_memory())
    verdict.checks.push_back({kMemoryCheck, CheckStatus::kSkipped, {}, {}, {}});
  Check& values = verdict.checks.front();
  const std::vector<Case> cases = cases_for(subject, options);
  for (const Case& example : cases) {
    const std::string replay = options.command + " --replay " + to_string(example);
    if (options.starting) options.starting(replay);
    Attempt result = attempt(subject, example, {}, options.entering);
    if (!result.failure) continue;
    values.status = CheckStatus::kFail;
    values.expected = result.expected;
    values.actual = result.actual;
    values.detail = result.failure->message;
    verdict.status = result.failure->kind == FailureKind::kNotImplemented ? Status::kNotImplemented
                                                                          : Status::kFail;
    verdict.failure = std::move(result.failure);
    verdict.failure->replay = replay;
    return verdict;
  }
  values.status = CheckStatus::kPass;
  values.detail = fmt::format("{} cases", cases.size());
  return verdict;
}

}  // namespace rankbox
