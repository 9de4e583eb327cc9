// The one process of a launcher that prints.
#pragma once

#include <exception>

#include "comm/run_ranks.h"

namespace rankbox::cli {

/// Also returns true if a launcher's variables are invalid: other code throws that error, which
/// must be printed.
inline bool is_first_process() {
  try {
    return launch().is_first();
  } catch (const std::exception&) {
    return true;
  }
}

}  // namespace rankbox::cli
