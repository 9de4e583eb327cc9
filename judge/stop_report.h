// Reports where a learner's function was when its process stopped.
//
// A signal, a call of exit(), or a supervisor's request (SIGUSR1) is one line:
//
//   stopped signal 11 rank 2 at 11a9 1203
//   stopped exit 0 rank 2 at 11a9 1203
//   stopped asked 10 rank 2 at 11a9 1203
//
// The innermost address in the learner's library comes first. Addresses are offsets into the
// library; cli/plugin/library_info.h turns them into lines. Also records where each rank last threw
// an exception.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rankbox {

/// Installs the handlers. Call once, early. Until set_library, there are no addresses.
/// @param write sends a line to the supervisor. It runs in signal handlers: no allocation, no locks
void report_stops(void (*write)(std::string_view line));

/// Sets the learner's library: the one that holds this address.
void set_library(const void* address);

/// Returns where this rank last threw: "11a9 1203"; empty if it threw nothing out of the library.
std::string last_throw_of(int rank);

/// Returns the offset of the call before this return address, as callers are reported: "11a9".
/// Empty if the address is in no library.
std::string offset_of(const void* code);

/// Call before the project itself exits: later calls of exit() are not reported.
void done_reporting();

/// One such line.
struct Stop {
  std::string how;        // "signal", "exit", "asked", or "throw": an exception left the function
  int number = 0;         // the signal or exit code
  int rank = -1;          // -1: no rank's thread
  std::string addresses;  // as hexadecimal_words() returns them
};

/// Parses a line, without its end. A learner's process can write what it likes: returns nothing for
/// what is no such line.
std::optional<Stop> parse_stop(std::string_view text);

/// Returns the first words that are hexadecimal numbers, at most 16: they become arguments of a
/// program.
std::string hexadecimal_words(std::string_view text);

/// Returns the likely cause of a signal that ended a process.
std::string signal_in_words(int signal);

/// Returns how a stop ended a process: signal_in_words, or the call of exit().
std::string in_words(const Stop& stop);

}  // namespace rankbox
