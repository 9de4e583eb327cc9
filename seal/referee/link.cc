#include "seal/referee/link.h"

#include <stdexcept>
#include <utility>

#include "comm/errors.h"
#include "comm/memory_meter.h"
#include "seal/referee/referee.h"
#include "seal/wire.h"

namespace rankbox::seal {

namespace {

std::vector<int>& sockets() {
  static std::vector<int> all;
  return all;
}

}  // namespace

Buffer::Buffer(DType dtype, std::int64_t elements)
    : null_(false), dtype_(dtype), elements_(elements) {
  const bool known = static_cast<std::size_t>(dtype) < kDTypes.size();
  if (!known || elements < 0 || elements > std::int64_t{kMostBytes} / size_of(dtype))
    throw std::runtime_error("a slice of an impossible size");
  bytes_.resize(static_cast<std::size_t>(elements * size_of(dtype)) + 1);  // never null
}

void set_sockets(std::vector<int> all) { sockets() = std::move(all); }

void await_ranks() {
  try {
    for (const int socket : sockets()) receive_message(socket);
  } catch (const ConnectionLost&) {
    throw Error("the processes of the ranks do not start in a container");
  }
}

Link& current_link() {
  thread_local Link link;
  const MemoryMeter* const meter = current_memory_meter();
  if (meter == nullptr) throw Error("a sealed function was called outside of any rank");
  if (link.owner == meter->owner) return link;
  link = {};
  link.owner = meter->owner;
  link.socket = sockets().at(static_cast<std::size_t>((meter->owner & 0xffffffff) - 1));
  return link;
}

}  // namespace rankbox::seal
