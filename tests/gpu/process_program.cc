// A rank's process as launchers start it, for tests. Every process prints one line per run:
// "process 1: " and what run_ranks returned or threw.
//
//   process_program results RANKS     that many ranks compute a sum; prints each rank's result
//   process_program fail RANKS        rank 0 throws; then, in a second run, as results
//   process_program die RANKS         rank 0 is killed in the middle of its function
//   process_program leave RANKS       process 1 is killed, and the others run as in results
//   process_program disagree          process p runs a world of p + 1 ranks
//   process_program gather RANKS      as fail, then calls gather_from_processes() all the same
//   process_program hostid RANKS      as results, and the variables of NCCL for sharing
//   process_program abort RANKS       rank 0 throws, and its abort of NCCL does not return
//   process_program outside RANKS     as results, and the GPU of a thread that runs no rank
// Further arguments are the deadline and that of the start, in seconds.
#include <csignal>
#include <cstdlib>
#include <exception>
#include <string>
#include <typeinfo>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "comm/run_ranks.h"
#include "gpu/device_here.h"
#include "tests/gpu/emulation/nccl_control.h"

namespace rankbox {
namespace {

/// Prints in one write: processes share the output.
void say(const std::string& text) {
  std::string line = fmt::format("process {}: {}", launch().process, text);
  for (char& c : line) c = c == '\n' ? ' ' : c;
  line += '\n';
  static_cast<void>(!write(STDOUT_FILENO, line.data(), line.size()));
}

const char* name_of_class(const std::exception& error) {
  if (dynamic_cast<const NotImplemented*>(&error) != nullptr) return "NotImplemented";
  if (dynamic_cast<const TimedOut*>(&error) != nullptr) return "TimedOut";
  if (dynamic_cast<const RankFailed*>(&error) != nullptr) return "RankFailed";
  if (dynamic_cast<const Aborted*>(&error) != nullptr) return "Aborted";
  if (dynamic_cast<const InvalidArgument*>(&error) != nullptr) return "InvalidArgument";
  return dynamic_cast<const Error*>(&error) != nullptr ? "Error" : "std::exception";
}

double deadline_seconds = 30;
double start_seconds = 60;

void run(int ranks, const std::function<void(Comm&)>& before) {
  try {
    const RunOptions options = {
        .world_size = ranks, .deadline_seconds = deadline_seconds, .start_seconds = start_seconds};
    const auto run = run_ranks(options, [&](Comm& dist) {
      if (before) before(dist);
      Tensor tensor = full(3, static_cast<float>(dist.rank() + 1));
      dist.all_reduce(tensor);
      const Tensor to_myself = full(2, 7.0f);
      Tensor from_myself = zeros(2);
      dist.sendrecv(to_myself, dist.rank(), from_myself, dist.rank());
      return std::vector<float>{to_host(tensor)[2], to_host(from_myself)[1]};
    });
    std::string text = "returned";
    for (const std::vector<float>& each : run.results)
      text += fmt::format(" {}+{}", each[0], each[1]);
    say(fmt::format("{}; {} messages, {} bytes, peaks {}", text, run.report.messages,
                    run.report.bytes, run.report.peak_bytes.size()));
  } catch (const std::exception& error) {
    const auto* const known = dynamic_cast<const Error*>(&error);
    say(fmt::format("threw {} of rank {}: {}", name_of_class(error),
                    known == nullptr ? -2 : known->rank(), error.what()));
  }
}

void throw_here(Comm&) { throw NotImplemented("reduce_tree"); }

int main_of(const std::string& what, int ranks) {
  try {
    if (what == "fail") {
      run(ranks, throw_here);
      run(ranks, nullptr);
    } else if (what == "die") {
      run(ranks, [](Comm&) { kill(getpid(), SIGKILL); });
    } else if (what == "abort") {
      gpu::emulation::order_nccl_fault(0, gpu::emulation::NcclFault::kAbortHangs, ncclSuccess);
      run(ranks, throw_here);
    } else if (what == "leave") {
      run(ranks, nullptr);
      if (launch().process == 1) kill(getpid(), SIGKILL);
      run(ranks, nullptr);
    } else if (what == "disagree") {
      run(launch().process + 1, nullptr);
      run(1, nullptr);
    } else if (what == "gather") {
      run(ranks, throw_here);
      std::string all;
      for (const std::string& each :
           gather_from_processes(launch().processes, fmt::format("<{}>", launch().process)))
        all += each;
      say(all);
    } else {
      run(ranks, nullptr);
      if (what == "outside") say(fmt::format("outside: GPU {}", gpu::device_here().device()));
      if (what == "hostid") {
        const char* const id = std::getenv("NCCL_HOSTID");
        const char* const net = std::getenv("NCCL_NET");
        say(fmt::format("hostid {} net {}", id == nullptr ? "none" : id,
                        net == nullptr ? "none" : net));
      }
    }
  } catch (const std::exception& error) {
    say(fmt::format("failed: {}", error.what()));
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace rankbox

int main(int argc, char** argv) {
  if (argc > 3) rankbox::deadline_seconds = std::atof(argv[3]);
  if (argc > 4) rankbox::start_seconds = std::atof(argv[4]);
  return rankbox::main_of(argc > 1 ? argv[1] : "results", argc > 2 ? std::atoi(argv[2]) : 1);
}
