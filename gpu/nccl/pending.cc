#include "gpu/nccl/pending.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "gpu/device/rank_device.h"

namespace rankbox::gpu {

NcclPending::NcclPending(std::shared_ptr<NcclOpenRequests> requests, const Caller& caller, int peer)
    : requests_(std::move(requests)), caller_(caller), peer_(peer) {
  requests_->open.push_back(this);
}

NcclPending::~NcclPending() {
  if (is_closed()) return;
  if (!requests_->dropped) requests_->dropped = as_dropped();
  if (requests_->device != nullptr) requests_->device->keep_blocks();
  close();
}

void NcclPending::close() {
  // Usually the latest request.
  std::vector<const NcclPending*>& open = requests_->open;
  const auto at = std::find(open.rbegin(), open.rend(), this);
  *at = open.back();
  open.pop_back();
  requests_ = nullptr;
}

UnreceivedMessage NcclPending::as_dropped() const {
  return UnreceivedMessage(
      fmt::format("request never waited for: rank {} called {} at {}:{}; keep the Request and "
                  "wait() for it",
                  caller_.rank, caller_.operation, caller_.place.file_name(), caller_.place.line()),
      caller_.context(peer_));
}

}  // namespace rankbox::gpu
