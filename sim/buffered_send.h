// A send whose owner went on at once, because the buffering dial allows it.
#pragma once

#include <memory>

#include "comm/slice.h"
#include "sim/copy_bytes.h"
#include "sim/operation.h"

namespace rankbox::sim {

/// The operation and its copy of the data. Made by the sender, owned by the channel it is posted
/// to.
struct BufferedSend {
  Operation operation;
  std::unique_ptr<char[]> data;
};

inline std::unique_ptr<BufferedSend> make_buffered_send(Slice slice) {
  auto send = std::make_unique<BufferedSend>();
  send->data = std::make_unique<char[]>(static_cast<std::size_t>(slice.bytes()));
  copy_bytes(send->data.get(), slice.data(), slice.bytes());
  send->operation.buffered = true;
  return send;
}

/// `operation` is the first member of a BufferedSend, which is standard layout enough for this: the
/// address is the same.
inline void release_buffered(Operation* operation) {
  delete reinterpret_cast<BufferedSend*>(operation);
}

}  // namespace rankbox::sim
