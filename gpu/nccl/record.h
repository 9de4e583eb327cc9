// A rank's recent calls on NCCL, for the post-mortem of a failed run (comm/flight_recorder.h).
//
// A call is recorded when it begins, and again when it is on a stream. Which calls have finished is
// queried only when the rank ends, before its communicators are aborted.
//
// Thread safety: only the rank's thread may use it.
#pragma once

#include <array>
#include <cstdint>

#include "comm/call_checks.h"
#include "comm/collective_call.h"
#include "comm/flight_recorder.h"
#include "gpu/nccl/launches.h"

namespace rankbox::gpu {

struct NcclMember;
struct NcclMessage;

class NcclRecord {
 public:
  explicit NcclRecord(int rank) : recorder_(rank) { log_.rank = rank; }

  /// @param made the split that made it
  void add_group(const NcclMember& member, Place made);
  void set_returned() { recorder_.set_returned(); }
  /// While off, begin() only counts calls, as ranks must count them alike.
  void set_on(bool on) { on_ = on; }

  /// Each records a call that begins, and returns its number.
  std::uint64_t begin(const Caller& caller, NcclMember& member, const NcclMessage& message);
  std::uint64_t begin(const Caller& caller, NcclMember& member, const CollectiveCall& call,
                      bool async = false);
  std::uint64_t begin_wait(const Caller& caller, FlightCall waited_for);
  /// Records a call that concerns all operations of the rank.
  std::uint64_t begin_local(const Caller& caller);
  /// Returns the call recorded last.
  const FlightCall& latest() const { return latest_; }

  /// Records that the call is on a stream.
  void launched(std::uint64_t number, std::uint64_t launch);
  void done(std::uint64_t number) { recorder_.set_state(number, FlightState::kDone); }

  /// Ends the rank's record: queries what has finished, and creates the log. Later calls do
  /// nothing.
  void close(NcclLaunches& launches) noexcept;
  const FlightLog& log() const { return log_; }

 private:
  std::uint64_t begin(const Caller& caller, const FlightCall& call);

  FlightRecorder recorder_;
  std::array<std::uint64_t, FlightRecorder::kSize> launches_{};  // by slot; 0: none
  FlightCall latest_;
  FlightLog log_;
  bool on_ = true;
  bool closed_ = false;
};

}  // namespace rankbox::gpu
