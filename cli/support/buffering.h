// The buffering mode on the command line: "rendezvous", "eager:64K", "unbounded".
#pragma once

#include <string>

#include "comm/run_options.h"

namespace rankbox::cli {

/// Throws InvalidArgument, which lists the choices.
Buffering parse_buffering(const std::string& text);

}  // namespace rankbox::cli
