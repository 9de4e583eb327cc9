// What standard output can show.
#pragma once

namespace rankbox::cli {

/// Whether to write ANSI colours: it is a terminal, and NO_COLOR (no-color.org) is not set.
bool use_colour();

/// Whether a user can answer questions: standard input and output are a terminal.
bool is_interactive();

/// Whether the terminal is set up for UTF-8, by the variables that decide it, in their order.
bool has_utf8();

/// Columns; 80 where it is no terminal.
int terminal_width();

}  // namespace rankbox::cli
