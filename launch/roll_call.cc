#include "launch/roll_call.h"

#include <fmt/format.h>

#include "launch/wire.h"

namespace rankbox::launcher {

const char* name_of(Collective collective) {
  switch (collective) {
    case Collective::kBarrier:
      return "barrier";
    case Collective::kBroadcast:
      return "broadcast_bytes";
    case Collective::kGather:
      return "gather_bytes";
    case Collective::kAllGather:
      return "all_gather_bytes";
  }
  return "unknown";
}

std::string encode(const Contribution& contribution) {
  return WireWriter(contribution.bytes.size() + 12)
      .u32(static_cast<std::uint32_t>(contribution.collective))
      .u32(contribution.sequence)
      .u32(contribution.milliseconds)
      .raw(contribution.bytes)
      .take();
}

Contribution decode_contribution(std::string_view bytes) {
  WireReader reader(bytes);
  Contribution contribution;
  const std::uint32_t collective = reader.u32();
  if (collective > static_cast<std::uint32_t>(Collective::kAllGather)) {
    throw Error("a collective that does not exist");
  }
  contribution.collective = static_cast<Collective>(collective);
  contribution.sequence = reader.u32();
  contribution.milliseconds = reader.u32();
  contribution.bytes = reader.rest();
  return contribution;
}

std::string RollCall::come(int rank, Contribution contribution) {
  std::optional<std::string>& mine = came_[static_cast<std::size_t>(rank)];
  if (mine) return fmt::format("rank {} called {} twice", rank, title());
  const double seconds = contribution.milliseconds / 1000.0;
  const Deadline deadline = Deadline::after(seconds);
  if (!is_open()) {
    collective_ = contribution.collective;
    sequence_ = contribution.sequence;
    first_ = rank;
    deadline_.reset();
  } else if (contribution.collective != collective_ || contribution.sequence != sequence_) {
    return fmt::format(
        "the ranks called different operations of the star: rank {} {} as its number {}, but rank "
        "{} {} as its number {}",
        first_, name_of(collective_), sequence_, rank, name_of(contribution.collective),
        contribution.sequence);
  }
  if (!deadline_ || deadline < *deadline_) {
    deadline_ = deadline;
    seconds_ = seconds;
  }
  mine = std::move(contribution.bytes);
  ++count_;
  return "";
}

std::vector<int> RollCall::missing() const {
  std::vector<int> ranks;
  for (int rank = 0; rank < static_cast<int>(came_.size()); ++rank) {
    if (!has(rank)) ranks.push_back(rank);
  }
  return ranks;
}

std::vector<int> RollCall::present() const {
  std::vector<int> ranks;
  for (int rank = 0; rank < static_cast<int>(came_.size()); ++rank) {
    if (has(rank)) ranks.push_back(rank);
  }
  return ranks;
}

std::string RollCall::title() const {
  return fmt::format("{} (operation {} of the star)", name_of(collective_), sequence_);
}

std::vector<Bytes> RollCall::release() {
  // What all get, and what rank 0 gets instead.
  std::string all, first;
  std::size_t total = 0;
  for (const auto& bytes : came_) total += bytes->size() + sizeof(std::uint32_t);
  const bool collects = collective_ == Collective::kGather || collective_ == Collective::kAllGather;
  if (collects && total > kMostContent) return {};
  if (collective_ == Collective::kBroadcast) all = *came_.front();
  if (collects) {
    WireWriter writer(total);
    for (const auto& bytes : came_) writer.text(*bytes);
    (collective_ == Collective::kGather ? first : all) = writer.take();
  }
  const Bytes message = bytes_of(MessageType::kRelease, all);
  std::vector<Bytes> releases(came_.size(), message);
  if (collective_ == Collective::kGather) {
    releases.front() = bytes_of(MessageType::kRelease, first);
  }
  for (auto& bytes : came_) bytes.reset();
  count_ = 0;
  return releases;
}

}  // namespace rankbox::launcher
