#include "gpu/nccl/group.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace rankbox::gpu {
namespace {

std::string in_words(const PostedMessage& message) {
  return fmt::format("rank {} {} {} {} ({} bytes) {} rank {} at {}:{}", message.rank,
                     message.sends ? "sends" : "receives", message.count, name_of(message.dtype),
                     message.count * size_of(message.dtype), message.sends ? "to" : "from",
                     message.peer, message.place.file_name(), message.place.line());
}

}  // namespace

ErrorContext PostedMessage::context() const {
  return {rank, op, peer, place.file_name(), static_cast<int>(place.line())};
}

NcclGroup::NcclGroup(std::vector<int> members, std::vector<bool> local, std::vector<int> path)
    : members_(std::move(members)),
      local_(std::move(local)),
      path_(std::move(path)),
      local_size_(static_cast<int>(std::count(local_.begin(), local_.end(), true))),
      calls_(members_.size(), 0) {}

std::optional<Conflict> NcclGroup::post(int src, int dst, const PostedMessage& message) {
  if (!is_local(src) || !is_local(dst)) return std::nullopt;
  const std::lock_guard lock(messages_lock_);
  Pair& pair = messages_[{src, dst}];
  std::deque<PostedMessage>& ahead = pair.ahead;
  ++(message.sends ? pair.sent : pair.received);
  if (ahead.empty() || ahead.front().sends == message.sends) {
    ahead.push_back(message);
    return std::nullopt;
  }
  const PostedMessage other = ahead.front();
  ahead.pop_front();
  if (other.count == message.count && other.dtype == message.dtype) return std::nullopt;
  const PostedMessage& send = message.sends ? message : other;
  const PostedMessage& receive = message.sends ? other : message;
  return Conflict{
      .text = fmt::format("message mismatch: {}, but {}; nothing was copied (both sides must agree "
                          "on element count and dtype)",
                          gpu::in_words(send), gpu::in_words(receive)),
      .ranks = {send.rank, receive.rank},
      .messages = {send.context(), receive.context()}};
}

void NcclGroup::note_wait(int src, int dst, bool sends, std::uint64_t number) {
  if (!is_local(src) || !is_local(dst)) return;
  const std::lock_guard lock(messages_lock_);
  Pair& pair = messages_[{src, dst}];
  if (pair.ahead.empty() || pair.ahead.front().sends != sends) return;  // the other side has come
  const std::uint64_t first = (sends ? pair.sent : pair.received) - pair.ahead.size();
  if (number >= first) pair.ahead[number - first].blocks = true;
}

NcclGroup::Other NcclGroup::other_side(int src, int dst, bool sends, std::uint64_t number) const {
  if (!is_local(src) || !is_local(dst)) return Other::kUnknown;
  const std::lock_guard lock(messages_lock_);
  const auto pair = messages_.find({src, dst});
  if (pair == messages_.end()) return Other::kHasNotCome;
  const std::uint64_t others = sends ? pair->second.received : pair->second.sent;
  return number < others ? Other::kHasCome : Other::kHasNotCome;
}

std::string NcclGroup::in_words(const Open& open) const {
  const int root = open.call.root < 0 ? -1 : world_rank(open.call.root);
  return rankbox::in_words(open.call, open.caller.rank, root, open.caller.place);
}

std::optional<Conflict> NcclGroup::post(const Caller& caller, const CollectiveCall& call) {
  if (local_size_ == 1) return std::nullopt;
  const std::lock_guard lock(collectives_lock_);
  const std::uint64_t number = calls_[static_cast<std::size_t>(caller.index)]++;
  if (number - first_open_ == open_.size()) open_.push_back({call, caller});
  Open& open = open_[number - first_open_];
  ++open.came;
  const std::string fields = differences(open.call, call);
  if (!fields.empty()) {
    const Open mine{call, caller};
    const bool in_order = open.caller.rank < caller.rank;
    return Conflict{
        .text = fmt::format("collective mismatch in {}: {}, but {}", fields,
                            in_words(in_order ? open : mine), in_words(in_order ? mine : open)),
        .ranks = members_};
  }
  while (!open_.empty() && open_.front().came == local_size_) {
    open_.pop_front();
    ++first_open_;
  }
  return std::nullopt;
}

std::optional<Orphan> NcclGroup::message_for(int returned) const {
  const std::lock_guard lock(messages_lock_);
  for (const auto& [ends, pair] : messages_) {
    for (const PostedMessage& message : pair.ahead) {
      if (message.peer != returned || !message.blocks) continue;
      return Orphan{.wait = {message.rank,
                             message.op,
                             {returned},
                             message.count * size_of(message.dtype),
                             message.place.file_name(),
                             static_cast<int>(message.place.line())},
                    .text = gpu::in_words(message)};
    }
  }
  return std::nullopt;
}

std::optional<Orphan> NcclGroup::collective_for(int returned) const {
  const auto member = std::find(members_.begin(), members_.end(), returned);
  if (member == members_.end()) return std::nullopt;
  const std::lock_guard lock(collectives_lock_);
  const std::uint64_t called = calls_[static_cast<std::size_t>(member - members_.begin())];
  const std::uint64_t missed = std::max(called, first_open_) - first_open_;
  if (missed >= open_.size()) return std::nullopt;
  const Open& open = open_[missed];
  const Caller& caller = open.caller;
  return Orphan{.wait = {caller.rank,
                         caller.operation,
                         {returned},
                         open.call.count * size_of(open.call.dtype),
                         caller.place.file_name(),
                         static_cast<int>(caller.place.line())},
                .text = in_words(open)};
}

std::optional<Orphan> NcclGroup::orphan_of(int returned) const {
  std::optional<Orphan> orphan = message_for(returned);
  return orphan.has_value() ? orphan : collective_for(returned);
}

}  // namespace rankbox::gpu
