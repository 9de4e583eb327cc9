#include "mpi/collective.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "mpi/check.h"

namespace rankbox::mpi {
namespace {

/// Memory for as much as `slice` holds.
std::unique_ptr<char[]> room_for(Slice slice) {
  return std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(slice.bytes()));
}

}  // namespace

Collective::Collective(Group& group, const Caller& caller, const CollectiveCall& call, bool checked)
    : group_(group), caller_(caller), call_(call) {
  if (!checked) {
    start();
    return;
  }
  statements_.resize(group.members.size());
  statements_[static_cast<std::size_t>(group.index)] = statement();
  check(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, statements_.data(), sizeof(Statement),
                       MPI_BYTE, group.agreements, &request_),
        "MPI_Iallgather", caller, -1, call.in.bytes());
}

Collective::Statement Collective::statement() const {
  Statement made;
  made.kind = static_cast<std::int32_t>(call_.kind);
  made.root = call_.root;
  made.op = static_cast<std::int32_t>(call_.op);
  made.dtype = static_cast<std::int32_t>(call_.dtype);
  made.count = call_.count;
  made.rank = caller_.rank;
  made.line = caller_.place.line();
  const std::string file = caller_.place.file_name();
  // The end of a long path says more than its beginning.
  const std::size_t skipped = file.size() - std::min(file.size(), made.file.size() - 1);
  std::copy(file.begin() + static_cast<std::ptrdiff_t>(skipped), file.end(), made.file.begin());
  return made;
}

void Collective::compare() {
  const auto call_of = [](const Statement& from) {
    CollectiveCall call;
    call.kind = static_cast<CollectiveKind>(from.kind);
    call.root = from.root;
    call.op = static_cast<ReduceOp>(from.op);
    call.dtype = static_cast<DType>(from.dtype);
    call.count = from.count;
    call.reduces = call.kind == CollectiveKind::kReduce ||
                   call.kind == CollectiveKind::kAllReduce ||
                   call.kind == CollectiveKind::kReduceScatter;
    return call;
  };
  const auto told = [&](const Statement& from) {
    const int root = from.root < 0 ? -1 : group_.world_rank(from.root);
    return in_words(call_of(from), from.rank, root, from.file.data(), static_cast<int>(from.line));
  };
  const Statement& first = statements_.front();
  for (const Statement& other : statements_) {
    const std::string fields = differences(call_of(first), call_of(other));
    if (fields.empty()) continue;
    mismatch_ =
        fmt::format("collective mismatch in {}: {}, but {}", fields, told(first), told(other));
    return;
  }
}

bool Collective::has_result() const {
  if (call_.out.is_null()) return false;
  return call_.kind != CollectiveKind::kReduce || call_.root == group_.index;
}

void Collective::start() {
  stage_ = Stage::kRunning;
  // Nothing to do: a split is its caller's work, and without elements there is none.
  if (call_.kind == CollectiveKind::kSplit) return;
  if (call_.kind != CollectiveKind::kBarrier && call_.count == 0) return;
  const auto copy_in = [](std::unique_ptr<char[]>& copy, Slice slice) {
    copy = room_for(slice);
    if (slice.bytes() > 0)
      std::memcpy(copy.get(), slice.data(), static_cast<std::size_t>(slice.bytes()));
  };
  // A broadcast has one slice, to read from or to write to.
  const bool broadcast = call_.kind == CollectiveKind::kBroadcast;
  if (broadcast) {
    copy_in(out_, call_.out);
  } else {
    if (!call_.in.is_null()) copy_in(in_, call_.in);
    if (has_result()) out_ = room_for(call_.out);
  }
  native_ = native_call(group_, call_, in_.get(), out_.get());
  request_ = start_native(group_, native_, caller_);
}

void Collective::deliver() {
  if (abandoned_ || out_ == nullptr) return;
  if (call_.out.bytes() > 0)
    std::memcpy(call_.out.data(), out_.get(), static_cast<std::size_t>(call_.out.bytes()));
  end_native(group_, native_);
}

bool Collective::advance() {
  if (stage_ == Stage::kDone) return true;
  if (stage_ == Stage::kDisagreed) return false;
  int done = 0;
  check(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test", caller_, -1, call_.in.bytes());
  if (done == 0) return false;
  if (stage_ == Stage::kRunning) {
    deliver();
    stage_ = Stage::kDone;
    return true;
  }
  compare();
  if (!mismatch_.empty()) {
    stage_ = Stage::kDisagreed;
    return false;
  }
  start();
  return advance();
}

void advance_all(Group& group) {
  for (const std::shared_ptr<Collective>& collective : group.collectives) {
    collective->advance();
    if (!collective->has_started()) break;
  }
  while (!group.collectives.empty() && group.collectives.front()->is_done()) {
    group.collectives.pop_front();
  }
}

}  // namespace rankbox::mpi
