#include "judge/seal/referee/link.h"

#include <deque>
#include <stdexcept>

#include <unistd.h>

#include "comm/errors.h"
#include "comm/memory_meter.h"
#include "judge/seal/referee/rank_memory.h"
#include "judge/seal/referee/referee.h"
#include "judge/seal/wire.h"

namespace rankbox::seal {

namespace {

struct Rank {
  explicit Rank(int number) : socket(number), connection(number) {}
  int socket;
  Connection connection;
  Link link;
  Stop stop;             // outlives the link: the verdict says where
  bool is_lost = false;  // likewise
};

std::deque<Rank>& ranks() {
  static std::deque<Rank> all;
  return all;
}

Rank& current_rank() {
  const MemoryMeter* const meter = current_memory_meter();
  if (meter == nullptr) throw Error("a sealed function was called outside of any rank");
  return ranks().at(static_cast<std::size_t>((meter->owner & 0xffffffff) - 1));
}

}  // namespace

Buffer::Buffer(DType dtype, std::int64_t elements)
    : null_(false), dtype_(dtype), elements_(elements) {
  const bool known = static_cast<std::size_t>(dtype) < kDTypes.size();
  if (!known || elements < 0 || elements > std::int64_t{kMostBytes} / size_of(dtype))
    throw std::runtime_error("a slice of an impossible size");
  bytes_.resize(static_cast<std::size_t>(elements * size_of(dtype)) + 1);  // never null
}

void disconnect_ranks() {
  for (const Rank& rank : ranks()) close(rank.socket);
  ranks().clear();
}

void set_sockets(const std::vector<int>& sockets) {
  for (const int socket : sockets) ranks().emplace_back(socket);
}

void await_ranks() {
  try {
    for (Rank& rank : ranks()) {
      if (counts_memory()) watch_memory(rank.socket);
      rank.connection.receive();
      rank.connection.add(Kind::kReply, "");
      rank.connection.send();
    }
  } catch (const ConnectionLost&) {
    throw Error("the processes of the ranks do not start in a container");
  }
}

Link& current_link() {
  Rank& rank = current_rank();
  const std::uint64_t owner = current_memory_meter()->owner;
  if (rank.link.owner == owner) return rank.link;
  rank.link = {};
  rank.link.owner = owner;
  rank.link.connection = &rank.connection;
  return rank.link;
}

Stop& current_stop() { return current_rank().stop; }

bool& is_lost() { return current_rank().is_lost; }

std::string where_stopped(int rank) {
  const bool is_known = rank >= 0 && static_cast<std::size_t>(rank) < ranks().size();
  return is_known ? ranks()[static_cast<std::size_t>(rank)].stop.addresses : "";
}

void end_case() { current_rank().link = {}; }

}  // namespace rankbox::seal
