// Calls that are no part of a run's trace, and so cost no virtual time.
//
// A program makes some things once and uses them for many calls, communicators above all. Where one
// call is judged or priced, what it was given is not its cost.
//
// Thread safety: on the rank's own thread.
#pragma once

namespace rankbox {

/// While one lives, this rank's calls are not recorded. Does nothing on backends without a trace.
///
/// REQUIRES: all ranks leave out the same collectives, and both ends of a message. What is started
/// while one lives is waited for before it ends, and nothing else is. They do not nest.
template <class Communicator>
class Unrecorded {
 public:
  explicit Unrecorded(Communicator& dist) : dist_(dist) { set_recording(false); }
  ~Unrecorded() { set_recording(true); }
  Unrecorded(const Unrecorded&) = delete;
  Unrecorded& operator=(const Unrecorded&) = delete;

 private:
  void set_recording(bool on) {
    if constexpr (requires { dist_.backend().set_recording(on); })
      dist_.backend().set_recording(on);
  }

  Communicator& dist_;
};

}  // namespace rankbox
