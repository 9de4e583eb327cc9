// Start a world of ranks, run a function on each, and join them.
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
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "comm/comm.h"
#include "comm/run_options.h"

namespace rankbox {

/// Throws InvalidArgument for a world that cannot be. Implemented by the backend.
void check_options(const RunOptions& options);

/// Runs `body` on every rank and returns when the last has ended. Implemented by the backend.
RunReport run_world(const RunOptions& options, const std::function<void(Comm&)>& body);

/// As run_world, but keeps the report also when the run fails: `report`, unless it is null, is
/// filled before the error is thrown.
void run_world(const RunOptions& options, const std::function<void(Comm&)>& body,
               RunReport* report);

template <class R>
struct RunResult {
  std::vector<R> results;  // [rank]
  RunReport report;
};

/// Calls fn(Comm&) on every rank. Blocks until all have ended.
///
/// Cost: one thread per rank is started and joined, which takes some tens of µs each. Every call of
/// every rank leaves an event of 64 bytes, and all of them are replayed once the ranks have ended,
/// which takes about as long as recording them did: RunOptions::trace turns both off.
///
/// Errors: the first failure of any rank, rethrown here once all ranks have stopped: Rankbox errors
/// as they are, any other exception nested in RankFailed, which names the rank. InvalidArgument for
/// a world that cannot be (size < 1, more nodes than ranks, more ranks than the machine can start).
/// Thread safety: may be called from several threads at once; ranks may themselves start worlds.
template <class Fn>
auto run_ranks(const RunOptions& options, Fn&& fn) {
  using R = std::invoke_result_t<Fn&, Comm&>;
  if constexpr (std::is_void_v<R>) {
    RunResult<std::monostate> run;
    run.report = run_world(options, [&fn](Comm& dist) { fn(dist); });
    run.results.resize(static_cast<std::size_t>(options.world_size));
    return run;
  } else {
    // One optional per rank: R need not have a default, and vector<bool> would
    // share bytes between ranks.
    check_options(options);  // before anything is made as large as the world
    std::vector<std::optional<R>> slots(static_cast<std::size_t>(options.world_size));
    RunResult<R> run;
    run.report = run_world(options, [&](Comm& dist) {
      slots[static_cast<std::size_t>(dist.rank())].emplace(fn(dist));
    });
    run.results.reserve(slots.size());
    for (std::optional<R>& slot : slots) run.results.push_back(std::move(*slot));
    return run;
  }
}

}  // namespace rankbox
