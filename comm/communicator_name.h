// A communicator in error messages, which name ranks of the world.
#pragma once

#include <span>
#include <string>

namespace rankbox {

/// Returns "the communicator split at ring.cc:7, of world ranks 0 and 2", or "the communicator of
/// world ranks 0 and 2" if no line of the program made it. A line may make several, of other ranks
/// or one after another: "split at ring.cc:7 the 2nd time".
/// @param members world ranks
/// @param line 0: none
/// @param number of those that this line made of these ranks, from 1
std::string communicator_name(std::span<const int> members, const char* file, int line, int number);

/// Returns " (ranks 1 and 0 of the communicator split at ring.cc:7, of world ranks 0 and 2)": two
/// world ranks, by their numbers in it.
std::string ranks_in_communicator(std::span<const int> members, const std::string& name,
                                  int world_rank, int peer);

}  // namespace rankbox
