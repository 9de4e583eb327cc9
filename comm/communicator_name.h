// A communicator in error messages, which name ranks of the world.
#pragma once

#include <span>
#include <string>

namespace rankbox {

/// Returns "the communicator split at ring.cc:7", or "the communicator of ranks 0, 2" if no line
/// of the program made it.
/// @param members world ranks
/// @param line 0: none
std::string communicator_name(std::span<const int> members, const char* file, int line);

/// Returns " (ranks 1 and 0 of the communicator split at ring.cc:7)": two world ranks, by their
/// numbers in it.
std::string ranks_in_communicator(std::span<const int> members, const std::string& name,
                                  int world_rank, int peer);

}  // namespace rankbox
