// A port of the loopback device that nobody else will get.
//
// As long as this lives, the kernel gives the port to nobody who asks for just any. Who asks for
// this very one, as rank 0 does, can listen there, since both allow it (SO_REUSEADDR) and
// we do not listen.
#pragma once

#include "launch/fd.h"

namespace rankbox::launcher {

class ReservedPort {
 public:
  /// Throws Error when there is none.
  ReservedPort();

  int number() const { return number_; }

 private:
  Fd socket_;
  int number_ = 0;
};

}  // namespace rankbox::launcher
