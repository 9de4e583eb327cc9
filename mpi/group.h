// A communicator's part on this process: who is in it, MPI's handles, and how many messages went
// each way.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <mpi.h>

namespace rankbox::mpi {

class Collective;

struct Group {
  int id = 0;                           // the same on all members, in the order of making
  int index = -1;                       // of this rank among them
  std::vector<int> members;             // their ranks in the world
  MPI_Comm messages = MPI_COMM_NULL;    // messages, and the native collectives themselves
  MPI_Comm agreements = MPI_COMM_NULL;  // what is said before those
  std::vector<std::uint32_t> sent;      // [index] messages started to that rank
  std::vector<std::uint32_t> received;  // [index] receives started from it
  int splits = 0;                       // made of this one
  std::deque<std::shared_ptr<Collective>> collectives;  // begun and not done, in order

  int size() const { return static_cast<int>(members.size()); }
  int world_rank(int of) const { return members[static_cast<std::size_t>(of)]; }
};

}  // namespace rankbox::mpi
