// A program of several processes in which something goes wrong, for endings_test.cc and hosts_test.sh.
//
//   victim HOW [FILE]      what happens to rank 1 of 2 or more, in the middle of everything
//
//   well       nothing: prints where the ranks are, and exits with 0
//   kill       killed by SIGKILL         abort     calls abort()
//   segv       dies of a wild pointer    _exit     leaves with exit code 3, as if all were well
//   exit       exits in an orderly way   throw     throws
//   busy       computes on and on, while rank 0 throws
//   stuck      waits for what nobody sends
//   unchecked  does not come to a barrier that nobody checks
//   write      killed by SIGKILL, while the first process writes a FILE of a million numbers again and
//              again, beside it, and puts it in its place
//   many       the program wants more ranks than there are processes
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

#include <unistd.h>

#include "comm/run_ranks.h"

namespace rankbox {
namespace {

void die(const std::string& how) {
  if (how == "kill" || how == "write") std::raise(SIGKILL);
  if (how == "abort") std::abort();
  if (how == "segv") std::raise(SIGSEGV);
  if (how == "_exit") _exit(3);
  if (how == "exit") std::exit(3);  // NOLINT(concurrency-mt-unsafe): which is the point
  if (how == "throw") throw std::runtime_error("something went wrong");
  for (volatile bool on = how == "busy"; on;) {
  }
}

void sleep_for(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

/// Every rank waits in another way.
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

void run_rank(Comm& dist, const std::string& how, const std::string& file) {
  Tensor tensor = zeros(10);
  dist.all_reduce(tensor);
  if (how == "well") return;
  if (how == "stuck") return dist.rank() == 1 ? dist.recv(tensor, 0) : void();
  if (how == "unchecked") return dist.rank() == 1 ? void() : dist.barrier();
  if (how == "busy" && dist.rank() == 0) throw std::runtime_error("something went wrong");
  if (dist.rank() == 1) {
    sleep_for(how == "write" ? 1 : 0.2);
    return die(how);
  }
  while (how == "write" && dist.rank() == 0) {
    const std::string part = file + ".part";
    std::ofstream out(part);
    for (int i = 0; i < 1'000'000; ++i) out << i << '\n';
    out.close();
    std::rename(part.c_str(), file.c_str());
  }
  wait_for_rank_1(dist);
}

int main_of_process(const std::string& how, const std::string& file) {
  const Launch here = launch();
  RunOptions options;
  options.world_size = how == "many" ? here.processes + 1 : here.processes;
  options.deadline_seconds = how == "stuck" || how == "unchecked" ? 1 : 20;
  if (how == "busy") options.deadline_seconds = 3;
  options.check_collectives = how != "unchecked";
  try {
    const auto run = run_ranks(options, [&](Comm& dist) {
      run_rank(dist, how, file);
      return std::pair(dist.node(), dist.local_rank());
    });
    if (!here.is_first()) return 0;
    for (std::size_t rank = 0; rank < run.results.size(); ++rank) {
      std::printf("rank %zu: node %d, local rank %d\n", rank, run.results[rank].first,
                  run.results[rank].second);
    }
    return 0;
  } catch (const Error& error) {
    if (here.is_first()) std::fprintf(stderr, "victim: %s\n", error.what());
    return 1;
  }
}

}  // namespace
}  // namespace rankbox

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: victim HOW [FILE]\n");
    return 2;
  }
  return rankbox::main_of_process(argv[1], argc > 2 ? argv[2] : "");
}
