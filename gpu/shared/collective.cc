#include "gpu/shared/collective.h"

#include <algorithm>
#include <utility>

#include "comm/collective_call.h"
#include "gpu/device/device_memory.h"
#include "gpu/device_here.h"
#include "gpu/kernels/kernels.h"
#include "gpu/shared/plane.h"

namespace rankbox::gpu {
namespace {

using Part = sim::DataPlane::Part;

/// Returns the pointers from `begin` on, at most as many as a kernel takes.
template <class T>
std::span<T> batch(std::vector<T>& pointers, std::size_t begin, std::size_t most) {
  return std::span(pointers).subspan(begin, std::min(most, pointers.size() - begin));
}

}  // namespace

SharedCollective::Place SharedCollective::in(int index) const {
  const Part& part = parts_[static_cast<std::size_t>(index)];
  return {part.call->in, device_of(part.call->in, part.transit->device)};
}

SharedCollective::Place SharedCollective::out(int index) const {
  const Part& part = parts_[static_cast<std::size_t>(index)];
  return {part.call->out, device_of(part.call->out, part.transit->device)};
}

bool SharedCollective::reaches(const Place& place) const {
  return std::find(reachable_.begin(), reachable_.end(), place.device) != reachable_.end();
}

SharedCollective::~SharedCollective() {
  for (void* const block : blocks_) stream_.release(block);
}

void* SharedCollective::take(std::int64_t bytes) {
  blocks_.reserve(blocks_.size() + 1);
  blocks_.push_back(stream_.allocate(bytes));
  return blocks_.back();
}

void SharedCollective::copy(void* into, int into_device, const void* from, int from_device,
                            std::int64_t bytes) {
  if (bytes == 0 || into == from) return;
  copy_on(stream_.stream(), into, into_device, from, from_device, bytes,
          {.op = name_of(parts_.front().call->kind), .bytes = bytes});
}

void SharedCollective::copy(const Place& into, const Place& from) {
  copy(into.slice.data(), into.device, from.slice.data(), from.device, from.slice.bytes());
}

/// Returns a pointer that a kernel can read.
const void* SharedCollective::brought(const Place& place) {
  if (reaches(place)) return place.slice.data();
  void* const here = take(place.slice.bytes());
  copy(here, stream_.device(), place.slice.data(), place.device, place.slice.bytes());
  return here;
}

/// Reduces all inputs, in order, into every output.
void SharedCollective::reduce(const std::vector<Place>& inputs, const std::vector<Place>& outputs,
                              ReduceOp op) {
  const Slice first = inputs.front().slice;
  if (first.size() == 0) return;
  std::vector<const void*> from;
  for (const Place& input : inputs) from.push_back(brought(input));
  std::vector<void*> to;
  std::vector<int> to_device;
  for (const Place& output : outputs) {
    if (!reaches(output)) continue;
    to.push_back(output.slice.data());
    to_device.push_back(output.device);
  }
  if (to.empty()) {
    to.push_back(take(first.bytes()));
    to_device.push_back(stream_.device());
  }

  const auto launch = [&](std::span<const void*> some, std::span<void*> into, ReduceOp now) {
    launch_reduce_to_all(some.data(), static_cast<int>(some.size()), into.data(),
                         static_cast<int>(into.size()), first.size(), first.dtype(), now,
                         static_cast<int>(inputs.size()), stream_.stream());
  };
  // If there are more inputs than a kernel takes, reduce them in batches, still in order. The
  // result so far is not in an output, which may be a later input.
  constexpr auto kMost = static_cast<std::size_t>(kMostPointers);
  std::vector<const void*> left = from;
  if (left.size() > kMost) {
    void* const so_far = take(first.bytes());
    const ReduceOp until_the_end = op == ReduceOp::AVG ? ReduceOp::SUM : op;
    while (left.size() > kMost) {
      void* into[] = {so_far};
      launch(std::span(left).first(kMost), into, until_the_end);
      left.erase(left.begin(), left.begin() + kMostPointers);
      left.insert(left.begin(), so_far);
    }
  }
  launch(left, batch(to, 0, kMost), op);
  for (std::size_t i = kMost; i < to.size(); ++i)
    copy(to[i], to_device[i], to[0], to_device[0], first.bytes());
  for (const Place& output : outputs) {
    if (reaches(output)) continue;
    copy(output.slice.data(), output.device, to[0], to_device[0], first.bytes());
  }
}

/// Copies the same bytes to every output: a reduction of one input.
void SharedCollective::spread(const Place& from, const std::vector<Place>& outputs) {
  reduce({from}, outputs, ReduceOp::SUM);
}

/// Copies every rank's slice to its place in every `gathered`.
void SharedCollective::all_gather() {
  const int p = static_cast<int>(parts_.size());
  std::int64_t begin = 0;
  for (int src = 0; src < p; ++src) {
    const std::int64_t end = begin + in(src).slice.size();
    std::vector<Place> places;
    for (int dst = 0; dst < p; ++dst) {
      const Place gathered = out(dst);
      places.push_back({gathered.slice.sub(begin, end), gathered.device});
    }
    spread(in(src), places);
    begin = end;
  }
}

void SharedCollective::all_to_all() {
  const int p = static_cast<int>(parts_.size());
  const auto call = [&](int index) { return parts_[static_cast<std::size_t>(index)].call; };
  std::vector<Pieces> outputs;
  for (int dst = 0; dst < p; ++dst) outputs.emplace_back(out(dst).slice, call(dst)->out_counts, p);
  for (int src = 0; src < p; ++src) {
    Pieces input(in(src).slice, call(src)->in_counts, p);
    for (int dst = 0; dst < p; ++dst) {
      copy({outputs[static_cast<std::size_t>(dst)].next(), out(dst).device},
           {input.next(), in(src).device});
    }
  }
}

void SharedCollective::enqueue(std::span<const Part> parts) {
  parts_ = parts;
  const CollectiveCall& call = *parts.front().call;
  const int p = static_cast<int>(parts.size());
  const CollectiveCall& root_call = *parts[static_cast<std::size_t>(std::max(call.root, 0))].call;
  std::vector<Place> inputs;
  std::vector<Place> outputs;
  for (int index = 0; index < p; ++index) {
    inputs.push_back(in(index));
    outputs.push_back(out(index));
  }
  const auto at = [](const std::vector<Place>& places, int index) {
    return places[static_cast<std::size_t>(index)];
  };
  const auto chunk_of = [p](const Place& place, int index) {
    return Place{chunk(place.slice, index, p), place.device};
  };
  switch (call.kind) {
    case CollectiveKind::kBarrier:
    case CollectiveKind::kSplit:
      break;  // no data
    case CollectiveKind::kBroadcast:
      spread(at(inputs, call.root), outputs);
      break;
    case CollectiveKind::kReduce:
      reduce(inputs, {at(outputs, call.root)}, call.op);
      break;
    case CollectiveKind::kAllReduce:
      reduce(inputs, outputs, call.op);
      break;
    case CollectiveKind::kGather:
    case CollectiveKind::kGatherV: {
      const Place root = at(outputs, call.root);
      Pieces gathered(root.slice, root_call.out_counts, p);
      for (const Place& input : inputs) copy({gathered.next(), root.device}, input);
      break;
    }
    case CollectiveKind::kAllGather:
    case CollectiveKind::kAllGatherV:
      all_gather();
      break;
    case CollectiveKind::kScatter:
    case CollectiveKind::kScatterV: {
      const Place root = at(inputs, call.root);
      Pieces whole(root.slice, root_call.in_counts, p);
      for (const Place& output : outputs) copy(output, {whole.next(), root.device});
      break;
    }
    case CollectiveKind::kReduceScatter:
      for (int dst = 0; dst < p; ++dst) {
        std::vector<Place> pieces;
        for (const Place& input : inputs) pieces.push_back(chunk_of(input, dst));
        reduce(pieces, {at(outputs, dst)}, call.op);
      }
      break;
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kAllToAllV:
      all_to_all();
      break;
  }
}

}  // namespace rankbox::gpu
