// What a thread keeps of the rank that runs on it, and every fiber must find as it left it.
//
// These are all thread_local variables that live across a call which may wait:
//   current_rank()          whose call this is (world.cc)
//   current_memory_meter()  whose tensors are made (storage.cc)
//   C++'s own exceptions    those being handled and in flight: a rank may send in a catch block, or
//                           in a destructor while its stack is unwound
// The scratch vectors of collective_kernels.cc are filled and used without a wait in between. errno
// is not kept: no call of a communicator promises to leave it alone.
#pragma once

#include <cxxabi.h>

#include "comm/memory_meter.h"
#include "sim/rank_state.h"

namespace rankbox::sim {

class FiberLocals {
 public:
  /// A rank's share of them, as it is before the rank begins.
  struct Values {
    RankState* rank = nullptr;
    MemoryMeter* meter = nullptr;
    // The beginning of __cxa_eh_globals, which the Itanium C++ ABI lays down.
    struct Exceptions {
      void* caught = nullptr;
      unsigned uncaught = 0;
    } exceptions;
  };

  /// Those of the calling thread, which has to make all calls.
  FiberLocals()
      : rank_(current_rank()),
        meter_(current_memory_meter()),
        exceptions_(*reinterpret_cast<Values::Exceptions*>(abi::__cxa_get_globals())) {}

  Values save() const { return {rank_, meter_, exceptions_}; }
  void restore(const Values& values) const {
    rank_ = values.rank;
    meter_ = values.meter;
    exceptions_ = values.exceptions;
  }

 private:
  RankState*& rank_;
  MemoryMeter*& meter_;
  Values::Exceptions& exceptions_;
};

}  // namespace rankbox::sim
