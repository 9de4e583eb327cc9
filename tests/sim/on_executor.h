// Runs a test once with every executor; main.cc selects them.
#pragma once

#include <utility>

#include "comm/run_ranks.h"

namespace rankbox::testing {

/// The selected executor. Changes only between two runs of all test cases.
inline ExecutorKind current_executor = ExecutorKind::kThreads;

// Inside this namespace, these hide rankbox's functions of the same names. They are objects:
// functions would be overloads of rankbox's.

struct RunRanks {
  template <class Fn>
  auto operator()(RunOptions options, Fn&& fn) const {
    options.executor = current_executor;
    return rankbox::run_ranks(options, std::forward<Fn>(fn));
  }
};
inline constexpr RunRanks run_ranks;

struct RunWorld {
  RunReport operator()(RunOptions options, const std::function<void(Comm&)>& body) const {
    options.executor = current_executor;
    return rankbox::run_world(options, body);
  }
  void operator()(RunOptions options, const std::function<void(Comm&)>& body,
                  RunReport* report) const {
    options.executor = current_executor;
    rankbox::run_world(options, body, report);
  }
};
inline constexpr RunWorld run_world;

}  // namespace rankbox::testing
