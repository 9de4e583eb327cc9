// Runs a program that may fail, and returns every rank's outcome, on any backend. Where ranks are
// processes, each process gets the outcomes of all.
//
// doctest's assertions belong to the main thread: ranks record their observations, and the test
// checks them afterwards. All processes see the same, and so decide the same.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include "comm/error_bytes.h"
#include "comm/errors.h"
#include "comm/run_ranks.h"
#include "tests/backends/differences.h"
#include "tests/support/thrown.h"

namespace rankbox::testing {

struct Observation {
  std::exception_ptr thrown;  // by run_world; null: the run passed
  // [rank] its error, from its function or from the wait at its end; null: it returned
  std::vector<std::exception_ptr> ranks;
  std::vector<std::string> notes;  // [rank] its note
  RunReport report;
};

/// One rank's outcome, in serializable form.
struct Account {
  bool failed = false;
  std::string error;
  std::string note;
};
inline auto fields_of(Account& account) {
  return std::tie(account.failed, account.error, account.note);
}

/// @param body may record a note about its rank, usually a line of this source
inline Observation observe(const RunOptions& options,
                           const std::function<void(Comm&, std::string& note)>& body) {
  std::vector<Account> accounts(static_cast<std::size_t>(options.world_size));
  Observation seen;
  try {
    run_world(
        options,
        [&](Comm& dist) {
          Account& account = accounts[static_cast<std::size_t>(dist.rank())];
          try {
            body(dist, account.note);
            hear_of_all_calls(options.world_size);
          } catch (...) {
            account.failed = true;
            account.error = error_to_bytes(std::current_exception());
            throw;
          }
        },
        &seen.report);
  } catch (...) {
    seen.thrown = std::current_exception();
  }
  if (const Launch here = launch(); here.processes > 0) {
    const auto me = static_cast<std::size_t>(here.process);
    const std::vector<std::string> all = gather_from_processes(
        options.world_size, to_bytes(me < accounts.size() ? accounts[me] : Account()));
    for (std::size_t rank = 0; rank < accounts.size(); ++rank)
      accounts[rank] = from_bytes<Account>(all[rank]);
  }
  for (const Account& account : accounts) {
    seen.ranks.push_back(account.failed ? error_from_bytes(account.error) : nullptr);
    seen.notes.push_back(account.note);
  }
  return seen;
}

inline Observation observe(const RunOptions& options, const std::function<void(Comm&)>& body) {
  return observe(options, [&](Comm& dist, std::string&) { body(dist); });
}

/// Returns the error that ended the run. Ends the test case unless it is an E.
template <class E>
E require_error(const Observation& seen) {
  const std::optional<E> error = error_as<E>(seen.thrown);
  REQUIRE_MESSAGE(error.has_value(), "the run ended otherwise: ", what_of(seen.thrown));
  return *error;
}

/// Returns the rank function's exception. Ends the test case unless it is an E.
template <class E>
E require_error(const Observation& seen, int rank) {
  const std::exception_ptr& thrown = seen.ranks.at(static_cast<std::size_t>(rank));
  const std::optional<E> error = error_as<E>(thrown);
  REQUIRE_MESSAGE(error.has_value(), "rank ", rank, " ended otherwise: ", what_of(thrown));
  return *error;
}

template <class E>
bool ended_as(const Observation& seen) {
  return error_as<E>(seen.thrown).has_value();
}

template <class E>
bool ended_as(const Observation& seen, int rank) {
  return error_as<E>(seen.ranks.at(static_cast<std::size_t>(rank))).has_value();
}

/// Returns the line that the rank recorded.
inline int line_of(const Observation& seen, int rank) {
  const std::string& note = seen.notes.at(static_cast<std::size_t>(rank));
  return note.empty() ? 0 : std::stoi(note);
}

}  // namespace rankbox::testing
