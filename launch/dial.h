// One try to reach rank 0.
#pragma once

#include <string>

#include "launch/deadline.h"
#include "launch/fd.h"

namespace rankbox::launcher {

struct Dialled {
  Fd socket;            // not open: nobody could be reached
  std::string problem;  // then this is why: "Connection refused", …
};

/// Tries all addresses of the host, in the resolver's order, each for some seconds at most and none
/// beyond the deadline.
Dialled dial(const std::string& host, int port, const Deadline& deadline);

}  // namespace rankbox::launcher
