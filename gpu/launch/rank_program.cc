// A rank as launchers start it, for tests.
//
//   rank_program sum    all ranks add up their ranks; rank 0 prints the sum
//   rank_program wait   rank 1 never finishes; the others wait for it, and print their errors
//   rank_program die    rank 1 is killed; the others never end
#include <csignal>
#include <exception>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "gpu/launch/process_group.h"

namespace {

using rankbox::launcher::ProcessGroup;

void run(const std::string& what) {
  const auto& who = rankbox::launcher::launched().value();
  ProcessGroup group(who, rankbox::launcher::endpoint_of_rank_0(who), /*seconds=*/30);
  int sum = 0;
  for (const auto& rank : group.all_gather(std::to_string(group.rank()), 30).bytes)
    sum += std::stoi(rank.value());
  if (what == "sum") {
    if (group.rank() == 0) fmt::print("sum {}\n", sum);
    return;
  }
  if (what == "die" && group.rank() == 1) kill(getpid(), SIGKILL);
  fmt::print("waiting\n");
  std::fflush(stdout);
  while (what == "die" || group.rank() == 1) pause();
  const auto all = group.all_gather("", 1000);
  if (all.problem) std::rethrow_exception(all.problem);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? argv[1] : "");
    return 0;
  } catch (const std::exception& error) {
    fmt::print("{}\n", error.what());
    return 1;
  }
}
