// How a rank other than 0 joins its world.
#pragma once

#include <memory>

#include "launch/connection.h"
#include "launch/deadline.h"
#include "launch/hello.h"
#include "launch/star_options.h"

namespace rankbox::launcher {

/// Connects to rank 0, as often as it takes, and is welcomed. Blocks until then, or the deadline.
/// Throws Error when rank 0 cannot be reached in time, InvalidArgument when it refuses us, and
/// Aborted when its world has failed already.
std::unique_ptr<Connection> meet(const StarOptions& options, const Hello& mine,
                                 const Deadline& deadline);

}  // namespace rankbox::launcher
