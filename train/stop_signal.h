// Ctrl-C, once: please stop. Twice: now.
//
//   StopSignal stop;                 // while it lives
//   if (StopSignal::received() != 0) …
//
// So do SIGTERM, SIGHUP and SIGUSR1, the one that mpirun passes on without killing anybody; whichever
// comes again ends the process as it always does. Not nested; for the main thread. received() may be
// called by any thread.
#pragma once

namespace rankbox::train {

class StopSignal {
 public:
  /// @param notice written to stderr as soon as one comes; must outlive this
  explicit StopSignal(const char* notice = "");
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;
  ~StopSignal();

  /// The signal's number; 0: none has come.
  static int received();
};

}  // namespace rankbox::train
