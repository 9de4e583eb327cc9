// An asynchronous operation: what a Request stands for.
#pragma once

#include <memory>

#include "mpi/message.h"
#include "mpi/run.h"

namespace rankbox::mpi {

class Collective;

/// Shared by the copies of a Request, all on one rank. From start to finish it is listed in
/// Run::open_requests, so that a rank that ends, or drops a request, leaves nothing behind that
/// others could still write to.
class PendingOperation {
 public:
  PendingOperation(Run& run, const Caller& caller);
  ~PendingOperation();
  PendingOperation(const PendingOperation&) = delete;
  PendingOperation& operator=(const PendingOperation&) = delete;

  Message message;                         // either this,
  std::shared_ptr<Collective> collective;  // or, unless null, that

  const Caller& caller() const { return caller_; }
  Run& run() { return *run_; }
  int peer() const { return message.group == nullptr ? -1 : message.world_peer(); }

  /// The owner has waited: from here on the request is only a memory.
  void finish();
  bool finished() const { return run_ == nullptr; }

 private:
  Caller caller_;
  Run* run_;  // null once finished
};

}  // namespace rankbox::mpi
