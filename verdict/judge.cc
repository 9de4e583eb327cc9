#include "verdict/judge.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comm/errors.h"
#include "verdict/attempt.h"
#include "verdict/failure_of.h"

namespace rankbox {

namespace {

/// The name of the check that a failure of this kind belongs to.
const char* check_of(FailureKind kind) {
  switch (kind) {
    case FailureKind::kMismatch:
    case FailureKind::kUnreceived:
    case FailureKind::kMessages:
      return "messages";
    case FailureKind::kCost:
      return "cost";
    case FailureKind::kDeadlock:
    case FailureKind::kSafety:
      return "safety";
    case FailureKind::kMemory:
      return kMemoryCheck;
    default:
      return "values";
  }
}

/// Exactly; but costs of native collectives are sums of fractions, which may come in another order.
bool is_same(const Cost& a, const Cost& b, bool of_collectives) {
  if (!of_collectives) return a == b;
  const auto near = [](double x, double y) { return std::abs(x - y) <= 1e-9 * std::abs(x); };
  return near(a.steps, b.steps) && near(a.bytes, b.bytes) && near(a.reduced, b.reduced);
}

bool has_irecv(const Trace& trace) {
  for (const std::vector<Event>& events : trace.ranks) {
    for (const Event& event : events) {
      if (event.kind == EventKind::kRecv && event.async) return true;
    }
  }
  return false;
}

class Judgement {
 public:
  Judgement(std::string name, const Subject& subject, const JudgeOptions& options,
            const MessageGraph& graph)
      : subject_(subject), options_(options), graph_(graph), verdict_(undecided(std::move(name))) {
    cases_ = subject.cases();
    if (!options.replay.empty()) cases_ = {parse_case(options.replay, cases_.front())};
    if (subject.limits_memory())
      verdict_.checks.push_back({kMemoryCheck, CheckStatus::kSkipped, {}, {}, {}});
  }

  Verdict run() && {
    if (run_all_rendezvous()) {
      pass("values", cases_in_words());
      if (subject_.sends_messages()) judge_messages();
    }
    return std::move(verdict_);
  }

 private:
  /// The values' if there is none of that name: who runs out of memory where no limit was set.
  Check& check(const std::string& name) {
    const auto found = std::find_if(verdict_.checks.begin(), verdict_.checks.end(),
                                    [&](const Check& candidate) { return candidate.name == name; });
    return found == verdict_.checks.end() ? verdict_.checks.front() : *found;
  }

  Attempt run_once(const Case& example, Buffering buffering, std::uint64_t seed = 0) const {
    return attempt(subject_, example,
                   {.buffering = buffering, .cluster = subject_.cluster(example), .seed = seed},
                   options_.entering);
  }

  std::string replay_line(const Case& example) const {
    return options_.command + " --replay " + to_string(example);
  }

  void start(const Case& example) const {
    if (options_.starting) options_.starting(replay_line(example));
  }

  // Values and messages of every case; the first message that does not belong, the first cost that
  // differs and the first rank that held too much. False: failed.
  bool run_all_rendezvous() {
    for (const Case& example : cases_) {
      start(example);
      Attempt result = run_once(example, Buffering::rendezvous());
      if (result.failure) {
        if (result.failure->kind == FailureKind::kDeadlock) try_buffered(*result.failure, example);
        failed(std::move(result), example);
        return false;
      }
      compare_graph(result.report.trace, example);
      compare_cost(result.report, example);
      compare_memory(result.report, example);
    }
    return true;
  }

  // A hang that buffers cure is the classic one, and deserves to be called by its name.
  void try_buffered(Failure& failure, const Case& example) const {
    if (run_once(example, Buffering::unbounded()).failure) return;
    failure.message = "works only when sends are buffered: hangs on NCCL. " + failure.message;
  }

  // Told only when all values are right: a wrong message is easier to find by what it brought.
  void compare_graph(const Trace& trace, const Case& example) {
    if (graph_failure_) return;
    graph_failure_ = failure_of_graph(graph_, trace, example);
    if (!graph_failure_) return;
    graph_failure_->replay = replay_line(example);
    check("messages").expected = graph_.rule;
    check("messages").actual = graph_failure_->message;
  }

  void compare_cost(const RunReport& report, const Case& example) {
    const Cost expected = subject_.cost(example);
    const std::optional<Difference> schedule = subject_.compare_schedule(report, example);
    const bool is_as_promised = !subject_.has_cost_form() ||
                                is_same(expected, report.cost, subject_.may_call_collectives());
    if (!schedule && is_as_promised) {
      last_cost_ = fmt::format("{}: {}", to_string(example), in_words(report.cost, example));
      return;
    }
    // The smallest case that differs is the one to look at, but where chunks are empty the numbers
    // say little about what was sent.
    const bool telling = example.world_size >= 4 && example.count.value_or(INT64_MAX) >= 4;
    if (cost_failure_ && (cost_case_is_telling_ || !telling)) return;
    cost_case_is_telling_ = telling;
    check("cost").expected = schedule ? schedule->expected : in_words(expected, example);
    check("cost").actual = schedule ? schedule->actual : in_words(report.cost, example);
    if (schedule) {
      cost_failure_ = failure_of(*schedule, schedule->rank, example, report.trace);
      cost_failure_->kind = FailureKind::kCost;
    } else {
      cost_failure_ = failure_of_cost(expected, example, report);
    }
    cost_failure_->replay = replay_line(example);
  }

  void compare_memory(const RunReport& report, const Case& example) {
    if (memory_failure_) return;
    const std::optional<Difference> more = subject_.compare_memory(report, example);
    if (!more) return;
    memory_failure_ = failure_of(*more, more->rank, example, report.trace);
    memory_failure_->kind = FailureKind::kMemory;
    memory_failure_->replay = replay_line(example);
    check(kMemoryCheck).expected = more->expected;
    check(kMemoryCheck).actual = more->actual;
  }

  // All values are right, and what follows changes nothing about that.
  void judge_messages() {
    if (!graph_failure_) {
      const std::string rule = graph_.rule;
      pass("messages", "all received as they were sent" + (rule.empty() ? "" : "; " + rule));
    }
    if (!cost_failure_) pass("cost", "as promised; " + last_cost_);
    if (subject_.limits_memory() && !memory_failure_)
      pass(kMemoryCheck, "no rank ever held more than it may");
    const bool safe = run_some_otherwise();
    if (safe) pass("safety", "the same with buffered sends, without, and with random delays");
    if (graph_failure_) fail(std::move(*graph_failure_), !safe);
    if (memory_failure_) fail(std::move(*memory_failure_), verdict_.failure.has_value());
    if (cost_failure_) fail(std::move(*cost_failure_), verdict_.failure.has_value());
    if (verdict_.passed() && options_.replay.empty()) add_remark();
  }

  void add_remark() {
    const std::string remark = subject_.remark([this](const Case& example) {
      start(example);
      return run_once(example, Buffering::rendezvous()).report.virtual_seconds;
    });
    if (!remark.empty()) check("cost").detail += "\n" + remark;
  }

  // Whether case i is the first of its world size, or the first of it that has elements.
  bool is_smallest(std::size_t i) const {
    const auto has_elements = [](const Case& example) { return example.count.value_or(1) > 0; };
    const auto same_world = [&](std::size_t other) {
      return cases_[other].world_size == cases_[i].world_size;
    };
    if (i == 0 || !same_world(i - 1)) return true;
    if (!has_elements(cases_[i])) return false;
    for (std::size_t before = i; before > 0 && same_world(before - 1); --before) {
      if (has_elements(cases_[before - 1])) return false;
    }
    return true;
  }

  // The smallest cases of every world size, both with unbounded buffers and with random delays; of
  // the others one in four, in turn. False: failed.
  bool run_some_otherwise() {
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      const bool both = is_smallest(i);
      for (const bool buffered : {true, false}) {
        if (!both && (i % 4 != 3 || buffered != (i % 8 < 4))) continue;
        start(cases_[i]);
        Attempt result = buffered ? run_once(cases_[i], Buffering::unbounded())
                                  : run_once(cases_[i], Buffering::rendezvous(), i + 1);
        if (!result.failure) continue;
        const char* cause =
            buffered ? "goes wrong when sends are buffered" : "goes wrong when ranks are late";
        const char* hint =
            has_irecv(result.report.trace) ? ": is a buffer used before its irecv is done?" : ":";
        result.failure->message =
            fmt::format("{}, and only then{} {}", cause, hint, result.failure->message);
        result.failure->kind = FailureKind::kSafety;
        failed(std::move(result), cases_[i]);
        return false;
      }
    }
    return true;
  }

  void failed(Attempt result, const Case& example) {
    result.failure->replay = replay_line(example);
    Check& failing = check(check_of(result.failure->kind));
    failing.expected = std::move(result.expected);
    failing.actual = std::move(result.actual);
    fail(std::move(*result.failure));
  }

  /// @param known_already another failure is told of, so that this one shows among the checks only
  void fail(Failure failure, bool known_already = false) {
    if (failure.kind == FailureKind::kNotImplemented) {
      verdict_.status = Status::kNotImplemented;
    } else {
      verdict_.status = Status::kFail;
      Check& failing = check(check_of(failure.kind));
      failing.status = CheckStatus::kFail;
      failing.detail = failure.message;
    }
    if (!known_already) verdict_.failure = std::move(failure);
  }

  void pass(const char* name, std::string detail) {
    check(name).status = CheckStatus::kPass;
    check(name).detail = std::move(detail);
  }

  std::string cases_in_words() const {
    if (cases_.size() == 1) return "1 case: " + to_string(cases_.front());
    return fmt::format("{} cases, from {} to {}", cases_.size(), to_string(cases_.front()),
                       to_string(cases_.back()));
  }

  const Subject& subject_;
  const JudgeOptions& options_;
  const MessageGraph& graph_;
  std::vector<Case> cases_;
  Verdict verdict_;
  std::optional<Failure> graph_failure_;
  std::optional<Failure> cost_failure_;
  std::optional<Failure> memory_failure_;
  bool cost_case_is_telling_ = false;
  std::string last_cost_;
};

}  // namespace

bool judges_only_values() { return false; }

Verdict judge(const std::string& name, const Subject& subject, const JudgeOptions& options,
              const MessageGraph& graph) {
  return Judgement(name, subject, options, graph).run();
}

}  // namespace rankbox
