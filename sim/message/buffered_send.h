// A send whose owner continued at once, as RunOptions::buffering allows.
#pragma once

#include <memory>

#include "comm/slice.h"
#include "sim/message/copy_bytes.h"
#include "sim/message/operation.h"
#include "sim/rank_state.h"

namespace rankbox::sim {

/// The operation and its copy of the data. Created by the sender, owned by the channel it is posted
/// to.
struct BufferedSend {
  Operation operation;
  std::unique_ptr<char[]> data;     // null with a data plane, which has its own copy
  DataPlane* data_plane = nullptr;  // receives that copy back

  BufferedSend() = default;
  BufferedSend(const BufferedSend&) = delete;
  BufferedSend& operator=(const BufferedSend&) = delete;
  ~BufferedSend() {
    if (data_plane != nullptr) data_plane->discard(operation.transit);
  }
};

/// Sets the operation's data to the copy; the caller fills in the rest.
inline std::unique_ptr<BufferedSend> make_buffered_send(const RankState& rank, Slice slice) {
  auto send = std::make_unique<BufferedSend>();
  send->operation.buffered = true;
  if (rank.data_plane != nullptr) [[unlikely]] {
    send->operation.transit =
        rank.data_plane->prepare_copy(rank.rank, slice, &send->operation.data);
    send->data_plane = rank.data_plane;
    return send;
  }
  send->data = std::make_unique<char[]>(static_cast<std::size_t>(slice.bytes()));
  send->operation.data = send->data.get();
  copy_bytes(send->data.get(), slice.data(), slice.bytes());
  return send;
}

/// `operation` is the first member of a BufferedSend, and has the same address: the type is close
/// enough to standard layout.
inline void release_buffered(Operation* operation) {
  delete reinterpret_cast<BufferedSend*>(operation);
}

}  // namespace rankbox::sim
