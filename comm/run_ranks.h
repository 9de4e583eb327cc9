// Starts a world of ranks, runs a function on each, and joins them.
//
// Ranks are threads of this process or, where a launcher started several processes (mpirun,
// torchrun, srun), one rank per process: then every process calls run_ranks, with the same options,
// and every process gets all results.
//
//   auto [sums, report] = run_ranks({.world_size = 4}, [](Comm& dist) {
//     Tensor tensor = full({1024}, static_cast<float>(dist.rank()));
//     allreduce_ring(dist, tensor, ReduceOp::SUM);
//     return to_host(tensor);
//   });
//   // sums[r] is what rank r returned; report.cost is {6 steps, 6144 bytes, 3072 reduced}
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "comm/comm.h"
#include "comm/result_bytes.h"
#include "comm/run_options.h"

namespace rankbox {

/// How this process was started.
struct Launch {
  int processes = 0;  // launched together; 0: none were, and ranks are threads of this one
  int process = 0;    // the index of this process
  /// Only one process prints and writes files.
  bool is_first() const { return process == 0; }
};

/// The backend implements this and all that follows.
Launch launch();

/// Returns why no rank can run on this machine ("there is no GPU …"), in one line; empty if ranks
/// can run.
std::string why_no_ranks();

/// Throws InvalidArgument for a world that cannot be run.
void check_options(const RunOptions& options);

/// Runs `body` on every rank, or on this process's rank if it has one, and returns when the last
/// rank has ended. Throws as run_ranks does, after filling `report`.
void run_world(const RunOptions& options, const std::function<void(Comm&)>& body,
               RunReport* report);

inline RunReport run_world(const RunOptions& options, const std::function<void(Comm&)>& body) {
  RunReport report;
  rankbox::run_world(options, body, &report);
  return report;
}

/// All processes call this after a run. Returns each rank's bytes, by rank.
std::vector<std::string> gather_from_processes(int world_size, std::string mine);

template <class R>
struct RunResult {
  std::vector<R> results;  // [rank]
  RunReport report;
};

/// Fills the slots of ranks in other processes.
template <class R>
void exchange(std::vector<std::optional<R>>& slots) {
  if constexpr (Portable<R>) {
    const int me = launch().process;
    const bool has_one = me < static_cast<int>(slots.size());
    const std::vector<std::string> all = gather_from_processes(
        static_cast<int>(slots.size()),
        has_one ? to_bytes(*slots[static_cast<std::size_t>(me)]) : std::string());
    for (std::size_t rank = 0; rank < slots.size(); ++rank) slots[rank] = from_bytes<R>(all[rank]);
  } else {
    throw InvalidArgument(
        "results of this type do not travel from process to process: return numbers, strings or "
        "vectors of them (see comm/result_bytes.h)");
  }
}

/// Calls fn(Comm&) on every rank. Blocks until all have ended.
///
/// Cost: one thread per rank is started and joined, which takes some tens of µs each. Every call of
/// every rank records an event of 64 bytes. After the run all events are replayed, which takes
/// about as long as recording them. RunOptions::trace turns both off.
///
/// Errors: the first failure of any rank, rethrown here once all ranks have stopped: Rankbox errors
/// as they are, any other exception nested in RankFailed, which names the rank. InvalidArgument for
/// a world that cannot be run (size < 1, more nodes than ranks, more ranks than the machine can
/// start, or than there are processes).
/// Under MPI a failed run does not return: one process reports the first cause and what each rank
/// did last (comm/run_failure.h), and all processes end. A program of one process throws.
/// Processes: results must be Portable (comm/result_bytes.h), else InvalidArgument. If more
/// processes were launched than the world has ranks, the rest run nothing.
/// Thread safety: several threads may call it at once, and ranks may start worlds themselves,
/// except where ranks are processes.
template <class Fn>
auto run_ranks(const RunOptions& options, Fn&& fn) {
  using R = std::invoke_result_t<Fn&, Comm&>;
  if constexpr (std::is_void_v<R>) {
    RunResult<std::monostate> run;
    run.report = run_world(options, [&fn](Comm& dist) { fn(dist); });
    run.results.resize(static_cast<std::size_t>(options.world_size));
    return run;
  } else {
    // One optional per rank: R need not have a default constructor, and vector<bool> would share
    // bytes between ranks.
    check_options(options);  // before anything as large as the world is allocated
    std::vector<std::optional<R>> slots(static_cast<std::size_t>(options.world_size));
    RunResult<R> run;
    run.report = run_world(options, [&](Comm& dist) {
      slots[static_cast<std::size_t>(dist.rank())].emplace(fn(dist));
    });
    if (launch().processes > 0) exchange(slots);
    run.results.reserve(slots.size());
    for (std::optional<R>& slot : slots) run.results.push_back(std::move(*slot));
    return run;
  }
}

}  // namespace rankbox
