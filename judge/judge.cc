#include "judge/judge.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "comm/run_ranks.h"
#include "judge/case_choice.h"
#include "judge/checks.h"
#include "judge/failure_of.h"
#include "judge/pattern.h"
#include "judge/run_case.h"
#include "sim/clock/lines_met.h"
#include "sim/clock/stream_order.h"

namespace rankbox {

namespace {

// Of the runs with several calls.
constexpr int kWorldsOfSeveralCalls[] = {1, 2, 5, 8};
/// The checks of reports of runs with correct values, in order of precedence.
constexpr FailureKind kReportChecks[] = {FailureKind::kMessages, FailureKind::kMemory,
                                         FailureKind::kCost};

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
  Judgement(std::string name, const Subject& subject, const JudgeOptions& options)
      : subject_(subject),
        options_(options),
        cases_(cases_of(subject, options.replay)),
        far_cases_(far_cases_of(subject, options.replay)),
        checks_(subject.checks),
        verdict_(undecided(std::move(name))) {
    if (subject.cost) checks_.push_back(cost_check(subject));
    if (subject.limits_memory)
      verdict_.checks.push_back({kMemoryCheck, CheckStatus::kSkipped, {}, {}, {}});
  }

  Verdict run() && {
    if (!run_all()) return std::move(verdict_);
    pass("values", cases_in_words());
    if (!subject_.sends_messages || judges_only_values()) {
      // Without messages, a comparison of values measures memory, too.
      if (!judges_only_values()) pass(kMemoryCheck, promise_of(FailureKind::kMemory));
      run_some_again();
      return std::move(verdict_);
    }
    for (const FailureKind kind : kReportChecks) {
      if (!failures_.contains(kind)) pass(check_named_after(kind), promise_of(kind));
    }
    if (run_some_otherwise())
      pass("safety", "the same with buffered sends, without, and with random delays");
    for (const FailureKind kind : kReportChecks) {
      if (failures_.contains(kind)) fail(std::move(failures_.at(kind).failure));
    }
    const bool passes = verdict_.passed() && run_some_again();
    if (passes && options_.replay.empty() && subject_.remark) add_remark();
    return std::move(verdict_);
  }

 private:
  /// Returns the check "values" if there is none of that name, as when memory runs out in an
  /// exercise without a memory check.
  Check& check(std::string_view name) {
    const auto found = std::find_if(verdict_.checks.begin(), verdict_.checks.end(),
                                    [&](const Check& candidate) { return candidate.name == name; });
    return found == verdict_.checks.end() ? verdict_.checks.front() : *found;
  }

  std::string replay_line(const Case& example) const {
    return options_.command + " --replay " + to_string(example);
  }

  RunOptions options_of_runs() const {
    return {.order = options_.order,
            .cluster = subject_.cluster,
            .executor = options_.executor,
            .fiber_threads = options_.fiber_threads};
  }

  CaseRun start(const Case& example, Buffering buffering, std::uint64_t seed = 0) const {
    if (options_.starting) options_.starting(replay_line(example));
    return run_once(example, buffering, seed);
  }

  CaseRun run_once(const Case& example, Buffering buffering, std::uint64_t seed = 0) const {
    RunOptions how = options_of_runs();
    how.buffering = buffering;
    how.seed = seed;
    return run_case(subject_, example, how, options_.hooks);
  }

  /// A deadlock that buffers would cure is called so.
  CaseRun run_rendezvous(const Case& example) const {
    CaseRun result = start(example, Buffering::rendezvous());
    const bool hangs = options_.order == MessageOrder::kAny && result.failure &&
                       result.failure->kind == FailureKind::kDeadlock;
    if (hangs && !run_once(example, Buffering::unbounded()).failure) {
      Failure& failure = *result.failure;
      failure.hint = {"needs-buffers", "works only when sends are buffered: hangs on NCCL"};
      failure.message = failure.hint.text + ". " + failure.message;
    }
    return result;
  }

  // Runs every case in rendezvous mode. Returns false if a run fails or a value is wrong. Otherwise
  // failures_ holds the failures that reports revealed.
  bool run_all() {
    std::optional<Failure> barrier;
    const std::size_t all = cases_.size() + far_cases_.size();
    for (std::size_t i = 0; i < all; ++i) {
      const bool is_far = i >= cases_.size();
      const Case& example = is_far ? far_cases_[i - cases_.size()] : cases_[i];
      CaseRun result = run_rendezvous(example);
      if (!result.failure) {
        check_report(result.report, example);
        if (!is_far) last_cost_ = cost_in_words(result.report, example);
        continue;
      }
      result.failure->replay = replay_line(example);
      say_where_lines_met(result);
      Failure failure = better_explained(std::move(*result.failure), example);
      if (is_needless_barrier(failure)) {
        if (!barrier) barrier = std::move(failure);  // another case may have wrong values
        continue;
      }
      fail(std::move(failure));
      explain();
      return false;
    }
    if (!barrier) return true;
    fail(*std::move(barrier));
    return false;
  }

  /// Says what the cases that fail have in common. If the failing one has one rank, shows the first
  /// with more that fails likewise: that is where a rank waits for another.
  void explain() {
    if (!options_.explains || judges_only_values() || !options_.replay.empty()) return;
    if (verdict_.status != Status::kFail) return;
    if (options_.failing) options_.failing(verdict_);
    std::vector<CaseOutcome> outcomes;
    std::optional<Failure> with_more;
    // Wrong values are simplest on one rank.
    const bool has_one_rank = verdict_.failure->kind != FailureKind::kValues &&
                              verdict_.failure->replay.find("world_size=1,") != std::string::npos;
    for (const Case& example : telling_cases(cases_)) {
      CaseRun result = run_once(example, Buffering::rendezvous());
      outcomes.push_back({example, result.failure.has_value()});
      const bool is_likewise = has_one_rank && !with_more && example.world_size > 1 &&
                               example.count.value_or(1) > 0 && result.failure &&
                               result.failure->line != 0 &&
                               result.failure->kind == verdict_.failure->kind;
      if (!is_likewise) continue;
      with_more = run_rendezvous(example).failure;
      if (with_more) with_more->replay = replay_line(example);
    }
    if (with_more) show_instead(*std::move(with_more));
    const std::string pattern = pattern_of(outcomes);
    if (pattern.empty()) return;
    verdict_.failure->message += "\n" + pattern;
    check(check_named_after(verdict_.failure->kind)).detail = verdict_.failure->message;
  }

  void show_instead(Failure failure) {
    verdict_.failure.reset();
    fail(std::move(failure));
  }

  /// Wrong values may come of collectives that crossed.
  static void say_where_lines_met(CaseRun& result) {
    Failure& failure = *result.failure;
    if (failure.kind != FailureKind::kValues) return;
    if (const auto met = lines_met(result.report.trace)) failure.message += "\n" + *met;
  }

  static bool is_needless_barrier(const Failure& failure) {
    using enum CollectiveKind;
    return failure.kind == FailureKind::kSafety &&
           (failure.op == name_of(kBarrier) || failure.op == name_of(kSplit));
  }

  // Runs some cases one after the other in one world: small, large, small. A program that keeps
  // something of its first call fails then. Returns false if it does.
  bool run_some_again() {
    if (judges_only_values() || !options_.replay.empty()) return true;
    for (const int world_size : kWorldsOfSeveralCalls) {
      const std::vector<Case> some = some_of_world(cases_, world_size);
      if (some.empty()) continue;
      if (options_.starting) options_.starting(options_.command);  // no case alone shows it
      CaseRun result = run_cases(subject_, some, options_of_runs(), options_.hooks);
      if (!result.failure) continue;
      result.failure->hint = {"kept-between-calls", "is something kept between calls?"};
      result.failure->message = fmt::format(
          "right in each of the calls alone, and wrong when all ranks call it {} times ({}): {}",
          some.size(), result.failure->hint.text, result.failure->message);
      result.failure->replay = options_.command;
      fail(std::move(*result.failure));
      return false;
    }
    return true;
  }

  /// Without elements, a message has no bytes and no values. Returns the same kind of failure of
  /// the next case that has some, if it fails so.
  Failure better_explained(Failure failure, const Case& example) {
    if (example.count.value_or(1) > 0) return failure;
    const auto larger = std::ranges::find_if(cases_, [&](Case other) {
      const bool has_elements = other.count.value_or(0) > 0;
      other.count = example.count;
      return has_elements && to_string(other) == to_string(example);
    });
    if (larger == cases_.end()) return failure;
    CaseRun result = run_rendezvous(*larger);
    if (!result.failure || result.failure->kind != failure.kind) return failure;
    result.failure->replay = replay_line(*larger);
    return std::move(*result.failure);
  }

  void check_report(const RunReport& report, const Case& example) {
    if (judges_only_values()) return;
    const bool is_known = options_.order == MessageOrder::kStream;  // such a run fails
    if (!is_known && verdict_.warnings.empty()) warn_of_streams(report.trace, example);
    for (const FailureKind kind : kReportChecks) {
      // Shows the smallest failing case. A cost is not informative where chunks are empty.
      const bool is_telling = kind != FailureKind::kCost ||
                              (example.world_size >= 4 && example.count.value_or(INT64_MAX) >= 4);
      const auto found = failures_.find(kind);
      if (found != failures_.end() && (found->second.is_telling || !is_telling)) continue;
      std::optional<Failure> failure = first_failure(checks_, kind, report, example);
      if (!failure) continue;
      failure->replay = replay_line(example);
      failures_[kind] = {std::move(*failure), is_telling};
    }
  }

  std::string cost_in_words(const RunReport& report, const Case& example) const {
    const CostUnit unit = unit_of(subject_, example);
    return fmt::format("{} ({})", in_words(report.cost, unit), in_words(example, unit));
  }

  void warn_of_streams(const Trace& trace, const Case& example) {
    const std::optional<StreamHang> hang = find_stream_hang(trace);
    if (!hang) return;
    verdict_.warnings.push_back(fmt::format("{}\n{} --order stream shows it ({})", in_words(*hang),
                                            options_.command, to_string(example)));
  }

  std::string promise_of(FailureKind kind) const {
    if (kind == FailureKind::kMemory) {
      const bool counts_new = !subject_.large_cases.empty();  // which the kernel judges
      return std::string("no rank held more than the contract allows") +
             (counts_new ? ", of what new and tensors take; --sealed counts the rest, too" : "");
    }
    if (kind == FailureKind::kCost) return "as promised; " + last_cost_;
    std::string promise = "all received as they were sent";
    for (const RunCheck& each : checks_) {
      if (each.kind == kind && !each.promise.empty()) promise += "; " + each.promise;
    }
    return promise;
  }

  void add_remark() {
    check("cost").detail += "\n" + subject_.remark([this](const Case& example) {
      return start(example, Buffering::rendezvous()).report.virtual_seconds;
    });
  }

  // Reruns the smallest cases of every world size with unbounded buffers and with random delays.
  // Also reruns one in four of the others, alternating between the two. Returns false if one fails.
  bool run_some_otherwise() {
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      const bool both = is_smallest(cases_, i);
      for (const bool buffered : {true, false}) {
        if (!both && (i % 4 != 3 || buffered != (i % 8 < 4))) continue;
        CaseRun result = buffered ? start(cases_[i], Buffering::unbounded())
                                  : start(cases_[i], Buffering::rendezvous(), i + 1);
        if (!result.failure) continue;
        Failure& failure = *result.failure;
        // The sandbox's copies of buffered sends count as the rank's memory.
        if (buffered && failure.kind == FailureKind::kMemory) continue;
        failure.message = fmt::format(
            "{}, and only then{} {}",
            buffered ? "fails when sends are buffered" : "fails under random delays",
            has_irecv(result.report.trace) ? ": is a buffer used before its irecv is done?" : ":",
            failure.message);
        failure.kind = FailureKind::kSafety;
        failure.replay = replay_line(cases_[i]);
        fail(std::move(failure));
        return false;
      }
    }
    return true;
  }

  /// The first failure is the verdict's.
  void fail(Failure failure) {
    Check& failing = check(check_named_after(failure.kind));
    failing.expected = failure.expected;
    failing.actual = failure.actual;
    if (failure.kind == FailureKind::kNotImplemented) {
      verdict_.status = Status::kNotImplemented;
    } else {
      verdict_.status = Status::kFail;
      failing.status = CheckStatus::kFail;
      failing.detail = failure.message;
    }
    if (verdict_.failure) {
      verdict_.others.push_back(std::move(failure));
    } else {
      verdict_.failure = std::move(failure);
    }
  }

  void pass(std::string_view name, std::string detail) {
    if (name == kMemoryCheck && !subject_.limits_memory) return;
    check(name).status = CheckStatus::kPass;
    check(name).detail = std::move(detail);
  }

  std::string cases_in_words() const {
    if (cases_.empty()) return "no cases";
    if (cases_.size() == 1) return "1 case: " + to_string(cases_.front());
    const std::string far =
        far_cases_.empty() ? "" : fmt::format("; and {} far larger", far_cases_.size());
    return fmt::format("{} cases, from {} to {}{}", cases_.size(), to_string(cases_.front()),
                       to_string(cases_.back()), far);
  }

  /// The failures that report checks revealed.
  struct Found {
    Failure failure;
    bool is_telling = true;
  };

  const Subject& subject_;
  const JudgeOptions& options_;
  std::vector<Case> cases_;
  std::vector<Case> far_cases_;
  std::vector<RunCheck> checks_;
  Verdict verdict_;
  std::map<FailureKind, Found> failures_;
  std::string last_cost_;
};

}  // namespace

// The BUILD file sets it to 0 for backends without a trace.
#ifndef RANKBOX_KEEPS_TRACES
#define RANKBOX_KEEPS_TRACES 1
#endif
bool judges_only_values() { return RANKBOX_KEEPS_TRACES == 0; }

Verdict judge(const std::string& name, const Subject& subject, const JudgeOptions& options) {
  return Judgement(name, subject, options).run();
}

}  // namespace rankbox
