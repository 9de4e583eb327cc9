// What ranks print: whole lines, each with its rank, as soon as they end.
//
//   [rank 2] step 7: loss 0.31
//
// Ranks of one process share its streams, so their lines would mix in the middle. Here each rank
// has a line under way, for printf, fmt::print and std::cout alike, on standard output and on
// standard error. A line ends with '\n' or '\r', or is 64 KiB long. Threads that are no rank's
// print without a rank. Output to file descriptors is unchanged, and wide characters are lost.
#pragma once

namespace rankbox::cli {

/// Takes over stdout, stderr, std::cout, std::cerr and std::clog. Call once, before ranks start.
void begin_rank_output();

/// Writes the lines that have not ended, and restores the streams. Further calls do nothing. Thread
/// safety: any thread; others may still print.
void end_rank_output();

/// Writes the lines that have not ended, where the process is about to end. Safe in a signal
/// handler: leaves out a stream that another thread prints to.
void write_unfinished_lines();

}  // namespace rankbox::cli
