// For tests: a rank as launchers start it, which finds its world by its environment.
//
//   rank_program sum              all ranks add up their ranks; rank 0 prints the sum
//   rank_program die RANK         that rank is killed; the others wait until they are told, and say so
//   rank_program wait             all wait until they are told of a failure, having said so
//   rank_program fail RANK CODE   that rank throws; its program exits with CODE, the others' with 1
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "comm/errors.h"
#include "launch/placement.h"
#include "launch/rank_variables.h"
#include "launch/star.h"

namespace {

using rankbox::launcher::Star;

void run(const std::string& what, int whom) {
  const auto who = rankbox::launcher::rank_variables();
  if (!who) throw rankbox::InvalidArgument("started without a launcher");
  Star star(rankbox::launcher::star_options(*who));
  const auto place = find_placement(star);
  if (place.local_rank != who->local_rank || place.local_size != who->local_size) {
    throw rankbox::Error("the launcher and the hosts' names disagree about this node's ranks");
  }
  if (what == "sum") {
    int sum = 0;
    for (const std::string& rank : star.all_gather_bytes(std::to_string(star.rank()))) {
      sum += std::stoi(rank);
    }
    if (star.rank() == 0) fmt::print("sum {}\n", sum);
  } else if (what == "die" && star.rank() == whom) {
    kill(getpid(), SIGKILL);
  } else if (what == "fail" && star.rank() == whom) {
    throw std::runtime_error("thrown");
  } else {
    if (what == "wait") fmt::print("waiting\n");
    std::fflush(stdout);
    while (!star.stopped()) usleep(1000);
    star.check("the test");
  }
  star.barrier();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? argv[1] : "", argc > 2 ? std::stoi(argv[2]) : -1);
    return 0;
  } catch (const rankbox::Error& error) {
    fmt::print("{}\n", error.what());
    return 1;
  } catch (const std::exception&) {
    return argc > 3 ? std::stoi(argv[3]) : 1;
  }
}
