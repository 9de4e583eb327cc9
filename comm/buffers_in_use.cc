#include "comm/buffers_in_use.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace rankbox {
namespace {

const char* begin_of(Slice slice) { return static_cast<const char*>(slice.data()); }
const char* end_of(Slice slice) { return begin_of(slice) + slice.bytes(); }

}  // namespace

/// @param longest no use is longer; 0: the uses are disjoint
const BuffersInUse::Use* BuffersInUse::find(const Uses& uses, Slice slice, std::int64_t longest) {
  if (slice.bytes() == 0) return nullptr;
  for (auto at = uses.lower_bound(end_of(slice)); at != uses.begin();) {
    --at;
    if (at->second.end > begin_of(slice)) return &at->second;
    if (begin_of(slice) - at->first >= longest) break;
  }
  return nullptr;
}

void BuffersInUse::check(const Caller& caller, Slice read, Slice written) const {
  const Use* reader = find(reads_, written, longest_read_);
  const Use* writer = find(writes_, written, 0);
  if (writer == nullptr) writer = find(writes_, read, 0);
  const Use* const use = writer != nullptr ? writer : reader;
  if (use == nullptr) [[likely]]
    return;
  refuse(caller,
         fmt::format("the slice overlaps with that of the {} at {}:{}, which {} it until it is "
                     "waited for; wait() first, or use another tensor",
                     use->operation, use->place.file_name(), use->place.line(),
                     writer != nullptr ? "writes to" : "reads"));
}

void BuffersInUse::check_touch(const char* function, Slice read, Slice written, int rank,
                               Place place) const {
  const auto line = static_cast<int>(place.line());
  const auto refuse = [&](const char* did, const Use& use, const char* problem) {
    const std::string here = line == 0 ? "" : fmt::format(" at {}:{}", place.file_name(), line);
    throw BufferReused(
        fmt::format("rank {} {} {} at {}:{} {}, in {}{}; wait() first, or use another tensor", rank,
                    did, use.operation, use.place.file_name(), use.place.line(), problem, function,
                    here),
        {rank, function, -1, line == 0 ? "" : place.file_name(), line});
  };
  if (const Use* early = find(writes_, read, 0))
    refuse("read what the", *early, "has not delivered yet");
  const Use* used = find(writes_, written, 0);
  if (used == nullptr) used = find(reads_, written, longest_read_);
  if (used != nullptr) refuse("wrote to the tensor of its", *used, "before it waited for it");
}

BuffersInUse::Entry::Entry(BuffersInUse& table, const Caller& caller, Slice read, Slice written)
    : table_(&table), read_(table.reads_.end()), written_(table.writes_.end()) {
  if (table.reads_.empty()) table.longest_read_ = 0;
  table.longest_read_ = std::max(table.longest_read_, read.bytes());
  read_ = table.list(table.reads_, caller, read);
  written_ = table.list(table.writes_, caller, written);
}

BuffersInUse::Uses::iterator BuffersInUse::list(Uses& uses, const Caller& caller, Slice slice) {
  constexpr std::size_t kMostSpares = 16;
  if (slice.bytes() == 0) return uses.end();
  spares_.reserve(kMostSpares);
  Use use{end_of(slice), caller.operation, caller.place, nullptr};
  if (spares_.empty()) return uses.emplace(begin_of(slice), std::move(use));
  Uses::node_type node = std::move(spares_.back());
  spares_.pop_back();
  node.key() = begin_of(slice);
  node.mapped() = std::move(use);
  return uses.insert(std::move(node));
}

void BuffersInUse::remove(Uses& uses, Uses::iterator use) {
  if (use == uses.end()) return;
  Uses::node_type node = uses.extract(use);
  node.mapped().kept.reset();
  if (spares_.size() < spares_.capacity()) spares_.push_back(std::move(node));
}

BuffersInUse::Entry& BuffersInUse::Entry::operator=(Entry&& other) noexcept {
  if (this == &other) return *this;
  close();
  table_ = std::exchange(other.table_, nullptr);
  read_ = other.read_;
  written_ = other.written_;
  return *this;
}

void BuffersInUse::Entry::close() {
  if (table_ == nullptr) return;
  table_->remove(table_->reads_, read_);
  table_->remove(table_->writes_, written_);
  table_ = nullptr;
}

bool BuffersInUse::Entry::was_freed() const {
  if (table_ == nullptr) return false;
  return (read_ != table_->reads_.end() && read_->second.kept != nullptr) ||
         (written_ != table_->writes_.end() && written_->second.kept != nullptr);
}

bool BuffersInUse::keep(void* data, std::int64_t bytes, void (*release)(void*)) {
  const char* const begin = static_cast<const char*>(data);
  std::shared_ptr<void> block;
  for (Uses* uses : {&reads_, &writes_}) {
    for (auto at = uses->lower_bound(begin); at != uses->end() && at->first < begin + bytes; ++at) {
      if (block == nullptr) block = {data, release};
      at->second.kept = block;
    }
  }
  return block != nullptr;
}

namespace {

/// Returns "rank 1 freed the tensor of its irecv from rank 0 at ring.cc:7 before …".
BufferReused reused(const char* what, const char* fix, const Caller& starter, int peer,
                    Place waited) {
  const bool receives = std::string_view(starter.operation) == "irecv";
  const std::string other =
      peer < 0 ? "" : fmt::format(" {} rank {}", receives ? "from" : "to", peer);
  const std::string at =
      waited.line() == 0 ? "" : fmt::format(" at {}:{}", waited.file_name(), waited.line());
  return BufferReused(
      fmt::format("rank {} {} the tensor of its {}{} at {}:{} before it waited for it{}; {}",
                  starter.rank, what, starter.operation, other, starter.place.file_name(),
                  starter.place.line(), at, fix),
      starter.context(peer));
}

}  // namespace

BufferReused freed_before_wait(const Caller& starter, int peer, Place waited) {
  return reused("freed", "a slice does not keep its tensor alive: keep the tensor until wait()",
                starter, peer, waited);
}

BufferReused written_before_wait(const Caller& starter, int peer, Place waited) {
  return reused("wrote to",
                "the result depends on timing: wait() first, or use another tensor, as a clone()",
                starter, peer, waited);
}

}  // namespace rankbox
