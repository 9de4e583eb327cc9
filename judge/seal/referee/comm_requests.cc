#include "judge/seal/referee/comm_requests.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "comm/collective_kind.h"
#include "comm/memory_meter.h"
#include "comm/tensor.h"
#include "judge/seal/place_table.h"
#include "judge/seal/slices.h"
#include "sim/reduction.h"

namespace rankbox::seal {

namespace {

Place next_place(ByteReader& reader) {
  auto file = reader.next<std::string>();
  return place_of(std::move(file), reader.next<std::uint32_t>());
}

Buffer next_data(ByteReader& reader) {
  const auto dtype = reader.next<DType>();
  const auto bytes = reader.next<std::string>();
  const std::int64_t size = size_of(dtype);
  Buffer buffer(dtype, static_cast<std::int64_t>(bytes.size()) / size);
  const Slice slice = buffer.slice();
  if (slice.bytes() != static_cast<std::int64_t>(bytes.size()))
    throw std::runtime_error("part of an element");
  std::copy(bytes.begin(), bytes.end(), static_cast<char*>(slice.data()));
  return buffer;
}

Buffer next_empty(ByteReader& reader) {
  const auto dtype = reader.next<DType>();
  return Buffer(dtype, reader.next<std::int64_t>());
}

std::string reply_with(Slice slice) {
  ByteWriter writer;
  put_slice(writer, slice);
  return writer.bytes;
}

Comm& next_communicator(Link& link, ByteReader& reader) {
  const auto number = reader.next<std::uint32_t>();
  if (number >= link.communicators.size()) throw std::runtime_error("no such communicator");
  return link.communicators[number];
}

/// The arguments of a native collective.
struct Collective {
  CollectiveKind kind = CollectiveKind::kBarrier;
  int root = -1;
  ReduceOp op = ReduceOp::SUM;
  bool in_is_out = false;
  Buffer in;   // null: this rank sends nothing,
  Buffer out;  // or receives nothing, or `in_is_out`
  std::vector<std::int64_t> in_counts;
  std::vector<std::int64_t> out_counts;

  Slice result() { return in_is_out ? in.slice() : out.slice(); }
};

Collective next_collective(ByteReader& reader) {
  Collective made;
  reader.get(made.kind);
  reader.get(made.root);
  reader.get(made.op);
  if (made.kind >= CollectiveKind::kSplit || static_cast<std::size_t>(made.op) >= kReduceOps.size())
    throw std::runtime_error("no such collective");
  made.in_is_out = reader.next<std::uint8_t>() != 0;
  if (reader.next<std::uint8_t>() != 0) made.in = next_data(reader);
  if (reader.next<std::uint8_t>() != 0) made.out = next_empty(reader);
  reader.get(made.in_counts);
  reader.get(made.out_counts);
  return made;
}

void run(Comm& dist, Collective& call, Place place) {
  const Slice in = call.in.slice();
  const Slice out = call.result();  // in place with one rank, or without elements, it is `in`
  switch (call.kind) {
    case CollectiveKind::kBarrier:
      return dist.barrier(place);
    case CollectiveKind::kBroadcast:
      return dist.broadcast(in, call.root, place);
    case CollectiveKind::kReduce:
      return dist.reduce(in, call.root, call.op, place);
    case CollectiveKind::kAllReduce:
      return dist.all_reduce(in, call.op, place);
    case CollectiveKind::kGather:
      return dist.gather(in, out, call.root, place);
    case CollectiveKind::kAllGather:
      return dist.all_gather(in, out, place);
    case CollectiveKind::kScatter:
      return dist.scatter(in, out, call.root, place);
    case CollectiveKind::kReduceScatter:
      return dist.reduce_scatter(in, out, call.op, place);
    case CollectiveKind::kAllToAll:
      return dist.all_to_all(in, out, place);
    case CollectiveKind::kGatherV:
      return dist.gather_v(in, out, call.out_counts, call.root, place);
    case CollectiveKind::kAllGatherV:
      return dist.all_gather_v(in, out, call.out_counts, place);
    case CollectiveKind::kScatterV:
      return dist.scatter_v(in, call.in_counts, out, call.root, place);
    case CollectiveKind::kAllToAllV:
      return dist.all_to_all_v(in, call.in_counts, out, call.out_counts, place);
    case CollectiveKind::kSplit:
      break;
  }
  throw std::runtime_error("no such collective");
}

Request start(Comm& dist, Collective& call, Place place) {
  const Slice in = call.in.slice();
  const Slice out = call.result();
  switch (call.kind) {
    case CollectiveKind::kBarrier:
      return dist.barrier_async(place);
    case CollectiveKind::kBroadcast:
      return dist.broadcast_async(in, call.root, place);
    case CollectiveKind::kReduce:
      return dist.reduce_async(in, call.root, call.op, place);
    case CollectiveKind::kAllReduce:
      return dist.all_reduce_async(in, call.op, place);
    case CollectiveKind::kGather:
      return dist.gather_async(in, out, call.root, place);
    case CollectiveKind::kAllGather:
      return dist.all_gather_async(in, out, place);
    case CollectiveKind::kScatter:
      return dist.scatter_async(in, out, call.root, place);
    case CollectiveKind::kReduceScatter:
      return dist.reduce_scatter_async(in, out, call.op, place);
    case CollectiveKind::kAllToAll:
      return dist.all_to_all_async(in, out, place);
    case CollectiveKind::kGatherV:
      return dist.gather_v_async(in, out, call.out_counts, call.root, place);
    case CollectiveKind::kAllGatherV:
      return dist.all_gather_v_async(in, out, call.out_counts, place);
    case CollectiveKind::kScatterV:
      return dist.scatter_v_async(in, call.in_counts, out, call.root, place);
    case CollectiveKind::kAllToAllV:
      return dist.all_to_all_v_async(in, call.in_counts, out, call.out_counts, place);
    case CollectiveKind::kSplit:
      break;
  }
  throw std::runtime_error("no such collective");
}

std::string wait(Link& link, Comm& dist, ByteReader& reader, Place place) {
  const auto found = link.open.find(reader.next<std::uint32_t>());
  if (found == link.open.end()) throw std::runtime_error("no such request");
  Open& open = found->second;
  if (reader.next<std::uint8_t>() != 0) dist.backend().continue_wait_all();
  // It freed the tensor: so that the sandbox sees it, what stands for the tensor here is given up.
  if (reader.next<std::uint8_t>() != 0) {
    for (const Slice slice : {open.in.slice(), open.out.slice()})
      current_memory_meter()->in_use.keep(slice.data(), slice.bytes(), [](void*) {});
  }
  // What an isend sends now: the sandbox sees whether it changed meanwhile.
  if (reader.next<std::uint8_t>() != 0) get_slice(reader, open.in.slice());
  dist.wait(open.request, place);
  std::string reply = reply_with(open.out.slice());
  link.open.erase(found);
  return reply;
}

std::string split(Link& link, Comm& dist, ByteReader& reader, Place place) {
  const auto color = reader.next<int>();
  const auto key = reader.next<int>();
  link.communicators.push_back(dist.split(color, key, place));
  const Comm& made = link.communicators.back();
  ByteWriter writer;
  writer.put(static_cast<std::uint32_t>(link.communicators.size() - 1));
  writer.put(made.rank());
  writer.put(made.world_size());
  return writer.bytes;
}

void note_accumulate(ByteReader& reader) {
  const auto op = reader.next<ReduceOp>();
  const auto dtype = reader.next<DType>();
  const auto elements = reader.next<std::int64_t>();
  const bool known = static_cast<std::size_t>(op) < kReduceOps.size() &&
                     static_cast<std::size_t>(dtype) < kDTypes.size();
  if (!known || elements < 0 || elements > std::int64_t{kMostBytes})
    throw std::runtime_error("no such reduction");
  const Slice from(nullptr, elements, dtype, /*read_only=*/true, /*owner=*/0);
  sim::end_reduction(sim::begin_reduction(from, from, op), Slice());
}

void start_request(Link& link, Comm& dist, Kind kind, ByteReader& reader, Place place) {
  Open open;
  const auto number = reader.next<std::uint32_t>();
  if (kind == Kind::kIsend) {
    const int dst = reader.next<int>();
    open.in = next_data(reader);
    open.request = dist.isend(open.in.slice(), dst, place);
    open.is_storage = dst == dist.rank();
  } else if (kind == Kind::kIrecv) {
    const int src = reader.next<int>();
    open.out = next_empty(reader);
    open.request = dist.irecv(open.out.slice(), src, place);
    open.is_storage = src == dist.rank();
  } else {
    Collective call = next_collective(reader);
    open.request = start(dist, call, place);
    open.is_storage = dist.world_size() == 1;
    // The result is what wait() returns.
    open.in = std::move(call.in_is_out ? call.out : call.in);
    open.out = std::move(call.in_is_out ? call.in : call.out);
  }
  if (!link.open.emplace(number, std::move(open)).second)
    throw std::runtime_error("a number that another request has");
}

}  // namespace

bool is_comm_request(Kind kind) {
  return kind >= Kind::kSend && kind <= Kind::kSplit && kind != Kind::kStoreShared &&
         kind != Kind::kDropPass;
}
bool has_reply(Kind kind) { return kind < Kind::kSend || kind > Kind::kDropPass; }

std::string serve_comm(Link& link, Kind kind, ByteReader& reader) {
  if (kind == Kind::kAccumulate) {
    note_accumulate(reader);
    return "";
  }
  if (kind == Kind::kDrop) {
    link.open.erase(reader.next<std::uint32_t>());
    return "";
  }
  const Place place = next_place(reader);
  Comm& dist = next_communicator(link, reader);
  switch (kind) {
    case Kind::kSend: {
      const int dst = reader.next<int>();
      Buffer data = next_data(reader);
      dist.send(data.slice(), dst, place);
      return "";
    }
    case Kind::kRecv: {
      const int src = reader.next<int>();
      Buffer data = next_empty(reader);
      dist.recv(data.slice(), src, place);
      return reply_with(data.slice());
    }
    case Kind::kSendrecv: {
      const int dst = reader.next<int>();
      Buffer out = next_data(reader);
      const int src = reader.next<int>();
      Buffer in = next_empty(reader);
      dist.sendrecv(out.slice(), dst, in.slice(), src, place);
      return reply_with(in.slice());
    }
    case Kind::kWait:
      return wait(link, dist, reader, place);
    case Kind::kCollective: {
      Collective collective = next_collective(reader);
      run(dist, collective, place);
      return reply_with(collective.result());
    }
    case Kind::kSplit:
      return split(link, dist, reader, place);
    case Kind::kCompute: {
      const auto seconds = reader.next<double>();
      dist.compute(seconds, Label::of_bits(reader.next<std::int64_t>()), place);
      return "";
    }
    default:
      start_request(link, dist, kind, reader, place);
      return "";
  }
}

}  // namespace rankbox::seal
