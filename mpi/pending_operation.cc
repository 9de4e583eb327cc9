// Requests that are destroyed before they were waited for, and operations that a failed run of a
// single process leaves open.
#include <algorithm>
#include <vector>

#include "mpi/environment.h"
#include "mpi/run.h"

namespace rankbox::mpi {
namespace {

/// Receives what the only process sent to itself, until this message is done, or MPI fails.
void drain(Operation& send) {
  std::vector<char> scratch;
  while (!send.done) {
    int done = 0;
    if (MPI_Test(&send.request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return;
    send.done = done != 0;
    int found = 0;
    MPI_Status status;
    if (MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, send.group->comm, &found, &status) != MPI_SUCCESS)
      return;
    if (found == 0) continue;
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    scratch.resize(static_cast<std::size_t>(bytes));
    if (MPI_Recv(scratch.data(), bytes, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG,
                 send.group->comm, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      return;
  }
}

}  // namespace

void Run::end_open_operations() {
  while (!open_requests_.empty()) {
    PendingOperation& pending = *open_requests_.back();
    pending.end_alone();
    pending.finish();
  }
  for (BufferedSend& send : buffered_sends_) drain(send.operation);
}

void PendingOperation::finish() {
  // Usually the latest request.
  auto& open = run_.open_requests();
  const auto at = std::find(open.rbegin(), open.rend(), this);
  *at = open.back();
  open.pop_back();
  in_use_.close();
  finished_ = true;
}

void PendingOperation::end_alone() {
  if (operation.done || was_freed()) return;
  if (operation.call.kind == FlightKind::kSend) drain(operation);
  if (!operation.is_recv()) return;
  MPI_Cancel(&operation.request);
  MPI_Wait(&operation.request, MPI_STATUS_IGNORE);
  operation.done = true;
}

PendingOperation::~PendingOperation() {
  if (finished_) return;
  // Its memory may be freed before the process ends.
  if (environment().size == 1) {
    end_alone();
  } else if (operation.is_recv() && !operation.done) {
    MPI_Cancel(&operation.request);
  }
  run_.dropped(*this);
  finish();
}

}  // namespace rankbox::mpi
