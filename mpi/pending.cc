#include "mpi/pending.h"

#include <algorithm>

#include "mpi/collective.h"

namespace rankbox::mpi {

PendingOperation::PendingOperation(Run& run, const Caller& caller) : caller_(caller), run_(&run) {
  run.open_requests().push_back(this);
}

PendingOperation::~PendingOperation() {
  if (finished()) return;
  run_->dropped(*this);
  finish();
}

void PendingOperation::finish() {
  // Usually the latest.
  auto& open = run_->open_requests();
  const auto at = std::find(open.rbegin(), open.rend(), this);
  *at = open.back();
  open.pop_back();
  run_ = nullptr;
}

}  // namespace rankbox::mpi
