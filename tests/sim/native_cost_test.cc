// The cost of native collectives: that of the best known algorithm, and never less.
#include "sim/clock/native_cost.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "collectives/cost.h"
#include "collectives/cost_gather.h"
#include "collectives/cost_ranks.h"
#include "comm/run_ranks.h"
#include "sim/clusters/clusters.h"

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
            cost::broadcast_scatter_allgather(p, kElements, kBytes),
            cost::broadcast_ring_pipelined(
                p, kElements, kBytes, cost::best_segments(p, kElements * kBytes, machine.link))},
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
      const cost::NativeCall call = {CollectiveKind::kBroadcast, p, cluster.nodes_for(p),
                                     4.0 * elements};
      CHECK(cost::native_seconds(call, cluster) == doctest::Approx(report.virtual_seconds));
    }
  }
}

/// Returns the virtual seconds of one call on each rank.
double seconds_of(int p, const Cluster& cluster, void (*call)(Comm& dist)) {
  return run_world({.world_size = p, .nodes = cluster.nodes_for(p), .cluster = cluster}, call)
      .virtual_seconds;
}

using Counts = std::vector<std::int64_t>;

Counts equal_counts(const Comm& dist) {
  return Counts(static_cast<std::size_t>(dist.world_size()), 120);
}

TEST_CASE("pieces of one size cost the same, whether a call names their sizes or not") {
  struct Row {
    const char* name;
    void (*without)(Comm& dist);
    void (*with)(Comm& dist);
  };
  const Row rows[] = {
      {"gather", [](Comm& d) { d.gather(zeros(120), full(120 * d.world_size(), 1.0f), 0); },
       [](Comm& d) {
         d.gather_v(zeros(120), full(120 * d.world_size(), 1.0f), equal_counts(d), 0);
       }},
      {"all_gather", [](Comm& d) { d.all_gather(zeros(120), full(120 * d.world_size(), 1.0f)); },
       [](Comm& d) {
         d.all_gather_v(zeros(120), full(120 * d.world_size(), 1.0f), equal_counts(d));
       }},
      {"scatter", [](Comm& d) { d.scatter(zeros(120 * d.world_size()), full(120, 1.0f), 1); },
       [](Comm& d) {
         d.scatter_v(zeros(120 * d.world_size()), equal_counts(d), full(120, 1.0f), 1);
       }},
      {"all_to_all",
       [](Comm& d) { d.all_to_all(zeros(120 * d.world_size()), full(120 * d.world_size(), 1.0f)); },
       [](Comm& d) {
         d.all_to_all_v(zeros(120 * d.world_size()), equal_counts(d),
                        full(120 * d.world_size(), 1.0f), equal_counts(d));
       }},
  };
  const Cluster clusters[] = {{"one node", {1e-6, 1e-9}, {5e-6, 3e-9}, 1e-10, 0},
                              {"nodes of two", {1e-6, 1e-9}, {5e-6, 3e-9}, 1e-10, 2},
                              cluster_named("h100-ib")};
  for (const Row& row : rows) {
    for (const Cluster& cluster : clusters) {
      for (const int p : {2, 3, 4, 8}) {
        const std::string name = row.name;
        CAPTURE(name);
        CAPTURE(cluster.name);
        CAPTURE(p);
        CHECK(seconds_of(p, cluster, row.with) == seconds_of(p, cluster, row.without));
      }
    }
  }
}

TEST_CASE("pieces of different sizes cost what the busiest rank sends or receives") {
  // Without latency a second is a byte that passes.
  const Cluster wire = {"wire", {0, 1}, {0, 1}, 0, 0};
  for (const int p : {2, 3, 5, 8}) {
    CAPTURE(p);
    const double all = 4 * (p * (p + 1) / 2.0);  // rank r has r + 1 elements
    CHECK(seconds_of(p, wire, [](Comm& d) {
            Counts counts;
            for (int rank = 0; rank < d.world_size(); ++rank) counts.push_back(rank + 1);
            d.all_gather_v(zeros(d.rank() + 1),
                           full(d.world_size() * (d.world_size() + 1) / 2, 1.0f), counts);
          }) == all - 4);
    CHECK(seconds_of(p, wire, [](Comm& d) {
            Counts counts;
            for (int rank = 0; rank < d.world_size(); ++rank) counts.push_back(rank + 1);
            d.gather_v(zeros(d.rank() + 1), full(d.world_size() * (d.world_size() + 1) / 2, 1.0f),
                       counts, d.world_size() - 1);
          }) == all - 4 * p);
    // Everything to rank 0, which receives from all the others.
    CHECK(seconds_of(p, wire, [](Comm& d) {
            const auto ranks = static_cast<std::size_t>(d.world_size());
            Counts sent(ranks, 0);
            sent[0] = 10;
            const Counts received(ranks, d.rank() == 0 ? 10 : 0);
            d.all_to_all_v(zeros(10), sent, full(d.rank() == 0 ? 10 * d.world_size() : 0, 1.0f),
                           received);
          }) == doctest::Approx(40.0 * (p - 1)));
    // Chunks of 2p + 1 elements: one has 3.
    CHECK(seconds_of(p, wire, [](Comm& d) {
            const Tensor gathered = zeros(2 * d.world_size() + 1);
            d.all_gather(zeros(chunk(gathered, d.rank(), d.world_size()).size()),
                         full(gathered.size(), 1.0f));
          }) == 4.0 * (2 * p - 1));
  }
}

TEST_CASE("on several nodes a collective has two levels, where that is quicker") {
  Cluster cluster;
  cluster.within_node = {1e-6, 0};
  cluster.between_nodes = {10e-6, 1e-9};
  cluster.gamma = 0;
  const double n = 1 << 20;
  using enum CollectiveKind;
  const auto between = [&](CollectiveKind kind, double bytes) {
    const Cost cost = native_cost(kind, 2, bytes, cluster.between_nodes, 0);
    return cost.steps * 10e-6 + cost.bytes * 1e-9;
  };
  // Two nodes of 8: inside, 3 steps of a halving and 3 of a doubling.
  CHECK(cost::native_seconds({kAllReduce, 16, 2, n}, cluster) ==
        doctest::Approx(3e-6 + between(kAllReduce, n / 8) + 3e-6));
  CHECK(cost::native_seconds({kReduceScatter, 16, 2, n}, cluster) ==
        doctest::Approx(3e-6 + between(kReduceScatter, n / 8)));
  CHECK(cost::native_seconds({kAllGather, 16, 2, n}, cluster) ==
        doctest::Approx(between(kAllGather, n) + 3e-6));
  // Nodes of different sizes, and one rank a node: as on one level.
  for (const cost::NativeCall& call :
       {cost::NativeCall{kAllReduce, 15, 2, n}, cost::NativeCall{kAllReduce, 2, 2, n}}) {
    const Cost flat = native_cost(call.kind, call.world_size, n, cluster.between_nodes, 0);
    CHECK(cost::native_seconds(call, cluster) ==
          doctest::Approx(flat.steps * 10e-6 + flat.bytes * 1e-9));
  }
}

TEST_CASE("a broadcast of 4 MiB among 8 ranks costs what the pipelined ring does") {
  const Cluster laptop;
  const double bytes = 4 << 20;
  const Cost ring = cost::broadcast_ring_pipelined(
      8, 1 << 20, kBytes, cost::best_segments(8, 4 << 20, laptop.within_node));
  const Cost native = native_cost(CollectiveKind::kBroadcast, 8, bytes, laptop.within_node, 0);
  CHECK(native.steps == ring.steps);
  CHECK(native.bytes == doctest::Approx(ring.bytes).epsilon(0.001));  // segments of whole elements
}

constexpr double kCallSeconds = 3e-6;

/// A cluster of nodes of 4 whose library was measured: the quicker mode of each pair is for short
/// messages. A message has far more latency than a mode.
Cluster measured_cluster() {
  Cluster cluster = {"measured", {1e-3, 1e-11}, {1e-3, 1e-9}, 1e-10, 4};
  const auto add = [&](CollectiveKind kind, int nodes, const Link& link) {
    const NativeSteps steps =
        kind == CollectiveKind::kAllReduce ? NativeSteps::kRounds : NativeSteps::kRing;
    cluster.native.push_back({kind, nodes, kCallSeconds, link, link.alpha, steps});
  };
  add(CollectiveKind::kAllReduce, 1, {1e-6, 1e-9});
  add(CollectiveKind::kAllReduce, 1, {20e-6, 1e-11});
  add(CollectiveKind::kAllReduce, 2, {2e-6, 2e-9});
  add(CollectiveKind::kAllReduce, 2, {40e-6, 1e-9});
  add(CollectiveKind::kBroadcast, 1, {4e-6, 4e-9});
  return cluster;
}

TEST_CASE("modes belong to a collective and a number of nodes, and messages do not pay them") {
  const Cluster cluster = measured_cluster();
  struct Row {
    CollectiveKind kind;
    int world_size, nodes;
    std::vector<Link> modes;
    double steps, bytes;  // what the modes are multiplied by, for one byte
  };
  using enum CollectiveKind;
  const std::vector<Link> one_node = {{1e-6, 1e-9}, {20e-6, 1e-11}};
  const std::vector<Link> more_nodes = {{2e-6, 2e-9}, {40e-6, 1e-9}};
  const Row rows[] = {
      {kAllReduce, 4, 1, one_node, 2, 1.5},     {kAllReduce, 3, 1, one_node, 2, 4.0 / 3},
      {kAllReduce, 8, 2, more_nodes, 3, 1.75},  {kAllReduce, 16, 4, more_nodes, 4, 1.875},
      {kBarrier, 8, 2, more_nodes, 3, 0},       {kBroadcast, 4, 1, {{4e-6, 4e-9}}, 3, 1},
      {kBroadcast, 8, 2, {{4e-6, 4e-9}}, 7, 1},
  };
  for (const Row& row : rows) {
    for (const std::int64_t elements : {1, 1000, 1000000}) {
      const double bytes = 4.0 * static_cast<double>(elements);
      double expected = 1;
      for (const Link& mode : row.modes) {
        expected = std::min(expected,
                            kCallSeconds + row.steps * mode.alpha + row.bytes * bytes * mode.beta);
      }
      CAPTURE(name_of(row.kind));
      CAPTURE(row.world_size);
      CAPTURE(elements);
      const cost::NativeCall call = {row.kind, row.world_size, row.nodes, bytes};
      CHECK(cost::native_seconds(call, cluster) == doctest::Approx(expected));
      RunReport report;
      run_world(
          {.world_size = row.world_size, .nodes = row.nodes, .cluster = cluster},
          [&](Comm& dist) {
            Tensor tensor = zeros({elements});
            if (row.kind == kAllReduce) dist.all_reduce(tensor, ReduceOp::SUM);
            if (row.kind == kBroadcast) dist.broadcast(tensor, 0);
            if (row.kind == kBarrier) dist.barrier();
          },
          &report);
      CHECK(report.virtual_seconds == doctest::Approx(expected));
      CHECK(report.cost.steps > 0);  // of the best algorithm, as always
    }
  }
  const RunReport message = run_world({.world_size = 2, .cluster = cluster}, [](Comm& dist) {
    Tensor tensor = zeros({1000});
    if (dist.rank() == 0) dist.send(tensor, 1);
    if (dist.rank() == 1) dist.recv(tensor, 0);
  });
  CHECK(message.virtual_seconds == doctest::Approx(1e-3 + 4000 * 1e-11).epsilon(1e-6));
}

TEST_CASE("a mode cannot move bytes between nodes faster than the adapters of the group do") {
  Cluster cluster = measured_cluster();
  cluster.between_nodes.beta = 1e-6;
  using enum CollectiveKind;
  // Two nodes. With four ranks on each, four adapters share the work; with one, it has one. The
  // latencies of the fastest mode come on top.
  const double n = 1e6;
  CHECK(cost::native_seconds({kAllReduce, 8, 2, n}, cluster) ==
        doctest::Approx(9e-6 + n / 4 * 1e-6).epsilon(1e-9));
  CHECK(cost::native_seconds({kAllReduce, 2, 2, n}, cluster) ==
        doctest::Approx(5e-6 + n * 1e-6).epsilon(1e-9));
  CHECK(cost::native_seconds({kBroadcast, 8, 2, n}, cluster) ==
        doctest::Approx(31e-6 + n / 4 * 1e-6).epsilon(1e-9));
  CHECK(cost::native_seconds({kBroadcast, 4, 1, n}, cluster) < n / 4 * 1e-6);
}

}  // namespace
}  // namespace rankbox::testing
