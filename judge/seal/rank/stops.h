// Tells the referee where the function was when this process crashed, called exit() or was asked.
#pragma once

#include <exception>
#include <string>

namespace rankbox::seal {

/// Installs the handlers, which write to the socket. Call once, before the filter of system calls.
void report_stops_to(int socket);

/// Sets the learner's library: the one that holds this address.
void set_function(const void* address);

/// Returns where this thread last threw, as a line of judge/stop_report.h; empty if it threw
/// nothing out of the library.
std::string line_of_throw();

}  // namespace rankbox::seal
