// A failing program of several processes, for failure_test.cc and hosts_test.sh.
//
//   failing_program SCENARIO [FILE]
//   failing_program random SEED      a random broken program; prints "may end as CLASS" lines
//
// A table below lists most scenarios. One process reports the failure: "failure CLASS", the context
// as "rank R, op O, peer P", the text, and the details. A rank prints "at LINE" for each call that
// the text must name.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "comm/run_failure.h"
#include "comm/run_ranks.h"
#include "mpi/environment.h"
#include "mpi/tag.h"
#include "tests/mpi/failing_random.h"

namespace rankbox {
namespace {

struct Scenario {
  void (*body)(Comm&);
  RunOptions options = {.deadline_seconds = 600};  // others end the run
};

void sleep_for(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

[[noreturn]] void compute_forever() {
  for (volatile bool on = true; on;) {
  }
  std::abort();
}

/// The report must name the call in the next line.
void name_next(unsigned line = __builtin_LINE()) {
  fmt::print("at {}\n", line + 1);
  std::fflush(stdout);
}

/// Every other rank waits in a different way.
void wait_for_rank_1(Comm& dist) {
  Tensor tensor = zeros(10);
  switch (dist.rank() % 4) {
    case 0:
      return dist.recv(tensor, 1);
    case 2:
      return dist.barrier();
    default:
      return dist.wait(dist.isend(tensor, 1));
  }
}

/// Rank 1 runs `what`; all others wait for it.
template <class Do>
void in_the_middle(Comm& dist, Do what) {
  Tensor tensor = zeros(10);
  dist.all_reduce(tensor);
  if (dist.rank() != 1) return wait_for_rank_1(dist);
  sleep_for(0.2);
  what();
}

template <class Sent = float>
void send_or_recv(Comm& dist, std::int64_t sent, std::int64_t received) {
  if (dist.rank() == 0) {
    name_next();
    dist.send(zeros<Sent>({sent}), 1);
  }
  if (dist.rank() == 1) {
    Tensor tensor = zeros({received});
    name_next();
    dist.recv(tensor, 0);
  }
  dist.barrier();  // the others wait
}

/// Uses the smallest size that does not fit a tag, and the one that shares its digest (mpi/tag.h).
void send_or_recv_alike(Comm& dist, bool longer) {
  const mpi::TagFormat tags(mpi::environment().tag_bits);
  std::int64_t large = 1;
  while (tags.tag(0, DType::kFloat32, large) >> 11 == large) large *= 2;
  const std::int64_t small = tags.tag(0, DType::kFloat32, large) >> 11;
  send_or_recv(dist, longer ? large : small, longer ? small : large);
}

// The calls differ on rank 0.
void differ_in_kind(Comm& dist) {
  Tensor tensor = zeros(10);
  if (dist.rank() == 0) {
    name_next();
    dist.all_reduce(tensor);
  } else if (dist.rank() == 1) {
    name_next();
    dist.barrier();
  } else {
    dist.barrier();
  }
}

void differ_in_root(Comm& dist) {
  Tensor tensor = zeros(10);
  if (dist.rank() == 0) name_next(__LINE__ + 1);
  if (dist.rank() == 1) name_next();
  dist.broadcast(tensor, dist.rank() == 0 ? 0 : 1);
}

void differ_in_op(Comm& dist) {
  Tensor tensor = zeros(10);
  for (int i = 0; i < 3; ++i) dist.barrier();
  if (dist.rank() == 0) name_next(__LINE__ + 1);
  if (dist.rank() == 1) name_next();
  dist.all_reduce(tensor, dist.rank() == 0 ? ReduceOp::MAX : ReduceOp::SUM);
}

void differ_in_size(Comm& dist) {
  Tensor tensor = zeros(dist.rank() == 0 ? 10 : 100'000);
  if (dist.rank() == 0) name_next(__LINE__ + 1);
  if (dist.rank() == 1) name_next();
  dist.all_reduce(tensor);
}

void differ_long_ago(Comm& dist) {
  Tensor tensor = zeros(10);
  dist.all_reduce(tensor, dist.rank() == 0 ? ReduceOp::MAX : ReduceOp::SUM);
  for (int i = 0; i < 100; ++i) dist.barrier();
}

void split_or_barrier(Comm& dist) {
  if (dist.rank() == 0) {
    name_next();
    dist.split(0);
  } else if (dist.rank() == 1) {
    name_next();
    dist.barrier();
  } else {
    dist.barrier();
  }
}

void receive_from_each_other(Comm& dist) {
  Tensor tensor = zeros(10);
  if (dist.rank() > 1) return dist.barrier();
  if (dist.rank() == 0) name_next();
  dist.recv(tensor, 1 - dist.rank());
}

void receive_from_returned(Comm& dist) {
  Tensor tensor = zeros(10);
  if (dist.rank() == 1) return;
  if (dist.rank() > 1) return dist.barrier();
  name_next();
  dist.recv(tensor, 1);
}

void receive_from_itself(Comm& dist) {
  Tensor tensor = zeros(10);
  if (dist.rank() != 1) return;
  name_next();
  dist.recv(tensor, 1);
}

void wait_in_vain(Comm& dist) {
  Tensor tensor = zeros(10);
  if (dist.rank() != 0) return;
  Comm::Request request = dist.irecv(tensor, 1);
  name_next();
  dist.wait(request);
}

void stay_away(Comm& dist) {
  if (dist.rank() == 1) return;
  if (dist.rank() == 0) name_next();
  dist.barrier();
}

void drop_request(Comm& dist) {
  Tensor tensor = zeros(10);
  if (dist.rank() == 1) name_next();
  if (dist.rank() == 1) static_cast<void>(dist.isend(tensor, 0));
  dist.barrier();
}

void free_before_wait(Comm& dist, bool sends) {
  if (dist.rank() != 1) return dist.barrier();
  Comm::Request request;
  {
    Tensor tensor = zeros(10);
    name_next();
    request = sends ? dist.isend(tensor, 0) : dist.irecv(tensor, 0);
  }
  name_next();
  dist.wait(request);
}

void receive_twice_into_one_tensor(Comm& dist, bool blocks) {
  if (dist.rank() != 1) return dist.barrier();
  Tensor tensor = zeros(10);
  const Comm::Request first = dist.irecv(tensor, 0);
  name_next();
  blocks ? dist.recv(chunk(tensor, 1, 2), 0) : dist.wait(dist.irecv(chunk(tensor, 1, 2), 0));
}

void keep_request(Comm& dist) {
  static Tensor tensor = zeros(10);
  static Comm::Request request;
  if (dist.rank() != 1) return;
  name_next();
  request = dist.irecv(tensor, 0);
}

void send_unreceived(Comm& dist) {
  if (dist.rank() == 1) name_next();
  if (dist.rank() == 1) dist.send(zeros(10), 0);
}

/// Not the fault of the rank that is interrupted.
void compute_while_another_throws(Comm& dist) {
  if (dist.rank() == 0) throw std::runtime_error("something went wrong");
  compute_forever();
}

/// Not a failure: the run continues.
void catch_refused_calls(Comm& dist) {
  Tensor tensor = full({10}, 1.0F);
  int refused = 0;
  try {
    dist.send(tensor, dist.world_size());
  } catch (const InvalidArgument&) {
    ++refused;
  }
  dist.all_reduce(tensor);
  if (refused == 1 && to_host(tensor).front() == static_cast<float>(dist.world_size()))
    fmt::print("went on\n");
}

constexpr double kSoon = 2;

const std::map<std::string, Scenario>& scenarios() {
  using R = RunOptions;
  static const R soon{.deadline_seconds = kSoon};
  static const R blocking{.deadline_seconds = kSoon, .blocking_calls = true};
  static const R buffered{.buffering = Buffering::unbounded(), .deadline_seconds = 600};
  static const std::map<std::string, Scenario> table = {
      {"kill", {[](Comm& d) { in_the_middle(d, [] { std::raise(SIGKILL); }); }}},
      {"abort", {[](Comm& d) { in_the_middle(d, [] { std::abort(); }); }}},
      {"segv", {[](Comm& d) { in_the_middle(d, [] { std::raise(SIGSEGV); }); }}},
      {"_exit", {[](Comm& d) { in_the_middle(d, [] { _exit(3); }); }}},
      // NOLINTNEXTLINE(concurrency-mt-unsafe): which is the point
      {"exit", {[](Comm& d) { in_the_middle(d, [] { std::exit(3); }); }}},
      {"throw", {[](Comm& d) {
         in_the_middle(d, [] { throw std::runtime_error("something went wrong"); });
       }}},
      {"mistake",
       {[](Comm& d) { in_the_middle(d, [] { throw InvalidArgument("--steps 0: too few"); }); }}},
      {"compute", {[](Comm&) { compute_forever(); }}},
      {"busy", {compute_while_another_throws}},
      {"refused", {catch_refused_calls}},
      {"shorter_message", {[](Comm& d) { send_or_recv(d, 3, 4); }}},
      {"longer_message", {[](Comm& d) { send_or_recv(d, 100'000, 4); }}},
      {"empty_message", {[](Comm& d) { send_or_recv(d, 0, 4); }}},
      {"other_dtype", {[](Comm& d) { send_or_recv<std::int32_t>(d, 4, 4); }}},
      {"shorter_alike", {[](Comm& d) { send_or_recv_alike(d, false); }}},
      {"longer_alike", {[](Comm& d) { send_or_recv_alike(d, true); }}},
      {"shorter_buffered_message", {[](Comm& d) { send_or_recv(d, 3, 4); }, buffered}},
      {"collective_kind", {differ_in_kind, soon}},
      {"collective_root", {differ_in_root, soon}},
      {"collective_op", {differ_in_op, soon}},
      {"collective_size", {differ_in_size, soon}},
      {"collective_long_ago", {differ_long_ago, soon}},
      {"split_or_barrier", {split_or_barrier, soon}},
      {"blocking_kind", {differ_in_kind, blocking}},
      {"blocking_op", {differ_in_op, blocking}},
      {"blocking_missing", {stay_away, blocking}},
      {"missing", {stay_away, soon}},
      {"deadlock", {receive_from_each_other, soon}},
      {"returned", {receive_from_returned, soon}},
      {"itself", {receive_from_itself, soon}},
      {"wait", {wait_in_vain, soon}},
      {"dropped_request", {drop_request}},
      {"kept_request", {keep_request}},
      {"unreceived", {send_unreceived, buffered}},
      {"freed_send", {[](Comm& d) { free_before_wait(d, true); }}},
      {"freed_receive", {[](Comm& d) { free_before_wait(d, false); }}},
      {"overlap", {[](Comm& d) { receive_twice_into_one_tensor(d, false); }}},
      {"blocking_overlap", {[](Comm& d) { receive_twice_into_one_tensor(d, true); }}},
      {"outside", {[](Comm& d) { in_the_middle(d, [] { chunk(zeros(10), 3, 3); }); }}},
  };
  return table;
}

const char* class_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const InvalidArgument&) {
    return "InvalidArgument";
  } catch (const MessageMismatch&) {
    return "MessageMismatch";
  } catch (const CollectiveMismatch&) {
    return "CollectiveMismatch";
  } catch (const UnreceivedMessage&) {
    return "UnreceivedMessage";
  } catch (const BufferReused&) {
    return "BufferReused";
  } catch (const TimedOut&) {
    return "TimedOut";
  } catch (const RankFailed&) {
    return "RankFailed";
  } catch (const Error&) {
    return "Error";
  } catch (...) {
    return "unknown";
  }
}

int report(const RunFailure& failure) {
  fmt::print(stderr, "failure {}\n", class_of(failure.error));
  try {
    std::rethrow_exception(failure.error);
  } catch (const Error& error) {
    fmt::print(stderr, "rank {}, op {}, peer {}\n", error.rank(), error.op(), error.peer());
  } catch (...) {
  }
  return print_failure(failure);
}

/// Rank 1 is killed while process 0 writes files of a million numbers and renames them to FILE.
void write_file(Comm& dist, const std::string& file) {
  dist.barrier();
  if (dist.rank() == 1) {
    while (!std::filesystem::exists(file)) sleep_for(0.1);
    std::raise(SIGKILL);
  }
  while (dist.rank() == 0) {
    const std::string part = file + ".part";
    std::ofstream out(part);
    for (int i = 0; i < 1'000'000; ++i) out << i << '\n';
    out.close();
    std::rename(part.c_str(), file.c_str());
  }
  wait_for_rank_1(dist);
}

int run(const std::string& name, const std::string& file) {
  const Launch here = launch();
  if (name == "random") return run_random(std::stoull(file)), 0;
  if (name == "where") {
    const auto ran = run_ranks({.world_size = here.processes}, [](Comm& dist) {
      return std::pair(dist.node(), dist.local_rank());
    });
    for (std::size_t rank = 0; here.is_first() && rank < ran.results.size(); ++rank) {
      fmt::print("rank {}: node {}, local rank {}\n", rank, ran.results[rank].first,
                 ran.results[rank].second);
    }
    return 0;
  }
  if (name == "many") return run_ranks({.world_size = here.processes + 1}, [](Comm&) {}), 0;
  if (name == "write") {
    run_ranks({.world_size = here.processes}, [&](Comm& dist) { write_file(dist, file); });
    return 0;
  }
  Scenario scenario = scenarios().at(name);
  scenario.options.world_size = here.processes;
  run_ranks(scenario.options, scenario.body);
  return 0;
}

}  // namespace
}  // namespace rankbox

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: failing_program SCENARIO [FILE]\n");
    return 2;
  }
  rankbox::set_failure_handler(rankbox::report);
  try {
    return rankbox::run(argv[1], argc > 2 ? argv[2] : "");
  } catch (const std::exception& error) {
    if (rankbox::launch().is_first()) std::fprintf(stderr, "failing_program: %s\n", error.what());
    return 1;
  }
}
