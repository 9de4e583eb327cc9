// The memory of the ranks' processes, as the kernel counts it.
//
// It is all that a process has mapped, in whatever way: heap, stacks, variables of libraries,
// mmap(), shared or private, of any thread. The referee reads the number while the process waits
// for a reply. It believes nothing that the process says: the kernel tells which process sent the
// first message, before the learner's library was loaded.
//
// Thread safety: watch_memory and count_memory_of_ranks before ranks run; the others from any
// thread.
#pragma once

#include <cstdint>

namespace rankbox::seal {

/// What is not counted: pages that are half full, the heap's free memory, the library's own code.
inline constexpr std::int64_t kUncountedBytes = std::int64_t{1} << 20;

/// Finds the process of the next rank by its first message. What the process has mapped by then is
/// not counted later. Blocks until the message is there, and leaves it there. Throws
/// ConnectionLost; Error if this system does not show the memory of a process. REQUIRES:
/// counts_memory(), and SO_PASSCRED was set before the message was sent.
void watch_memory(int socket);

/// Returns whether the memory of ranks is counted.
bool counts_memory();

/// Returns the bytes that the rank's process holds now, besides kUncountedBytes and arguments of
/// `given` bytes; never less than 0.
std::int64_t bytes_held_by(int rank, std::int64_t given);

}  // namespace rankbox::seal
