// Ctrl-C: the first requests a stop, the second ends the process.
//
//   StopSignal stop;                 // while it lives
//   if (StopSignal::received() != 0) …
//
// The same holds for SIGTERM, SIGHUP and SIGUSR1, which mpirun forwards without killing any
// process; a second signal ends the process in the usual way. SIGPIPE, too, requests a stop,
// without a notice and any number of times. Not nested; for the main thread. Any
// thread may call received().
#pragma once

namespace rankbox::train {

class StopSignal {
 public:
  /// @param notice written to stderr when a signal arrives; must outlive this
  explicit StopSignal(const char* notice = "");
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;
  ~StopSignal();

  /// Returns the signal's number; 0: none has arrived.
  static int received();
};

}  // namespace rankbox::train
