// run_ranks over the processes that a launcher started: every process runs its own rank, all of them
// throw the same error, and each gets all results.
#include <algorithm>
#include <chrono>
#include <climits>
#include <map>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "comm/error_bytes.h"
#include "comm/option_checks.h"
#include "comm/rank_failure.h"
#include "comm/run_ranks.h"
#include "mpi/check.h"
#include "mpi/run.h"

namespace rankbox {
namespace mpi {
namespace {

// A process may have things of its own to do between two runs.
constexpr double kSecondsToCome = 30;

/// Waits until all processes have come here, which is where their program leads them unless it has
/// gone astray; then it ends.
void meet(const Environment& here, double seconds) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibarrier(here.lobby, &request), "MPI_Ibarrier");
  const auto begin = std::chrono::steady_clock::now();
  int done = 0;
  while (true) {
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) return;
    if (seconds_since(begin) > seconds) {
      fmt::print(stderr,
                 "rankbox: not all of the {} processes have come to run_ranks within {:.3g} s of "
                 "process {}; ending all of them\n",
                 here.size, seconds, here.rank);
      end_all_processes();
    }
    std::this_thread::yield();
  }
}

/// Communicators of the first `size` processes. Called by all processes.
std::unique_ptr<Group> make_world(int size, double patience_seconds) {
  const Environment& here = environment();
  meet(here, patience_seconds);
  auto world = std::make_unique<Group>();
  const bool takes_part = here.rank < size;
  check(MPI_Comm_split(here.lobby, takes_part ? 0 : MPI_UNDEFINED, here.rank, &world->messages),
        "MPI_Comm_split");
  if (takes_part) {
    check(MPI_Comm_dup(world->messages, &world->agreements), "MPI_Comm_dup");
    world->index = here.rank;
  }
  return world;
}

/// Those of an earlier run of this size, if it ended well; making them takes longer than many a run.
std::map<int, std::unique_ptr<Group>>& kept_worlds() {
  static std::map<int, std::unique_ptr<Group>> kept;
  return kept;
}

std::unique_ptr<Group> world_of(int size, double patience_seconds) {
  std::unique_ptr<Group> world = std::move(kept_worlds()[size]);
  if (world == nullptr) world = make_world(size, patience_seconds);
  world->members.clear();
  for (int rank = 0; rank < size; ++rank) world->members.push_back(rank);
  world->sent.assign(static_cast<std::size_t>(size), 0);
  world->received.assign(static_cast<std::size_t>(size), 0);
  world->splits = 0;
  world->collectives.clear();
  return world;
}

/// What a process tells of its run once it is over.
struct Numbers {
  double wall_seconds = 0;
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
  std::int64_t peak_bytes = 0;
  std::int64_t error_bytes = 0;
  std::int32_t failed_first = 0;
};

/// Strings of all processes. `sizes` are theirs.
std::vector<std::string> gather(const std::string& mine, const std::vector<std::int64_t>& sizes) {
  std::vector<int> counts;
  std::vector<int> begins;
  std::int64_t total = 0;
  for (const std::int64_t size : sizes) {
    begins.push_back(static_cast<int>(total));
    counts.push_back(static_cast<int>(size));
    total += size;
  }
  if (total > INT_MAX) {
    throw InvalidArgument(fmt::format(
        "the ranks return {} bytes in all, and {} can be gathered: return less", total, INT_MAX));
  }
  std::string all(static_cast<std::size_t>(total), '\0');
  check(MPI_Allgatherv(mine.data(), static_cast<int>(mine.size()), MPI_BYTE, all.data(),
                       counts.data(), begins.data(), MPI_BYTE, environment().lobby),
        "MPI_Allgatherv");
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    parts.push_back(
        all.substr(static_cast<std::size_t>(begins[i]), static_cast<std::size_t>(counts[i])));
  }
  return parts;
}

template <class T>
std::vector<T> gather_plain(const T& mine) {
  std::vector<T> all(static_cast<std::size_t>(environment().size));
  check(MPI_Allgather(&mine, sizeof(T), MPI_BYTE, all.data(), sizeof(T), MPI_BYTE,
                      environment().lobby),
        "MPI_Allgather");
  return all;
}

/// The process whose error is everybody's: of those that failed of their own the first, by rank.
std::size_t first_cause(const std::vector<Numbers>& all) {
  std::size_t chosen = all.size();
  for (std::size_t i = all.size(); i-- > 0;) {
    if (all[i].error_bytes == 0) continue;
    const bool better = chosen == all.size() || all[i].failed_first >= all[chosen].failed_first;
    if (better) chosen = i;
  }
  return chosen;
}

/// Where that fails, no process would ever hear of another one again.
std::exception_ptr leave(Run& run, const std::exception_ptr& error) {
  try {
    return run.leave(error);
  } catch (const MpiError& refused) {
    fmt::print(stderr, "rankbox: process {} cannot leave its run: {}\n", environment().rank,
               refused.what());
    end_all_processes();
  }
}

/// All processes hear of each other's ends.
void conclude(Run& run, double wall_seconds, std::exception_ptr error, RunReport& report) {
  const std::string mine = error == nullptr ? "" : error_to_bytes(error);
  const std::vector<Numbers> all =
      gather_plain(Numbers{wall_seconds, run.messages(), run.bytes(), run.memory().peak_bytes,
                           static_cast<std::int64_t>(mine.size()), run.failed_first() ? 1 : 0});
  for (int rank = 0; rank < run.options().world_size; ++rank) {
    const Numbers& of_rank = all[static_cast<std::size_t>(rank)];
    report.wall_seconds = std::max(report.wall_seconds, of_rank.wall_seconds);
    report.messages += of_rank.messages;
    report.bytes += of_rank.bytes;
    report.peak_bytes.push_back(of_rank.peak_bytes);
  }
  const std::size_t cause = first_cause(all);
  if (cause == all.size()) {
    if (!run.has_failed()) kept_worlds()[run.options().world_size] = run.take_world();
    return;
  }
  run.keep_handles();
  std::vector<std::int64_t> sizes;
  for (const Numbers& each : all) sizes.push_back(each.error_bytes);
  const std::vector<std::string> errors = gather(mine, sizes);
  if (static_cast<int>(cause) == environment().rank) std::rethrow_exception(error);
  std::rethrow_exception(error_from_bytes(errors[cause]));
}

/// One run at a time: MPI serves one thread, and the process is one rank.
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

}  // namespace
}  // namespace mpi

Launch launch() { return {mpi::environment().size, mpi::environment().rank}; }

std::string why_no_ranks() { return ""; }

void check_options(const RunOptions& options) {
  check_run_options(options);
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
  mpi::Run run(options, mpi::world_of(options.world_size,
                                      std::max(options.deadline_seconds, mpi::kSecondsToCome)));
  std::exception_ptr error;
  const auto begin = std::chrono::steady_clock::now();
  if (run.rank() >= 0) {
    MemoryMeter* const outer = std::exchange(current_memory_meter(), &run.memory());
    try {
      Comm dist(run, &run.world());
      body(dist);
    } catch (...) {
      error = with_rank(std::current_exception(), run.rank());
    }
    error = mpi::leave(run, error);
    current_memory_meter() = outer;
  } else {
    mpi::leave(run, nullptr);
  }
  *report = {};
  mpi::conclude(run, mpi::seconds_since(begin), error, *report);
}

std::vector<std::string> gather_from_processes(int world_size, std::string mine) {
  const std::vector<std::int64_t> sizes = mpi::gather_plain(static_cast<std::int64_t>(mine.size()));
  std::vector<std::string> all = mpi::gather(mine, sizes);
  all.resize(static_cast<std::size_t>(world_size));
  return all;
}

}  // namespace rankbox
