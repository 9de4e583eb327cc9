// Comm in a rank process.
//
// It is the class that a learner's file is compiled against, sim::Backend: this program has another
// implementation of it, and is not linked with the sandbox. Every call is a request to the referee.
#pragma once

#include <cstdint>

#include "comm/comm.h"
#include "comm/memory_meter.h"
#include "comm/result_bytes.h"

namespace rankbox::sim {

/// This process's rank.
struct RankState {
  MemoryMeter memory;
  int rank = -1;
  int node = 0;
  int local_rank = 0;
  bool has_waited = false;  // in this wait_all
};

/// A communicator of the referee.
class Group {
 public:
  Group(std::uint32_t number, int size) : number_(number), size_(size) {}
  std::uint32_t number() const { return number_; }
  int size() const { return size_; }

 private:
  std::uint32_t number_;
  int size_;
};

}  // namespace rankbox::sim

namespace rankbox::seal {

/// Begins a new case. Communicators of the case before must not be used any more.
/// @param owner as in MemoryMeter
void begin_case(std::uint64_t owner, int node, int local_rank);

/// Returns a communicator that is an argument of a call: its number, this rank in it, its size.
Comm next_communicator(ByteReader& reader);

}  // namespace rankbox::seal
