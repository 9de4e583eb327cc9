#include "sim/call.h"

#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "sim/world.h"

namespace rankbox::sim {
namespace {

void pause_at_random(RankState& rank) {
  // Mostly nothing, often a chance for others to run, sometimes a sleep long enough for them to
  // park.
  const auto dice = rank.shaker() % 64;
  if (dice == 0) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  } else if (dice < 16) {
    std::this_thread::yield();
  }
}

void let_faults_happen(const Caller& caller, RankState& rank) {
  for (const Fault& fault : rank.world->options().faults) {
    if (fault.rank != rank.rank || fault.operation != rank.operations) continue;
    if (fault.kind == Fault::Kind::kDelay) {
      std::this_thread::sleep_for(std::chrono::duration<double>(fault.seconds));
    } else {
      throw Error(fmt::format("rank {} crashes as planned before its operation {} ({} at {}:{})",
                              rank.rank, fault.operation, caller.operation,
                              caller.place.file_name(), caller.place.line()),
                  caller.context());
    }
  }
}

}  // namespace

void begin_call(const Caller& caller, RankState& rank) {
  check_member(caller);
  const RunOptions& options = rank.world->options();
  if (!options.faults.empty()) [[unlikely]] {
    let_faults_happen(caller, rank);
  }
  if (options.seed != 0) [[unlikely]] {
    pause_at_random(rank);
  }
  ++rank.operations;
}

void check_outcome(const Caller& caller, const Operation& operation) {
  if (operation.outcome == Outcome::kOk) [[likely]]
    return;
  if (operation.outcome == Outcome::kStopped) {
    caller.rank->world->throw_stopped(*caller.rank, caller.operation, caller.place);
  }
  const bool collective = operation.kind == OperationKind::kCollective;
  if (collective) throw CollectiveMismatch(operation.mismatch, caller.context());
  throw MessageMismatch(operation.mismatch, caller.context(operation.peer));
}

}  // namespace rankbox::sim
