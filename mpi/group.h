// A communicator on this process: its members, MPI's handle, and call counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <mpi.h>

namespace rankbox::mpi {

struct Group {
  std::uint64_t id = 0;  // the same on all members; 0 for the world
  int index = -1;        // of this rank among the members
  std::vector<int> members;
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<std::uint32_t> sent;      // [index] messages started to that rank
  std::vector<std::uint32_t> received;  // [index] receives started from it
  std::uint64_t collectives = 0;        // started
  std::uint64_t calls_hash = 0;         // of their arguments: the same on all members

  int size() const { return static_cast<int>(members.size()); }
  int world_rank(int of) const { return members[static_cast<std::size_t>(of)]; }
};

}  // namespace rankbox::mpi
