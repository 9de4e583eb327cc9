// run_ranks over the processes that a launcher started: each runs its own rank, and gets all
// results.
#include <algorithm>
#include <chrono>
#include <climits>
#include <map>
#include <numeric>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "comm/option_checks.h"
#include "comm/rank_failure.h"
#include "comm/run_ranks.h"
#include "mpi/check.h"
#include "mpi/environment.h"
#include "mpi/run.h"

namespace rankbox {
namespace mpi {
namespace {

using SteadyClock = std::chrono::steady_clock;

// A process may do other work between two runs.
constexpr double kSecondsToCome = 30;

/// Blocks until all processes have called run_ranks. Ends them if one does not.
void wait_for_all_processes(double seconds) {
  const Environment& here = environment();
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibarrier(here.control, &request), "MPI_Ibarrier");
  const SteadyClock::time_point end =
      SteadyClock::now() +
      std::chrono::duration_cast<SteadyClock::duration>(std::chrono::duration<double>(seconds));
  while (true) {
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) return;
    if (SteadyClock::now() > end) {
      fmt::print(stderr,
                 "rankbox: not all of the {} processes have called run_ranks within {:.3g} s of "
                 "process {}; ending all of them\n",
                 here.size, seconds, here.rank);
      end_all_processes(1);
    }
    std::this_thread::yield();
  }
}

/// Communicators of the first processes, by process count. Creating one takes longer than many
/// runs.
std::map<int, MPI_Comm>& kept_communicators() {
  static std::map<int, MPI_Comm> kept;
  return kept;
}

/// Returns the group of the first `size` processes. All processes call it.
Group make_world(int size, double seconds) {
  const Environment& here = environment();
  const bool takes_part = here.rank < size;
  const auto [kept, is_new] = kept_communicators().try_emplace(size, MPI_COMM_NULL);
  if (is_new) {
    wait_for_all_processes(seconds);
    check(MPI_Comm_split(here.control, takes_part ? 0 : MPI_UNDEFINED, here.rank, &kept->second),
          "MPI_Comm_split");
  }
  Group world;
  world.comm = kept->second;
  world.index = takes_part ? here.rank : -1;
  world.members.resize(static_cast<std::size_t>(size));
  std::iota(world.members.begin(), world.members.end(), 0);
  world.sent.resize(world.members.size());
  world.received.resize(world.members.size());
  return world;
}

/// One process's numbers of a finished run.
struct Numbers {
  double wall_seconds = 0;
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
  std::int64_t peak_bytes = 0;
  std::int64_t unreceived = 0;
  std::uint64_t calls_balance = 0;
};

/// Blocks until all ranks have returned, and compares their counts.
RunReport conclude(Run& run, double wall_seconds) {
  const Numbers mine = {wall_seconds,
                        run.messages(),
                        run.bytes(),
                        run.memory().peak_bytes,
                        run.messages_unreceived(),
                        run.calls_balance()};
  std::vector<Numbers> all(static_cast<std::size_t>(environment().size));
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallgather(&mine, sizeof(Numbers), MPI_BYTE, all.data(), sizeof(Numbers), MPI_BYTE,
                       environment().control, &request),
        "MPI_Iallgather");
  run.wait_for_others(request);
  RunReport report;
  std::int64_t unreceived = 0;
  std::uint64_t balance = 0;
  for (const Numbers& each : all) {
    report.wall_seconds = std::max(report.wall_seconds, each.wall_seconds);
    report.messages += each.messages;
    report.bytes += each.bytes;
    unreceived += each.unreceived;
    balance += each.calls_balance;
  }
  for (int rank = 0; rank < run.options().world_size; ++rank)
    report.peak_bytes.push_back(all[static_cast<std::size_t>(rank)].peak_bytes);
  run.check_end(unreceived, balance);
  return report;
}

/// Admits one run at a time: MPI serves one thread, and the process is one rank.
class Turn {
 public:
  Turn() {
    if (!is_running().exchange(true)) return;
    throw InvalidArgument(
        "where ranks are processes, one world runs at a time: no rank can start another one");
  }
  ~Turn() { is_running() = false; }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
};

/// Runs this process's rank.
void run_rank(Run& run, const std::function<void(Comm&)>& body) {
  MemoryMeter* const outer = std::exchange(current_memory_meter(), &run.memory());
  try {
    Comm dist(Backend(run, &run.world()));
    body(dist);
  } catch (...) {
    const std::exception_ptr error = with_rank(std::current_exception(), run.rank());
    if (environment().size > 1) run.fail(error);
    // A single process has no others to wait for.
    run.end_open_operations();
    current_memory_meter() = outer;
    kept_communicators().erase(run.options().world_size);
    std::rethrow_exception(error);
  }
  run.end();
  current_memory_meter() = outer;
}

}  // namespace
}  // namespace mpi

Launch launch() { return {mpi::environment().size, mpi::environment().rank}; }

std::string why_no_ranks() { return ""; }

void check_options(const RunOptions& options) {
  check_run_options(options);
  refuse_sandbox_options(options);
  const int launched = mpi::environment().size;
  if (options.world_size > launched) {
    throw InvalidArgument(fmt::format(
        "a world of {} ranks needs as many processes, and {} {} started: run it with "
        "mpirun -n {}",
        options.world_size, launched, launched == 1 ? "was" : "were", options.world_size));
  }
}

void run_world(const RunOptions& options, const std::function<void(Comm&)>& body,
               RunReport* report) {
  check_options(options);
  const mpi::Turn turn;
  mpi::Run run(options, mpi::make_world(options.world_size,
                                        std::max(options.deadline_seconds, mpi::kSecondsToCome)));
  const auto begin = std::chrono::steady_clock::now();
  if (run.rank() >= 0) mpi::run_rank(run, body);
  *report = mpi::conclude(
      run, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

std::vector<std::string> gather_from_processes(int world_size, std::string mine) {
  const mpi::Environment& here = mpi::environment();
  const auto size = static_cast<std::int64_t>(mine.size());
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(here.size));
  mpi::check(MPI_Allgather(&size, 1, MPI_INT64_T, sizes.data(), 1, MPI_INT64_T, here.control),
             "MPI_Allgather");
  const std::int64_t total = std::reduce(sizes.begin(), sizes.end());
  if (total > INT_MAX) {
    throw InvalidArgument(fmt::format(
        "the ranks return {} bytes in all, and {} can be gathered: return less", total, INT_MAX));
  }
  const std::vector<int> counts(sizes.begin(), sizes.end());
  std::vector<int> begins(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), begins.begin(), 0);
  std::string all(static_cast<std::size_t>(total), '\0');
  mpi::check(MPI_Allgatherv(mine.data(), counts[static_cast<std::size_t>(here.rank)], MPI_BYTE,
                            all.data(), counts.data(), begins.data(), MPI_BYTE, here.control),
             "MPI_Allgatherv");
  std::vector<std::string> parts;
  for (int rank = 0; rank < world_size; ++rank) {
    const auto i = static_cast<std::size_t>(rank);
    parts.push_back(
        all.substr(static_cast<std::size_t>(begins[i]), static_cast<std::size_t>(counts[i])));
  }
  return parts;
}

}  // namespace rankbox
