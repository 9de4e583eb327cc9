// The thread-local state of a rank, saved and restored at each fiber switch.
//
// It consists of all thread_local variables that live across a call which may wait:
//   current_rank()          the calling rank (world.cc)
//   current_memory_meter()  the meter for new tensors (storage.cc)
//   C++'s own exceptions    those being handled and in flight: a rank may send in a catch block, or
//                           in a destructor while its stack is unwound
// The scratch vectors of collective_kernels.cc are filled and used without a wait in between. errno
// is not saved: no call of a communicator promises to preserve it.
#pragma once

#include <cxxabi.h>

#include "comm/memory_meter.h"
#include "sim/rank_state.h"

namespace rankbox::sim {

class FiberLocals {
 public:
  /// A rank's values of them; initially those before the rank begins.
  struct Values {
    RankState* rank = nullptr;
    MemoryMeter* meter = nullptr;
    // The beginning of __cxa_eh_globals, as defined by the Itanium C++ ABI.
    struct Exceptions {
      void* caught = nullptr;
      unsigned uncaught = 0;
    } exceptions;
  };

  /// Refers to the variables of the calling thread, which must make all calls.
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
