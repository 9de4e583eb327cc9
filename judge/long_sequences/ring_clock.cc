#include "judge/long_sequences/ring_clock.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "judge/checks.h"

namespace rankbox {

namespace {

bool is_same(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(a, b); }

std::string in_us(double seconds) { return fmt::format("{:.4g} µs", seconds * 1e6); }

/// Compares what each rank sends, and the longest chain of messages.
std::optional<Difference> compare_traffic(const RunReport& report, const RingClock& clock) {
  const int p = clock.world_size;
  for (int rank = 0; rank < p; ++rank) {
    std::int64_t messages = 0, bytes = 0;
    for (const Event& event : report.trace.ranks[static_cast<std::size_t>(rank)]) {
      if (event.kind != EventKind::kSend) continue;
      if (event.peer != (rank + 1) % p) {
        return Difference{
            "block sent to",
            -1,
            fmt::format("rank {}", (rank + 1) % p),
            fmt::format("rank {}", event.peer),
            {"to-the-next", "blocks go to the next rank, and come from the one before"},
            rank,
            FailureKind::kCost,
            nullptr,
            &event};
      }
      ++messages;
      bytes += event.bytes;
    }
    const std::int64_t promised = clock.bytes_sent(rank);
    if (messages == p - 1 && bytes == promised) continue;
    return Difference{
        "sent",
        -1,
        fmt::format("{} messages of {} bytes together", p - 1, promised),
        fmt::format("{} messages of {} bytes together", messages, bytes),
        {"a-block-each-step",
         "each step but the last sends one block on, keys and values together, an empty one, too; "
         "in the last nothing needs to travel"},
        rank};
  }
  if (report.cost.steps == p - 1 &&
      report.cost.bytes == static_cast<double>(clock.bytes_of_largest())) {
    return std::nullopt;
  }
  return Difference{"messages one after the other",
                    -1,
                    fmt::format("{} steps and {} bytes", p - 1, clock.bytes_of_largest()),
                    fmt::format("{:g} steps and {:g} bytes", report.cost.steps, report.cost.bytes),
                    {"ranks-send-at-once", "all ranks send at the same time, to their next"},
                    0};
}

std::optional<Difference> compare_work(const RunReport& report, const RingClock& clock) {
  for (int rank = 0; rank < clock.world_size; ++rank) {
    double seconds = 0;
    for (const Event& event : report.trace.ranks[static_cast<std::size_t>(rank)])
      seconds += event.kind == EventKind::kCompute ? event.seconds : 0;
    if (is_same(seconds, clock.work(rank))) continue;
    return Difference{"time in attend_block",
                      -1,
                      in_us(clock.work(rank)),
                      in_us(seconds),
                      {"each-pair-once",
                       "each query meets each key that it attends to once, in attend_block, which "
                       "spends the time of all pairs that it is given"},
                      rank};
  }
  return std::nullopt;
}

std::optional<Difference> compare_time(const RunReport& report, const RingClock& clock) {
  const double best = clock.time(), actual = report.virtual_seconds;
  if (actual <= best || is_same(actual, best)) return std::nullopt;
  const bool none = is_same(actual, clock.time(false));
  return Difference{
      "virtual time",
      -1,
      in_us(best),
      in_us(actual),
      none
          ? Hint("nothing-overlaps",
                 "nothing is hidden: start isend and irecv of a block before attend_block works on "
                 "it, and wait for them after")
          : Hint("start-before-computing",
                 "both messages of a step start before its block is computed, and are waited for "
                 "after"),
      0};
}

}  // namespace

double RingClock::time(bool overlaps) const {
  const auto p = static_cast<std::size_t>(world_size);
  const Cluster cluster = cluster_of_ring();
  const Link& link = cluster.link(true);
  std::vector<double> now(p, 0.0);
  for (int step = 0; step < world_size; ++step) {
    std::vector<double> computed = now;
    for (std::size_t r = 0; r < p; ++r) computed[r] += seconds(static_cast<int>(r), step);
    const std::vector<double>& ready = overlaps ? now : computed;
    std::vector<double> end = computed;
    for (std::size_t r = 0; r < p && step + 1 < world_size; ++r) {
      const std::size_t next = (r + 1) % p;
      const double sent = std::max(ready[r], ready[next]) + link.alpha +
                          link.beta * static_cast<double>(bytes(static_cast<int>(r), step));
      end[r] = std::max(end[r], sent);
      end[next] = std::max(end[next], sent);
    }
    now = end;
  }
  return *std::max_element(now.begin(), now.end());
}

double RingClock::work(int rank) const {
  double sum = 0;
  for (int step = 0; step < world_size; ++step) sum += seconds(rank, step);
  return sum;
}

std::int64_t RingClock::bytes_sent(int rank) const {
  std::int64_t sum = 0;
  for (int step = 0; step + 1 < world_size; ++step) sum += bytes(rank, step);
  return sum;
}

std::int64_t RingClock::bytes_of_largest() const {
  std::int64_t sum = 0;
  for (int step = 0; step + 1 < world_size; ++step) {
    std::int64_t largest = 0;
    for (int rank = 0; rank < world_size; ++rank) largest = std::max(largest, bytes(rank, step));
    sum += largest;
  }
  return sum;
}

Cluster cluster_of_ring() {
  Cluster cluster;
  cluster.gamma = 0;
  return cluster;
}

std::vector<RunCheck> checks_of_ring(ClockOf clock_of) {
  const auto check = [=](auto compare) {
    return check_of(FailureKind::kCost, [=](const RunReport& report, const Case& example) {
      return compare(report, clock_of(example));
    });
  };
  return {check(compare_traffic), check(compare_work), check(compare_time)};
}

std::function<std::string(const std::function<double(const Case&)>& seconds_of)> remark_on_ring(
    ClockOf clock_of, const Case& example) {
  return [=](const std::function<double(const Case&)>& seconds_of) {
    const RingClock clock = clock_of(example);
    const double seconds = seconds_of(example), work = clock.work(0);
    return fmt::format("exposed communication: {} beside {} of attention; without overlap {} ({})",
                       in_us(seconds - work), in_us(work), in_us(clock.time(false) - work),
                       to_string(example));
  };
}

}  // namespace rankbox
