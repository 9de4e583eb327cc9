#include "judge/seal/rank/comm.h"

#include <cstring>
#include <deque>
#include <string>
#include <utility>

#include "comm/communicator_impl.h"
#include "comm/tensor_checks.h"
#include "host/arithmetic.h"
#include "judge/seal/rank/request.h"
#include "judge/seal/slices.h"

namespace rankbox::sim {

using seal::Kind;

namespace {

RankState this_rank;
std::deque<Group> groups;   // their addresses stay
std::uint32_t started = 0;  // operations

ByteWriter begin_request(const Caller& caller, const Group& group) {
  seal::count_memory();
  ByteWriter writer;
  writer.put(std::string(caller.place.file_name()));
  writer.put(static_cast<std::uint32_t>(caller.place.line()));
  writer.put(group.number());
  return writer;
}

void put_size(ByteWriter& writer, Slice slice) {
  writer.put(slice.dtype());
  writer.put(slice.size());
}

void put_collective(ByteWriter& writer, const CollectiveCall& call) {
  const bool in_is_out = !call.in.is_null() && !call.out.is_null() &&
                         call.in.data() == call.out.data() && call.in.size() == call.out.size();
  writer.put(call.kind);
  writer.put(call.root);
  writer.put(call.op);
  writer.put(static_cast<std::uint8_t>(in_is_out));
  writer.put(static_cast<std::uint8_t>(!call.in.is_null()));
  if (!call.in.is_null()) seal::put_slice(writer, call.in);
  const bool has_out = !call.out.is_null() && !in_is_out;
  writer.put(static_cast<std::uint8_t>(has_out));
  if (has_out) put_size(writer, call.out);
  for (const auto& counts : {call.in_counts, call.out_counts})
    writer.put(std::vector<std::int64_t>(counts.begin(), counts.end()));
}

/// Copies a reply's data to where it was asked for.
void deliver(const std::string& reply, Slice into) {
  if (into.is_null() || into.read_only()) return;
  ByteReader reader(reply);
  seal::get_slice(reader, into);
}

}  // namespace

/// An operation that the referee has started.
class PendingOperation {
 public:
  /// @param sent null: it sends nothing that is looked at again
  /// @param read, written null: it reads or writes nothing
  PendingOperation(const Caller& caller, const Group& group, Slice sent, Slice read, Slice received,
                   Slice written)
      : caller_(caller),
        group_(group),
        sent_(sent),
        received_(received),
        in_use_(this_rank.memory.in_use, caller, read, written) {}
  PendingOperation(const PendingOperation&) = delete;
  PendingOperation& operator=(const PendingOperation&) = delete;
  ~PendingOperation() {
    if (finished_) return;
    ByteWriter writer;
    writer.put(number_);
    seal::notify(Kind::kDrop, writer);
  }

  const Caller& caller() const { return caller_; }
  std::uint32_t number() const { return number_; }

  /// @param arguments that begin with the number
  void start(Kind kind, const ByteWriter& arguments) {
    seal::notify(kind, arguments);
    finished_ = false;
    // A program that reads before it has waited always sees NaN, or -1.
    if (kind == Kind::kIrecv && received_.bytes() > 0)
      std::memset(received_.data(), 0xFF, static_cast<std::size_t>(received_.bytes()));
  }

  void wait(const Caller& caller) {
    if (!caller.continues) this_rank.has_waited = false;
    if (finished_) return;
    ByteWriter writer = begin_request(caller, group_);
    writer.put(number_);
    writer.put(static_cast<std::uint8_t>(std::exchange(this_rank.has_waited, true)));
    writer.put(static_cast<std::uint8_t>(in_use_.was_freed()));
    writer.put(static_cast<std::uint8_t>(!sent_.is_null()));
    if (!sent_.is_null()) seal::put_slice(writer, sent_);
    finished_ = true;                                       // also if it fails
    const BuffersInUse::Entry in_use = std::move(in_use_);  // closed last
    deliver(seal::request(Kind::kWait, writer), received_);
  }

 private:
  const Caller caller_;
  const Group& group_;
  const Slice sent_;      // null: it sends nothing that is looked at again
  const Slice received_;  // null: it receives nothing
  const std::uint32_t number_ = ++started;
  BuffersInUse::Entry in_use_;
  bool finished_ = true;  // or not started
};

int Backend::size() const { return group_ == nullptr ? 0 : group_->size(); }
int Backend::node() const { return state_->node; }

void Backend::set_recording(bool /*on*/) const {}  // the referee records
int Backend::local_rank() const { return state_->local_rank; }

Caller Backend::caller(const char* operation, Place place) const {
  return {state_->rank, state_->memory.owner, index_, size(), operation, place};
}

void Backend::begin(const Caller& caller) { check_thread(caller); }

void Backend::send(const Caller& caller, Slice slice, int dst) {
  ByteWriter writer = begin_request(caller, *group_);
  writer.put(dst);
  seal::put_slice(writer, slice);
  seal::notify(Kind::kSend, writer);
}

void Backend::recv(const Caller& caller, Slice slice, int src) {
  ByteWriter writer = begin_request(caller, *group_);
  writer.put(src);
  put_size(writer, slice);
  deliver(seal::request(Kind::kRecv, writer), slice);
}

void Backend::sendrecv(const Caller& caller, Slice out, int dst, Slice in, int src) {
  ByteWriter writer = begin_request(caller, *group_);
  writer.put(dst);
  seal::put_slice(writer, out);
  writer.put(src);
  put_size(writer, in);
  deliver(seal::request(Kind::kSendrecv, writer), in);
}

Backend::Pending Backend::isend(const Caller& caller, Slice slice, int dst) {
  auto pending =
      std::make_shared<PendingOperation>(caller, *group_, slice, slice, Slice(), Slice());
  ByteWriter writer = begin_request(caller, *group_);
  writer.put(pending->number());
  writer.put(dst);
  seal::put_slice(writer, slice);
  pending->start(Kind::kIsend, writer);
  return pending;
}

Backend::Pending Backend::irecv(const Caller& caller, Slice slice, int src) {
  auto pending =
      std::make_shared<PendingOperation>(caller, *group_, Slice(), Slice(), slice, slice);
  ByteWriter writer = begin_request(caller, *group_);
  writer.put(pending->number());
  writer.put(src);
  put_size(writer, slice);
  pending->start(Kind::kIrecv, writer);
  return pending;
}

void Backend::run(const Caller& caller, const CollectiveCall& call) {
  ByteWriter writer = begin_request(caller, *group_);
  put_collective(writer, call);
  deliver(seal::request(Kind::kCollective, writer), call.out);
}

Backend::Pending Backend::start(const Caller& caller, const CollectiveCall& call) {
  auto pending = std::make_shared<PendingOperation>(caller, *group_, Slice(), call.in, call.out,
                                                    written_by(call, index_));
  ByteWriter writer = begin_request(caller, *group_);
  writer.put(pending->number());
  put_collective(writer, call);
  pending->start(Kind::kStart, writer);
  return pending;
}

Backend Backend::split(const Caller& caller, const CollectiveCall& call) {
  ByteWriter writer = begin_request(caller, *group_);
  writer.put(call.color);
  writer.put(call.key);
  const std::string reply = seal::request(Kind::kSplit, writer);
  ByteReader reader(reply);
  const auto number = reader.next<std::uint32_t>();
  const int rank = reader.next<int>();
  const int size = reader.next<int>();
  if (rank < 0) {
    Backend none = *this;
    none.group_ = nullptr;
    none.index_ = -1;
    return none;
  }
  return Backend(*state_, groups.emplace_back(number, size), rank);
}

void Backend::wait(const Caller& caller, const Pending& pending) { pending->wait(caller); }

const Caller* Backend::starter(const Pending& pending) {
  return pending == nullptr ? nullptr : &pending->caller();
}

void Backend::compute(const Caller& caller, double seconds, Label label) {
  ByteWriter writer = begin_request(caller, *group_);
  writer.put(seconds);
  writer.put(label.bits());
  seal::notify(Kind::kCompute, writer);
}

}  // namespace rankbox::sim

namespace rankbox {

template class BasicCommunicator<sim::Backend>;

namespace {

/// Has the referee record a reduction in the trace. A program can add without accumulate(), or
/// report additions that it did not make; neither changes a value.
void report_reduction(Slice from, ReduceOp op) {
  if (current_memory_meter() == nullptr) return;  // no rank's thread
  ByteWriter writer;
  writer.put(op);
  writer.put(from.dtype());
  writer.put(from.size());
  seal::notify(seal::Kind::kAccumulate, writer);
}

}  // namespace

void accumulate(Slice into, Slice from, ReduceOp op, Place place) {
  check_pair("accumulate", into, from, place);
  host::reduce(into, from, op);
  report_reduction(from, op);
}

void detail::add_scaled(Slice into, double factor, Slice from, Place place) {
  check_pair("axpy", into, from, place);
  check_factor("axpy", into, factor, place);
  host::add_scaled(into, factor, from);
  report_reduction(from, ReduceOp::SUM);
}

void seal::begin_case(std::uint64_t owner, int node, int local_rank) {
  sim::RankState& rank = sim::this_rank;
  rank.memory.owner = owner;
  rank.memory.current_bytes = rank.memory.peak_bytes = 0;
  current_memory_meter() = &rank.memory;
  rank.rank = rank_of_this_thread();
  rank.node = node;
  rank.local_rank = local_rank;
  sim::groups.clear();
}

Comm seal::next_communicator(ByteReader& reader) {
  const auto number = reader.next<std::uint32_t>();
  const int rank = reader.next<int>();
  const int size = reader.next<int>();
  return Comm(sim::Backend(sim::this_rank, sim::groups.emplace_back(number, size), rank));
}

}  // namespace rankbox
