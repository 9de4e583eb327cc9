#include "judge/checks.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "judge/failure_of.h"

namespace rankbox {

namespace {

/// Returns how far two costs may differ: those of native collectives are sums of fractions, and the
/// order of addition may differ.
double rounding_of(double cost, Natives natives) {
  return natives == Natives::kNone ? 0 : 1e-9 * std::abs(cost);
}

bool is_same(const Cost& a, const Cost& b, Natives natives) {
  const auto near = [=](double x, double y) { return std::abs(x - y) <= rounding_of(x, natives); };
  return near(a.steps, b.steps) && near(a.bytes, b.bytes) && near(a.reduced, b.reduced);
}

/// Every message counts as a step, whatever its size, so the number of steps is exact.
bool is_at_most(const Cost& a, const Cost& b, Natives natives) {
  const auto bounded = [=](double x, double y) { return x <= y + rounding_of(y, natives); };
  return std::abs(a.steps - b.steps) <= rounding_of(a.steps, natives) &&
         bounded(a.bytes, b.bytes) && bounded(a.reduced, b.reduced);
}

}  // namespace

RunCheck check_of(
    FailureKind kind,
    std::function<std::optional<Difference>(const RunReport& report, const Case& example)>
        compare) {
  return {.kind = kind,
          .compare = [kind, compare = std::move(compare)](
                         const RunReport& report, const Case& example) -> std::optional<Failure> {
            std::optional<Difference> difference = compare(report, example);
            if (!difference) return std::nullopt;
            difference->kind = kind;
            return failure_of(*difference, difference->rank, example, report.trace);
          }};
}

RunCheck number_check(std::function<std::int64_t(const Case&)> messages, const Hint& hint,
                      std::function<double(const Case&)> steps) {
  return check_of(FailureKind::kMessages,
                  [messages = std::move(messages), hint, steps = std::move(steps)](
                      const RunReport& report, const Case& example) -> std::optional<Difference> {
                    if (steps && report.cost.steps != steps(example)) return std::nullopt;
                    const std::int64_t expected = messages(example);
                    if (report.messages == expected) return std::nullopt;
                    return Difference{"the number of messages", -1, fmt::format("{}", expected),
                                      fmt::format("{}", report.messages), hint};
                  });
}

RunCheck cost_check(const Subject& subject) {
  return {
      .kind = FailureKind::kCost,
      .compare = [subject](const RunReport& report, const Case& example) -> std::optional<Failure> {
        const Cost expected = subject.cost(example);
        if (is_same(expected, report.cost, subject.natives)) return std::nullopt;
        const bool is_bound = subject.may_cost_less && subject.may_cost_less(example);
        if (is_bound && is_at_most(report.cost, expected, subject.natives)) return std::nullopt;
        return failure_of_cost(expected, example, report, subject);
      }};
}

std::optional<Failure> first_failure(const std::vector<RunCheck>& checks, FailureKind kind,
                                     const RunReport& report, const Case& example) {
  for (const RunCheck& check : checks) {
    if (check.kind != kind || (check.needs_trace && report.trace.ranks.empty())) continue;
    if (auto failure = check.compare(report, example)) return failure;
  }
  return std::nullopt;
}

}  // namespace rankbox
