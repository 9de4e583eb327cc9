// Rankbox, measured with its peers' loop: checking, tracing and virtual clocks are on unless noted.
// Prints one number, in seconds (overhead: two).
//
//   sim_bench pingpong BYTES          one way, between 2 ranks
//   sim_bench exchange BYTES          isend, irecv and both waits, between 2 ranks
//   sim_bench fanin P                 a whole run of a float from every rank to rank 0, per message
//   sim_bench allreduce COUNT P       the native all_reduce, MAX, COUNT floats
//   sim_bench ring COUNT P            the course's own allreduce_ring, MAX, COUNT floats
//   sim_bench overhead BYTES          a whole run of ping-pong, per message: traced, untraced
//   sim_bench start P                 start and join P ranks that do nothing
//   sim_bench tree|butterfly|broadcast P   a whole run of allreduce_tree, allreduce_butterfly or
//                                     broadcast_tree of one float on P ranks
//   sim_bench whole_ring P            the same of allreduce_ring of P floats: 2P(P-1) messages
//   sim_bench cycle P                 a whole run of P ranks that receive in a circle, until the
//                                     deadlock is reported on each of them
//
// With `fibers` before the rest, ranks are fibers instead of threads. With `growing` after that,
// events are replayed during the run and not kept (RunOptions::events_per_rank).
//
// Ranks are pinned to cores when every rank has its own, like `mpirun --bind-to core`; else they
// are not pinned.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include "bench/measure.h"
#include "collectives/allreduce_butterfly.h"
#include "collectives/allreduce_ring.h"
#include "collectives/allreduce_tree.h"
#include "collectives/broadcast_tree.h"
#include "comm/run_ranks.h"

namespace rankbox::bench {
namespace {

// Set before anything is measured.
ExecutorKind executor = ExecutorKind::kThreads;
std::int64_t events_per_rank = -1;

void pin_if_room(const Comm& dist) {
  if (dist.world_size() > static_cast<int>(std::thread::hardware_concurrency())) {
    return;
  }
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(static_cast<unsigned>(dist.rank()), &cores);
  pthread_setaffinity_np(pthread_self(), sizeof cores, &cores);  // best effort
}

/// Returns the seconds of one operation in its own world.
/// @param make Comm& -> the operation, as a function of no arguments
template <class Make>
double seconds_in_world(int world_size, Make make) {
  const RunOptions options{
      .world_size = world_size, .executor = executor, .events_per_rank = events_per_rank};
  const auto [seconds, report] = run_ranks(options, [&](Comm& dist) {
    pin_if_room(dist);
    TensorOf<double> slowest(Shape(1));
    return seconds_per_call(make(dist), [&](double mine) {
      *slowest.data() = mine;
      dist.all_reduce(slowest, ReduceOp::MAX);
      return *slowest.data();
    });
  });
  return seconds.front();
}

double pingpong(std::int64_t bytes) {
  const double there_and_back = seconds_in_world(2, [&](Comm& dist) {
    return [&dist, tensor = zeros({bytes / 4})]() mutable {
      if (dist.rank() == 0) {
        dist.send(tensor, 1);
        dist.recv(tensor, 1);
      } else {
        dist.recv(tensor, 0);
        dist.send(tensor, 0);
      }
    };
  });
  return there_and_back / 2;
}

double exchange(std::int64_t bytes) {
  return seconds_in_world(2, [&](Comm& dist) {
    return [&dist, out = zeros({bytes / 4}), in = zeros({bytes / 4})]() mutable {
      const int other = 1 - dist.rank();
      const Request receiving = dist.irecv(in, other);
      const Request sending = dist.isend(out, other);
      dist.wait(receiving);
      dist.wait(sending);
    };
  });
}

using AllReduce = void (*)(Comm&, Tensor&, ReduceOp);

void native(Comm& dist, Tensor& tensor, ReduceOp op) { dist.all_reduce(tensor, op); }

double allreduce(AllReduce algorithm, std::int64_t count, int world_size) {
  return seconds_in_world(world_size, [&](Comm& dist) {
    return [&dist, algorithm, tensor = full({count}, static_cast<float>(dist.rank()))]() mutable {
      algorithm(dist, tensor, ReduceOp::MAX);
    };
  });
}

/// Seconds per message, including the start of the ranks, the messages, and the clocks computed
/// after them.
double whole_run(std::int64_t bytes, bool trace) {
  constexpr int kRoundTrips = 2000;
  const double begin = now();
  run_ranks({.world_size = 2, .executor = executor, .trace = trace}, [&](Comm& dist) {
    pin_if_room(dist);
    Tensor tensor = zeros({bytes / 4});
    for (int trip = 0; trip < kRoundTrips; ++trip) {
      if (dist.rank() == 0) {
        dist.send(tensor, 1);
        dist.recv(tensor, 1);
      } else {
        dist.recv(tensor, 0);
        dist.send(tensor, 0);
      }
    }
  });
  return (now() - begin) / (2 * kRoundTrips);
}

/// On and off in turns, so that a noisy moment affects both.
std::pair<double, double> overhead(std::int64_t bytes) {
  std::vector<double> on;
  std::vector<double> off;
  for (int turn = 0; turn < 21; ++turn) {
    on.push_back(whole_run(bytes, true));
    off.push_back(whole_run(bytes, false));
  }
  return {median(on), median(off)};
}

template <class Body>
double median_run(int runs, int world_size, Body body) {
  std::vector<double> samples;
  for (int run = 0; run < runs; ++run) {
    const double begin = now();
    run_ranks({.world_size = world_size, .executor = executor, .events_per_rank = events_per_rank},
              body);
    samples.push_back(now() - begin);
  }
  return median(samples);
}

double fan_in(int world_size) {
  const double seconds = median_run(21, world_size, [](Comm& dist) {
    if (dist.rank() != 0) return dist.send(zeros(1), 0);
    Tensor all = zeros(dist.world_size());
    std::vector<Request> requests;
    for (int src = 1; src < dist.world_size(); ++src)
      requests.push_back(dist.irecv(chunk(all, src, dist.world_size()), src));
    dist.wait_all(requests);
  });
  return seconds / (world_size - 1);
}

/// Returns the seconds of a run in which every rank calls `algorithm` once on `count` ones.
double whole_run_of(AllReduce algorithm, std::int64_t count, int world_size) {
  const int runs = world_size > 1000 ? 1 : 3;
  return median_run(runs, world_size, [&](Comm& dist) {
    Tensor tensor = full({count}, 1.0f);
    algorithm(dist, tensor, ReduceOp::SUM);
    for (const float each : to_host(tensor)) {
      if (each != static_cast<float>(dist.world_size())) throw Error("wrong sum");
    }
  });
}

/// A broadcast of the world size, as an all-reduce of ones.
void broadcast_sum(Comm& dist, Tensor& tensor, ReduceOp /*op*/) {
  if (dist.rank() == 0) tensor *= static_cast<float>(dist.world_size());
  broadcast_tree(dist, tensor, 0);
}

/// Returns the seconds until a deadlock of all ranks has been proved and ended every one.
double cycle(int world_size) {
  const double begin = now();
  try {
    run_ranks({.world_size = world_size, .executor = executor, .events_per_rank = events_per_rank},
              [](Comm& dist) {
                Tensor tensor(Shape(1));
                dist.recv(tensor, (dist.rank() + 1) % dist.world_size());
              });
  } catch (const DeadlockError& deadlock) {
    if (deadlock.cycle().size() == static_cast<std::size_t>(world_size)) return now() - begin;
  }
  throw Error("no cycle through all ranks was named");
}

/// A whole number of at least 1; 0 if it is not one.
std::int64_t positive(const char* text) {
  char* end = nullptr;
  const long long value = std::strtoll(text, &end, 10);
  return *text != '\0' && *end == '\0' && value > 0 ? value : 0;
}

int main(int argc, char** argv) {
  if (argc > 1 && argv[1] == std::string("fibers")) {
    executor = ExecutorKind::kFibers;
    --argc;
    ++argv;
  }
  if (argc > 1 && argv[1] == std::string("growing")) {
    events_per_rank = 0;
    --argc;
    ++argv;
  }
  const std::string what = argc > 1 ? argv[1] : "";
  const std::int64_t amount = argc > 2 ? positive(argv[2]) : 0;
  const int world_size = argc > 3 ? static_cast<int>(positive(argv[3])) : 0;
  if (what == "pingpong" && amount > 0) {
    fmt::print("{:.9e}\n", pingpong(amount));
  } else if (what == "exchange" && amount > 0) {
    fmt::print("{:.9e}\n", exchange(amount));
  } else if (what == "fanin" && amount > 1) {
    fmt::print("{:.9e}\n", fan_in(static_cast<int>(amount)));
  } else if (what == "allreduce" && amount > 0 && world_size > 0) {
    fmt::print("{:.9e}\n", allreduce(native, amount, world_size));
  } else if (what == "ring" && amount > 0 && world_size > 0) {
    fmt::print("{:.9e}\n", allreduce(allreduce_ring, amount, world_size));
  } else if (what == "overhead" && amount > 0) {
    const auto [on, off] = overhead(amount);
    fmt::print("{:.9e} {:.9e}\n", on, off);
  } else if (what == "start" && amount > 0) {
    fmt::print("{:.9e}\n", median_run(50, static_cast<int>(amount), [](Comm&) {}));
  } else if (what == "tree" && amount > 0) {
    fmt::print("{:.9e}\n", whole_run_of(allreduce_tree, 1, static_cast<int>(amount)));
  } else if (what == "butterfly" && amount > 0) {
    fmt::print("{:.9e}\n", whole_run_of(allreduce_butterfly, 1, static_cast<int>(amount)));
  } else if (what == "broadcast" && amount > 0) {
    fmt::print("{:.9e}\n", whole_run_of(broadcast_sum, 1, static_cast<int>(amount)));
  } else if (what == "cycle" && amount > 1) {
    fmt::print("{:.9e}\n", cycle(static_cast<int>(amount)));
  } else if (what == "whole_ring" && amount > 0) {
    fmt::print("{:.9e}\n", whole_run_of(allreduce_ring, amount, static_cast<int>(amount)));
  } else {
    fmt::print(
        stderr,
        "usage: sim_bench [fibers] [growing] pingpong|exchange|overhead BYTES | "
        "allreduce|ring COUNT P | start|fanin|tree|butterfly|broadcast|whole_ring|cycle P\n");
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace rankbox::bench

int main(int argc, char** argv) {
  try {
    return rankbox::bench::main(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "sim_bench: {}\n", error.what());
    return 1;
  }
}
