// What standard output can show.
#pragma once

namespace rankbox::cli {

/// Whether to write ANSI colours: it is a terminal, and NO_COLOR (no-color.org) is not set.
bool use_colour();

/// Columns; 80 where it is no terminal.
int terminal_width();

}  // namespace rankbox::cli
