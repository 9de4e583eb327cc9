// Runs a program that may fail, and tells how every rank ended.
//
// doctest's assertions belong to the main thread: ranks note what they saw, and the test looks at
// it afterwards.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "comm/errors.h"
#include "comm/run_ranks.h"

namespace rankbox::testing {

struct Observation {
  std::exception_ptr thrown;              // by run_world; null: the run passed
  std::vector<std::exception_ptr> ranks;  // [rank] what its function threw; null: it returned
  RunReport report;
};

inline Observation observe(const RunOptions& options, const std::function<void(Comm&)>& body) {
  Observation seen;
  seen.ranks.resize(options.world_size > 0 ? static_cast<std::size_t>(options.world_size) : 0);
  try {
    run_world(
        options,
        [&](Comm& dist) {
          try {
            body(dist);
          } catch (...) {
            seen.ranks[static_cast<std::size_t>(dist.rank())] = std::current_exception();
            throw;
          }
        },
        &seen.report);
  } catch (...) {
    seen.thrown = std::current_exception();
  }
  return seen;
}

/// The error as an E, if it is one.
template <class E>
std::optional<E> error_as(const std::exception_ptr& error) {
  if (error == nullptr) return std::nullopt;
  try {
    std::rethrow_exception(error);
  } catch (const E& match) {
    return match;
  } catch (...) {
    return std::nullopt;
  }
}

/// The error's message; "nothing was thrown" for null.
inline std::string what_of(const std::exception_ptr& error) {
  if (error == nullptr) return "nothing was thrown";
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& match) {
    return match.what();
  } catch (...) {
    return "not a std::exception";
  }
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Whether a path ends in this file name.
inline bool is_file(const std::string& path, const std::string& name) {
  return path.size() >= name.size() &&
         path.compare(path.size() - name.size(), name.size(), name) == 0;
}

}  // namespace rankbox::testing
