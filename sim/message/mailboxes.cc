#include "sim/message/mailboxes.h"

#include <algorithm>

namespace rankbox::sim {

Mailboxes::Mailboxes(std::size_t ranks, bool closed)
    : tables_(ranks), parts_((ranks + kSendersOfAPart - 1) / kSendersOfAPart) {
  for (Part& part : parts_) {
    const Lock guard(part.lock);
    part.closed = closed;
  }
}

/// Another rank may have been faster.
Channel& Mailboxes::make(int src, int dst) {
  const auto sender = static_cast<std::size_t>(src);
  Part& part = parts_[sender / kSendersOfAPart];
  const Lock guard(part.lock);
  ChannelTable* table = tables_[sender].load(std::memory_order_relaxed);
  if (Channel* const made = table == nullptr ? nullptr : table->find(dst)) return *made;
  if (table == nullptr) {
    table = ChannelTable::make(ChannelTable::kSmallest, part.memory);
    tables_[sender].store(table, std::memory_order_release);
  } else if (table->is_full(tables_.size())) {
    ChannelTable* const larger = ChannelTable::make(2 * table->capacity(), part.memory);
    table->copy_to(*larger);
    table = larger;
    tables_[sender].store(table, std::memory_order_release);
  }
  Channel& channel = part.channels.emplace_back(part.closed);
  table->insert(dst, &channel);
  return channel;
}

void Mailboxes::close() {
  for (Part& part : parts_) {
    const Lock guard(part.lock);
    part.closed = true;
    for (Channel& channel : part.channels) channel.close();
  }
}

std::vector<Channel::Leftover> Mailboxes::leftovers() {
  std::vector<Channel::Leftover> found;
  for (Part& part : parts_) {
    const Lock guard(part.lock);
    for (const Channel& channel : part.channels) {
      for (const Channel::Leftover& leftover : channel.leftovers()) found.push_back(leftover);
    }
  }
  return found;
}

bool Mailboxes::owns(const Channel& channel) {
  return std::ranges::any_of(parts_, [&](Part& part) {
    const Lock guard(part.lock);
    return std::ranges::any_of(part.channels,
                               [&](const Channel& mine) { return &mine == &channel; });
  });
}

}  // namespace rankbox::sim
