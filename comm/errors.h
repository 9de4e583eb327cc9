// Exceptions that name the failed rank, the operation, its place, and the fix.
//
// Every error carries the rank, the operation, the peer, and the learner's source line as data, so
// that a verdict does not depend on the message text.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "comm/hint.h"
#include "comm/place.h"

namespace rankbox {

/// The rank, operation, peer and place of an error. A rank or peer of -1 means "none"; an empty
/// file means "unknown".
struct ErrorContext {
  int rank = -1;
  std::string op;
  int peer = -1;
  std::string file;
  int line = 0;
};

/// The base of all Rankbox errors. what() is complete: it includes the context in words.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, ErrorContext context = {})
      : std::runtime_error(message), context_(std::move(context)) {}

  const ErrorContext& context() const { return context_; }
  int rank() const { return context_.rank; }
  const std::string& op() const { return context_.op; }
  int peer() const { return context_.peer; }
  const std::string& file() const { return context_.file; }
  int line() const { return context_.line; }

  /// Sets the rank, for errors thrown where it was not known.
  void attribute_to(int rank) { context_.rank = rank; }

 protected:
  void move_to(ErrorContext context) { context_ = std::move(context); }

 private:
  ErrorContext context_;
};

/// An invalid argument: a rank outside the world, a null slice, a world of size 0, …
class InvalidArgument : public Error {
  using Error::Error;
};

/// A tensor with more elements than memory can hold.
class OutOfMemory : public InvalidArgument {
  using InvalidArgument::InvalidArgument;
};

/// An unimplemented exercise stub.
class NotImplemented : public Error {
 public:
  explicit NotImplemented(const std::string& function, Place place = Place::current())
      : Error(function + " is not implemented yet: " + place.file_name() + ":" +
                  std::to_string(place.line()),
              {-1, function, -1, place.file_name(), static_cast<int>(place.line())}) {}
  /// Recreates the error of another process.
  NotImplemented(const std::string& message, ErrorContext context)
      : Error(message, std::move(context)) {}
};

/// Another rank failed first and the world stopped; this rank is not the cause.
class Aborted : public Error {
  using Error::Error;
};

/// A send met a receive of another size or dtype. Both ranks throw it; nothing was copied. A sender
/// whose message was buffered has gone on, and throws Aborted instead.
class MessageMismatch : public Error {
  using Error::Error;
};

/// The ranks of a communicator called different collectives, or the same with different arguments.
class CollectiveMismatch : public Error {
  using Error::Error;
};

/// All ranks returned, but no rank received a message, or a request was never waited for (even a
/// matched one).
class UnreceivedMessage : public Error {
  using Error::Error;
};

/// A tensor was freed, read or written before the wait for an operation that used it. Reads and
/// writes through pointers are found only with RunOptions::watch_buffers, as far as they show.
class BufferReused : public Error {
  using Error::Error;
};

/// One blocked rank: its operation, and the ranks it waits for.
struct Wait {
  int rank = -1;
  std::string op;          // "send", "recv", "barrier", "all_reduce", …
  std::vector<int> peers;  // ranks that could end the wait, at most 1,000
  long long bytes = 0;
  std::string file;
  int line = 0;
};

/// Every rank still running is blocked and nothing is in flight: proved, not timed out.
class DeadlockError : public Error {
 public:
  /// @param waits one wait per blocked rank, by rank
  /// @param cycle ranks that wait for each other in a cycle, or a chain that ends at a rank that
  /// returned
  DeadlockError(const std::string& message, ErrorContext context, std::vector<Wait> waits,
                std::vector<int> cycle, Hint hint = {})
      : Error(message, std::move(context)),
        waits_(std::make_shared<const std::vector<Wait>>(std::move(waits))),
        cycle_(std::make_shared<const std::vector<int>>(std::move(cycle))),
        hint_(std::move(hint)) {}

  /// Returns the same deadlock for another rank to throw. Shares the waits and the cycle, which may
  /// be long.
  DeadlockError as_seen_by(ErrorContext context) const {
    DeadlockError told = *this;
    told.move_to(std::move(context));
    return told;
  }

  const std::vector<Wait>& waits() const { return *waits_; }
  const std::vector<int>& cycle() const { return *cycle_; }
  const Hint& hint() const { return hint_; }  // in the message, too

 private:
  std::shared_ptr<const std::vector<Wait>> waits_;
  std::shared_ptr<const std::vector<int>> cycle_;
  Hint hint_;
};

/// A wait took longer than RunOptions::deadline_seconds. Only on real machines, where it cannot be
/// proved that the wait would never end.
class TimedOut : public Error {
  using Error::Error;
};

/// A rank's function threw something that is not a Rankbox error. The original is nested
/// (std::rethrow_if_nested).
class RankFailed : public Error {
  using Error::Error;
};

}  // namespace rankbox
