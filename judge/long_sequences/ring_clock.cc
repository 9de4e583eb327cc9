#include "judge/long_sequences/ring_clock.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "judge/checks.h"

namespace rankbox {

namespace {

bool is_same(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(a, b); }

std::string in_us(double seconds) { return fmt::format("{:.4g} µs", seconds * 1e6); }

struct Traffic {
  std::int64_t messages = 0;
  std::int64_t bytes = 0;

  std::string in_words() const {
    return fmt::format("{} messages of {} bytes together", messages, bytes);
  }
  bool operator==(const Traffic&) const = default;
};

Traffic sent_by(const RingClock& clock, int rank) {
  Traffic sum;
  for (int step = 0; step < clock.steps; ++step) {
    for (const std::int64_t bytes : clock.messages(rank, step))
      sum = {sum.messages + 1, sum.bytes + bytes};
  }
  return sum;
}

/// Returns the longest chain: the largest messages of each step, one after the other.
Traffic chain_of(const RingClock& clock) {
  Traffic sum;
  for (int step = 0; step < clock.steps; ++step) {
    std::vector<std::int64_t> largest = clock.messages(0, step);
    for (int rank = 1; rank < clock.world_size; ++rank) {
      const std::vector<std::int64_t> bytes = clock.messages(rank, step);
      for (std::size_t i = 0; i < bytes.size(); ++i) largest[i] = std::max(largest[i], bytes[i]);
    }
    for (const std::int64_t bytes : largest) sum = {sum.messages + 1, sum.bytes + bytes};
  }
  return sum;
}

/// Compares what each rank sends, and the longest chain of messages.
std::optional<Difference> compare_traffic(const RunReport& report, const RingClock& clock) {
  const int p = clock.world_size;
  for (int rank = 0; rank < p; ++rank) {
    Traffic actual;
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
      actual = {actual.messages + 1, actual.bytes + event.bytes};
    }
    const Traffic promised = sent_by(clock, rank);
    if (actual == promised) continue;
    return Difference{"sent",
                      -1,
                      promised.in_words(),
                      actual.in_words(),
                      {"a-block-each-step",
                       "a step sends its block on, keys and values together, an empty one, too; a "
                       "block that no rank needs any more does not travel"},
                      rank};
  }
  const Traffic chain = chain_of(clock);
  if (report.cost.steps == static_cast<double>(chain.messages) &&
      report.cost.bytes <= static_cast<double>(chain.bytes)) {
    return std::nullopt;
  }
  return Difference{
      "messages one after the other",
      -1,
      chain.in_words(),
      fmt::format("{:g} messages of {:.10g} bytes together", report.cost.steps, report.cost.bytes),
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

/// Where blocks differ, the order of a step's messages counts.
bool has_equal_blocks(const RingClock& clock) {
  for (int step = 0; step < clock.steps; ++step) {
    for (int rank = 1; rank < clock.world_size; ++rank) {
      if (clock.messages(rank, step) != clock.messages(0, step)) return false;
    }
  }
  return true;
}

std::optional<Difference> compare_time(const RunReport& report, const RingClock& clock) {
  if (!has_equal_blocks(clock)) return std::nullopt;
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
  for (int step = 0; step < steps; ++step) {
    std::vector<double> computed = now;
    for (std::size_t r = 0; r < p; ++r) computed[r] += seconds(static_cast<int>(r), step);
    // Ports send one message after the other, and receive likewise.
    std::vector<double> sends = overlaps ? now : computed, receives = sends;
    for (std::size_t i = 0; i < messages(0, step).size(); ++i) {
      for (std::size_t r = 0; r < p; ++r) {
        double& received = receives[(r + 1) % p];
        sends[r] = std::max(sends[r], received) + link.alpha +
                   link.beta * static_cast<double>(messages(static_cast<int>(r), step)[i]);
        received = sends[r];
      }
    }
    for (std::size_t r = 0; r < p; ++r) now[r] = std::max({computed[r], sends[r], receives[r]});
  }
  return *std::max_element(now.begin(), now.end());
}

double RingClock::work(int rank) const {
  double sum = 0;
  for (int step = 0; step < steps; ++step) sum += seconds(rank, step);
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
    const double work = clock.work(0), seconds = seconds_of(example);
    const double exposed = is_same(seconds, work) ? 0 : seconds - work;
    return fmt::format("exposed communication: {} beside {} of attention; without overlap {} ({})",
                       in_us(exposed), in_us(work), in_us(clock.time(false) - work),
                       to_string(example));
  };
}

}  // namespace rankbox
