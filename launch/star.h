// The control connections of a world of processes: rank 0 in the middle, all others connected to it.
//
//   const auto who = rank_variables().value();
//   Star star(star_options(who));                       // returns when all ranks are there
//   std::string id = star.rank() == 0 ? make_id() : "";
//   id = star.broadcast_bytes(id);                      // now everybody has rank 0's
//   while (working()) if (star.stopped()) throw …;      // somebody died: give up
//   star.barrier();                                     // so that nobody leaves before the others
//
// It passes ids, results and bad news around, not tensors. Every collective goes through rank 0: two
// messages a rank, one round trip; rank 0's process moves the sum of what all get.
//
// **The first failure ends the world**, and all ranks are told the same one: rank 0's hub, a thread
// of its own, decides which was first and tells everybody, whatever rank 0 itself is busy with. A
// failure is
//  - a rank that ended without a word: its connection closes when its process dies, and everybody
//    knows within milliseconds; after some ten seconds if its whole machine went silent;
//  - a rank that called stop(), or whose Star went while an exception flew;
//  - a collective, or the start, at which not all ranks came in time: told with who is missing;
//  - ranks that called different collectives; two processes of the same rank; different world sizes.
// From then on stopped() is true and every call throws Aborted with that cause.
//
// Every wait has a deadline, of the caller's choice. It counts at rank 0, from the first rank that
// came, so that everybody hears the same; a rank that does not even hear from rank 0 gives up five
// seconds later by itself.
//
// The last thing that all ranks do should be a barrier: when rank 0's Star goes, the others can talk
// to nobody any more. A rank whose Star goes in good order is missed only by those who still
// wait for it.
//
// Trust: there are no secrets and no encryption, as in MPI's and NCCL's own start-up. Whoever can
// reach the port while the world gathers and speaks the protocol can join or stop it; use networks
// in which that is nobody else. Strangers that send anything else, or nothing, are cut off and
// do no harm; once all ranks are there, nobody is let in any more.
//
// Blocks: the constructor and collectives, until all ranks have come or the deadline; stop(), a
// second or two at the very most. stopped() never does.
// Thread safety: stop(), stopped() and first_failure() may be called from any thread; collectives
// from one at a time.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "launch/connection.h"
#include "launch/deadline.h"
#include "launch/failure.h"
#include "launch/hub.h"
#include "launch/roll_call.h"
#include "launch/star_options.h"

namespace rankbox::launcher {

class Star {
 public:
  /// Returns when all ranks are there.
  /// Throws Error when rank 0 cannot be reached or cannot listen, InvalidArgument when this process
  /// does not belong (another job, world size, or a rank that is taken), Aborted when others do not
  /// come or do not fit.
  explicit Star(StarOptions options);
  Star(const Star&) = delete;
  Star& operator=(const Star&) = delete;
  ~Star();

  int rank() const { return options_.rank; }
  int world_size() const { return options_.world_size; }

  // Collectives: all ranks call the same ones in the same order. Each waits for at most `seconds`,
  // by default those of the options. A rank passes at most 32 MiB, and nobody gets more than 64 MiB.
  // Throws Aborted, with the first failure; InvalidArgument for too many bytes or no time.

  /// Returns rank 0's bytes, on all ranks; what others pass is ignored.
  std::string broadcast_bytes(const std::string& bytes, std::optional<double> seconds = {});
  /// On rank 0 the bytes of all, by rank; elsewhere nothing.
  std::vector<std::string> gather_bytes(const std::string& bytes,
                                        std::optional<double> seconds = {});
  /// The bytes of all, by rank, on all ranks.
  std::vector<std::string> all_gather_bytes(const std::string& bytes,
                                            std::optional<double> seconds = {});
  void barrier(std::optional<double> seconds = {});

  /// Whether the world has failed. Some tens of ns; it looks at the socket once in a millisecond.
  bool stopped();
  std::optional<Failure> first_failure();

  /// Tells everybody that the world ends because of `rank`, or of nobody in particular (-1). The
  /// reason should be complete, with the rank and the way out. Returns when the first failure is
  /// known, which may have been another one.
  void stop(const std::string& reason, int rank);

  /// Throws Aborted, with the first failure, if stopped(). `op`: what is given up.
  void check(const std::string& op);

 private:
  std::string call(Collective collective, const std::string& bytes, std::optional<double> seconds);
  template <class Done>
  bool wait(const Deadline& deadline, Done done);
  void pump();
  void take(Message message);
  void fail(Failure failure);
  void give_up();
  [[noreturn]] void abort(const std::string& op);

  const StarOptions options_;
  const int exceptions_;      // that flew when this was made
  std::unique_ptr<Hub> hub_;  // on rank 0
  std::atomic<bool> stopped_ = false;
  std::atomic<std::int64_t> last_look_ = 0;  // when stopped() last looked

  std::mutex mutex_;                  // guards what follows
  std::unique_ptr<Connection> line_;  // to the hub
  std::optional<Failure> failure_;
  int waiting_ = 0;                     // threads in wait()
  bool started_ = false;                // all ranks are there
  bool deserted_ = false;               // rank 0 has left in good order
  std::optional<std::string> release_;  // of the collective that we wait in
  std::uint32_t sequence_ = 0;
};

}  // namespace rankbox::launcher
