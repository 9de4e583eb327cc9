// The cost of native collectives: that of the best known algorithm, and never less.
#include "replay/native_cost.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "collectives/cost.h"
#include "collectives/cost_gather.h"
#include "collectives/cost_ranks.h"
#include "comm/run_ranks.h"

namespace rankbox::testing {
namespace {

using cost::native_cost;

// Divisible by 1 to 17, so that every chunk has the same size; and a machine for each regime.
constexpr std::int64_t kElements = 12252240;
constexpr std::int64_t kBytes = 4;
constexpr double kN = static_cast<double>(kElements * kBytes);

struct Machine {
  Link link;
  double gamma;
};
const Machine kMachines[] = {{{1, 0}, 0}, {{0, 1e-9}, 0}, {{0, 0}, 1e-9}, {{1e-2, 1e-9}, 1e-10}};

double price(const Machine& machine, const Cost& cost) {
  return cost.steps * machine.link.alpha + cost.bytes * machine.link.beta +
         cost.reduced * machine.gamma;
}

double native(const Machine& machine, CollectiveKind kind, int p, double bytes) {
  return price(machine, native_cost(kind, p, bytes, machine.link, machine.gamma));
}

double cheapest(const Machine& machine, const std::vector<Cost>& costs) {
  double best = price(machine, costs.front());
  for (const Cost& cost : costs) best = std::min(best, price(machine, cost));
  return best;
}

TEST_CASE("all_reduce costs what the best of butterfly, Rabenseifner and ring does") {
  for (const Machine& machine : kMachines) {
    for (int p = 1; p <= 17; ++p) {
      CAPTURE(p);
      const double best = cheapest(machine, {cost::allreduce_butterfly(p, kElements, kBytes),
                                             cost::allreduce_rabenseifner(p, kElements, kBytes),
                                             cost::allreduce_ring(p, kElements, kBytes)});
      CHECK(native(machine, CollectiveKind::kAllReduce, p, kN) == doctest::Approx(best));
    }
  }
}

TEST_CASE("no native collective costs more than a topology of the course, nor less than possible") {
  for (const Machine& machine : kMachines) {
    for (int p = 2; p <= 17; ++p) {
      CAPTURE(p);
      const std::int64_t piece = kElements / p;
      struct Row {
        CollectiveKind kind;
        double bytes;
        std::vector<Cost> known;
        Cost bound;  // no algorithm needs less of any of the three
      };
      const double share = (p - 1) / static_cast<double>(p);
      const double rounds = cost::barrier_dissemination(p).steps;
      const Row rows[] = {
          {CollectiveKind::kBarrier, 0, {cost::barrier_dissemination(p)}, {rounds, 0, 0}},
          {CollectiveKind::kBroadcast,
           kN,
           {cost::broadcast_tree(p, kElements, kBytes),
            cost::broadcast_scatter_allgather(p, kElements, kBytes)},
           {rounds, kN, 0}},
          {CollectiveKind::kReduce,
           kN,
           {cost::reduce_tree(p, kElements, kBytes),
            cost::reduce_scatter_gather(p, kElements, kBytes)},
           {rounds, kN, share * kN}},
          {CollectiveKind::kGather,
           kN / p,
           {cost::gather_tree(p, piece, kBytes)},
           {rounds, share * kN, 0}},
          {CollectiveKind::kAllGather,
           kN / p,
           {cost::allgather_ring(p, piece, kBytes), cost::allgather_bruck(p, piece, kBytes)},
           {rounds, share * kN, 0}},
          {CollectiveKind::kScatter,
           kN / p,
           {cost::scatter_tree(p, piece, kBytes)},
           {rounds, share * kN, 0}},
          {CollectiveKind::kReduceScatter,
           kN,
           {cost::reduce_scatter_ring(p, kElements, kBytes)},
           {rounds, share * kN, share * kN}},
          {CollectiveKind::kAllToAll,
           kN,
           {cost::alltoall_pairwise(p, kElements, kBytes)},
           {rounds, share * kN, 0}},
      };
      for (const Row& row : rows) {
        CAPTURE(name_of(row.kind));
        const double slack = 1e-9 * price(machine, row.known.front());
        const double cost = native(machine, row.kind, p, row.bytes);
        CHECK(cost <= cheapest(machine, row.known) + slack);
        CHECK(cost >= price(machine, row.bound) - slack);
      }
    }
  }
}

TEST_CASE("alone, nothing costs anything") {
  for (const CollectiveKind kind :
       {CollectiveKind::kBarrier, CollectiveKind::kBroadcast, CollectiveKind::kAllToAll}) {
    CHECK(native_cost(kind, 1, 1024, {1, 1}, 1) == Cost{});
  }
}

TEST_CASE("seconds on a cluster are what the clock says, on one node and on several") {
  for (const int ranks_per_node : {0, 2}) {
    const Cluster cluster = {"test", {1e-6, 1e-9}, {5e-6, 3e-9}, 1e-10, ranks_per_node};
    for (const int p : {2, 4, 8}) {
      const std::int64_t elements = 8000;
      const RunReport report = run_world(
          {.world_size = p, .nodes = cluster.nodes_for(p), .cluster = cluster}, [&](Comm& dist) {
            Tensor tensor = zeros({elements});
            dist.broadcast(tensor, 0);
          });
      CAPTURE(ranks_per_node);
      CAPTURE(p);
      CHECK(cost::native_seconds(CollectiveKind::kBroadcast, p, 4.0 * elements, cluster) ==
            doctest::Approx(report.virtual_seconds));
    }
  }
}

TEST_CASE("a library that was measured takes its fastest mode, whatever the links would cost") {
  Cluster cluster;
  cluster.native = {{1e-6, 1e-9}, {20e-6, 1e-11}};
  for (const std::int64_t elements : {1, 1000, 1000000}) {
    RunReport report;
    run_world(
        {.world_size = 4, .cluster = cluster},
        [&](Comm& dist) {
          Tensor tensor = zeros({elements});
          dist.all_reduce(tensor, ReduceOp::SUM);
        },
        &report);
    const double wire = 1.5 * 4.0 * static_cast<double>(elements);
    const double expected = std::min(2 * 1e-6 + wire * 1e-9, 2 * 20e-6 + wire * 1e-11);
    CAPTURE(elements);
    CHECK(report.virtual_seconds == doctest::Approx(expected));
    const auto bytes = static_cast<double>(4 * elements);
    CHECK(cost::native_seconds(CollectiveKind::kAllReduce, 4, bytes, cluster) ==
          doctest::Approx(expected));
    CHECK(report.cost.steps > 0);  // of the best algorithm, as always
  }
}

}  // namespace
}  // namespace rankbox::testing
