// The price of messages that start as one group.
#include "sim/clock/call_groups.h"

#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/sim/observe.h"
#include "tests/sim/round_cluster.h"

namespace rankbox::testing {
namespace {

TEST_CASE("neighbours of one wait_all are a group, unless the rank blocks between them") {
  const auto report = report_of(world_of(2), [](Comm& dist) {
    std::vector<Tensor> t(6, zeros(1));
    const int other = 1 - dist.rank();
    std::vector<Comm::Request> r;
    for (std::size_t i = 0; i < 3; ++i)
      r.push_back(dist.rank() == 0 ? dist.isend(t[i], other) : dist.irecv(t[i], other));
    dist.wait_all({r[0], r[1]});
    r.push_back(dist.rank() == 0 ? dist.isend(t[3], other) : dist.irecv(t[3], other));
    dist.barrier();
    r.push_back(dist.rank() == 0 ? dist.isend(t[4], other) : dist.irecv(t[4], other));
    dist.wait_all({r[3], r[2], r[4]});
  });
  const std::vector<Event>& events = report.trace.ranks[0];
  const std::vector<std::uint32_t> groups = call_groups(events);
  std::vector<std::uint32_t> of_sends;
  for (std::size_t i = 0; i < events.size(); ++i)
    if (groups[i] != 0) of_sends.push_back(groups[i]);
  REQUIRE(of_sends.size() == 5);
  CHECK(of_sends[0] == of_sends[1]);
  for (std::size_t i = 2; i < 5; ++i) CHECK(of_sends[i] != of_sends[i - 1]);
}

TEST_CASE("messages that start as one group pay the start of a call once") {
  RunOptions options = world_of(3);
  options.cluster.call = 3 * kAlpha / 4;
  const struct {
    bool grouped;
    double alphas;
  } table[] = {{true, 1 + 1.0 / 4}, {false, 2}};
  for (const auto& row : table) {
    const auto report = report_of(options, [&](Comm& dist) {
      Tensor a = zeros(10), b = zeros(10);
      if (dist.rank() > 0) return dist.recv(a, 0);
      const Comm::Request first = dist.isend(a, 1);
      const Comm::Request second = dist.isend(b, 2);
      if (row.grouped) return dist.wait_all({first, second});
      dist.wait(first);
      dist.wait(second);
    });
    CAPTURE(row.grouped);
    CHECK(report.virtual_seconds == doctest::Approx(row.alphas * kAlpha + 80 * kBeta));
    CHECK(report.cost == Cost{2, 80, 0});  // a message is a step
  }
}

}  // namespace
}  // namespace rankbox::testing
