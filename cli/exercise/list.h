// What `rankbox` prints without arguments: chapters, progress, and what is next.
#pragma once

#include <string>

namespace rankbox::cli {

/// Prints chapters, progress and the next exercise.
void print_overview();

/// Prints the exercise to do next: its page, header, file and command.
void print_next();

/// Returns "[█████░░░░░░░] 11 of 27".
std::string progress_bar();

}  // namespace rankbox::cli
