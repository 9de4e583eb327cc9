// Runs with the executor that main() has selected (tests/support/executors.h).
#pragma once

#include <utility>

#include "comm/run_ranks.h"
#include "tests/support/executors.h"

namespace rankbox::testing {

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
