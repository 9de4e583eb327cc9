// Of the processes that a launcher started, the one that prints.
#pragma once

#include <exception>

#include "comm/run_ranks.h"

namespace rankbox::cli {

/// True as well where a launcher's variables make no sense: the error is thrown elsewhere, and is to
/// be printed.
inline bool is_first_process() {
  try {
    return launch().is_first();
  } catch (const std::exception&) {
    return true;
  }
}

}  // namespace rankbox::cli
