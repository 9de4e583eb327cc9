// The capabilities of the terminal.
#pragma once

namespace rankbox::cli {

/// Returns whether to write ANSI colours: standard output is a terminal, and NO_COLOR
/// (no-color.org) is not set.
bool use_colour();

/// Returns whether a user can answer questions: standard input and output are a terminal.
bool is_interactive();

/// Returns whether the terminal is set up for UTF-8, by the variables that decide it, in their
/// order.
bool has_utf8();

/// Returns whether standard output is a pipe that no process reads any more, as after `| head -1`,
/// or is closed. Costs a system call.
bool output_is_closed();

/// If it is, ends the process as a write would: by SIGPIPE. Throws std::runtime_error where that is
/// ignored. For long work between prints.
void end_if_output_is_closed();

/// Returns the columns that text is to fit into: $COLUMNS if it is set to a number from 20, else
/// the terminal's; 0 if standard output is no terminal.
int known_width();

/// As known_width(); 80 where that is 0.
int terminal_width();

}  // namespace rankbox::cli
