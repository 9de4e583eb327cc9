#include "tests/sim/program_walker.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "comm/tensor.h"

namespace rankbox::testing {
namespace {

/// Return the sizes of what rank `src` sends to each rank, and of what `dst` receives from each.
std::vector<std::int64_t> sent_counts(std::int64_t count, int p, int src) {
  std::vector<std::int64_t> counts;
  for (int dst = 0; dst < p; ++dst) counts.push_back(piece_of(count, src, dst));
  return counts;
}
std::vector<std::int64_t> received_counts(std::int64_t count, int p, int dst) {
  std::vector<std::int64_t> counts;
  for (int src = 0; src < p; ++src) counts.push_back(piece_of(count, src, dst));
  return counts;
}

std::int64_t sum(const std::vector<std::int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

/// The elements of one operation, of any dtype.
class Box {
 public:
  Box() : Box(DType::kInt64, 0, [](std::int64_t) { return 0; }) {}
  template <class Element>
  Box(DType dtype, std::int64_t count, Element element) : dtype_(dtype) {
    if (dtype_ == DType::kInt64) ints_ = made_of<std::int64_t>(count, element);
    if (dtype_ == DType::kFloat64) doubles_ = made_of<double>(count, element);
    if (dtype_ == DType::kFloat32) floats_ = made_of<float>(count, element);
  }
  /// Returns what a step sends or contributes.
  static Box of(const Step& step, std::int64_t count) {
    return {step.dtype, count, [&](std::int64_t i) { return element_of(step, i); }};
  }
  /// Returns memory for what a step receives.
  static Box room(const Step& step, std::int64_t count) {
    return {step.dtype, count, [](std::int64_t) { return -1; }};
  }

  Slice slice() {
    if (dtype_ == DType::kFloat64) return doubles_;
    return dtype_ == DType::kFloat32 ? Slice(floats_) : Slice(ints_);
  }
  std::uint64_t digest() const {
    if (dtype_ == DType::kFloat64) return digest_of(to_host(doubles_));
    return dtype_ == DType::kFloat32 ? digest_of(to_host(floats_)) : digest_of(to_host(ints_));
  }

 private:
  template <class T, class Element>
  static TensorOf<T> made_of(std::int64_t count, Element element) {
    std::vector<T> host;
    for (std::int64_t i = 0; i < count; ++i) host.push_back(static_cast<T>(element(i)));
    return from_host(host);
  }
  template <class T>
  static std::uint64_t digest_of(const std::vector<T>& host) {
    std::vector<std::int64_t> elements;
    for (T element : host) elements.push_back(static_cast<std::int64_t>(element));
    return testing::digest(elements);
  }

  DType dtype_;
  TensorOf<std::int64_t> ints_;
  TensorOf<double> doubles_;
  TensorOf<float> floats_;
};

/// One operation in flight: its memory, and its request, which is destroyed first.
struct Operation {
  Box box;
  Box other;                // of collectives that have two slices
  Box* received = nullptr;  // which of the two is recorded when the operation is done; null: none
  Request request;
};

/// Executes one rank's steps.
class Walker {
 public:
  Walker(const Program& program, Comm& dist) : program_(program), comms_(program.groups.size()) {
    comms_[0] = dist;
  }

  std::vector<std::uint64_t> walk(const std::function<void()>& before_step) {
    const int me = comms_[0]->rank();
    for (const Step& step : program_.ranks[static_cast<std::size_t>(me)]) {
      if (step.kind == StepKind::kReturn) break;
      if (before_step && step.kind != StepKind::kCompute) before_step();
      if (step.kind == StepKind::kThrow) throw std::runtime_error("as the program says");
      take(step);
    }
    if (before_step) before_step();
    return std::move(received_);
  }

 private:
  void take(const Step& step) {
    Comm& comm = *comms_[static_cast<std::size_t>(step.group)];
    switch (step.kind) {
      case StepKind::kSend:
        comm.send(Box::of(step, step.count).slice(), index_of(step.group, step.peer));
        break;
      case StepKind::kRecv: {
        Box box = Box::room(step, step.count);
        comm.recv(box.slice(), index_of(step.group, step.peer));
        received_.push_back(box.digest());
        break;
      }
      case StepKind::kSendrecv: {
        Box out = Box::of(step, step.count);
        Box in = Box::room(step, step.count_in);
        comm.sendrecv(out.slice(), index_of(step.group, step.peer), in.slice(),
                      index_of(step.group, step.src));
        received_.push_back(in.digest());
        break;
      }
      case StepKind::kIsend: {
        Operation& operation = open_[step.request];
        operation.box = Box::of(step, step.count);
        operation.request = comm.isend(operation.box.slice(), index_of(step.group, step.peer));
        break;
      }
      case StepKind::kIrecv: {
        Operation& operation = open_[step.request];
        operation.box = Box::room(step, step.count);
        operation.received = &operation.box;
        operation.request = comm.irecv(operation.box.slice(), index_of(step.group, step.peer));
        break;
      }
      case StepKind::kCollective: {
        Operation operation;
        collective(comm, step, operation, /*async=*/false);
        note(operation);
        break;
      }
      case StepKind::kCollectiveAsync:
        collective(comm, step, open_[step.request], /*async=*/true);
        break;
      case StepKind::kWait: {
        Operation& operation = open_.at(step.request);
        comms_[0]->wait(operation.request);
        note(operation);
        open_.erase(step.request);
        break;
      }
      case StepKind::kSplit:
        comms_[static_cast<std::size_t>(step.made_group)] = comm.split(step.color);
        break;
      case StepKind::kCompute:
        comm.compute(1);
        break;
      case StepKind::kThrow:
      case StepKind::kReturn:
        break;
    }
  }

  void collective(Comm& comm, const Step& step, Operation& operation, bool async) {
    const int p = comm.world_size();
    const int root = step.peer < 0 ? -1 : index_of(step.group, step.peer);
    const bool at_root = comm.rank() == root;
    Box& box = operation.box;
    Box& other = operation.other;
    box = Box::of(step, step.count);
    operation.received = &box;
    Request& request = operation.request;
    switch (step.collective) {
      case CollectiveKind::kBarrier:
        operation.received = nullptr;
        async ? void(request = comm.barrier_async()) : comm.barrier();
        break;
      case CollectiveKind::kBroadcast:
        async ? void(request = comm.broadcast_async(box.slice(), root))
              : comm.broadcast(box.slice(), root);
        break;
      case CollectiveKind::kReduce:
        async ? void(request = comm.reduce_async(box.slice(), root, step.op))
              : comm.reduce(box.slice(), root, step.op);
        break;
      case CollectiveKind::kAllReduce:
        async ? void(request = comm.all_reduce_async(box.slice(), step.op))
              : comm.all_reduce(box.slice(), step.op);
        break;
      case CollectiveKind::kGather:
        if (at_root) other = Box::room(step, step.count * p);
        if (at_root) operation.received = &other;
        async ? void(request = comm.gather_async(box.slice(), other.slice(), root))
              : comm.gather(box.slice(), other.slice(), root);
        break;
      case CollectiveKind::kAllGather:
        other = Box::room(step, step.count * p);
        operation.received = &other;
        async ? void(request = comm.all_gather_async(box.slice(), other.slice()))
              : comm.all_gather(box.slice(), other.slice());
        break;
      case CollectiveKind::kScatter:
        if (at_root) box = Box::of(step, step.count * p);
        other = Box::room(step, step.count);
        operation.received = &other;
        async ? void(request = comm.scatter_async(box.slice(), other.slice(), root))
              : comm.scatter(box.slice(), other.slice(), root);
        break;
      case CollectiveKind::kReduceScatter:
        other = Box::room(step, chunk(box.slice(), comm.rank(), p).size());
        operation.received = &other;
        async ? void(request = comm.reduce_scatter_async(box.slice(), other.slice(), step.op))
              : comm.reduce_scatter(box.slice(), other.slice(), step.op);
        break;
      case CollectiveKind::kAllToAll:
        other = Box::room(step, chunk(box.slice(), comm.rank(), p).size() * p);
        operation.received = &other;
        async ? void(request = comm.all_to_all_async(box.slice(), other.slice()))
              : comm.all_to_all(box.slice(), other.slice());
        break;
      case CollectiveKind::kGatherV: {
        box = Box::of(step, piece_of(step.count, comm.rank(), root));
        operation.received = &box;
        std::vector<std::int64_t> counts;
        if (at_root) {
          counts = received_counts(step.count, p, root);
          other = Box::room(step, sum(counts));
          operation.received = &other;
        }
        async ? void(request = comm.gather_v_async(box.slice(), other.slice(), counts, root))
              : comm.gather_v(box.slice(), other.slice(), counts, root);
        break;
      }
      case CollectiveKind::kAllGatherV: {
        box = Box::of(step, piece_of(step.count, comm.rank(), 0));
        const std::vector<std::int64_t> counts = received_counts(step.count, p, 0);
        other = Box::room(step, sum(counts));
        operation.received = &other;
        async ? void(request = comm.all_gather_v_async(box.slice(), other.slice(), counts))
              : comm.all_gather_v(box.slice(), other.slice(), counts);
        break;
      }
      case CollectiveKind::kScatterV: {
        std::vector<std::int64_t> counts;
        if (at_root) {
          counts = sent_counts(step.count, p, root);
          box = Box::of(step, sum(counts));
        }
        other = Box::room(step, piece_of(step.count, root, comm.rank()));
        operation.received = &other;
        async ? void(request = comm.scatter_v_async(box.slice(), counts, other.slice(), root))
              : comm.scatter_v(box.slice(), counts, other.slice(), root);
        break;
      }
      case CollectiveKind::kAllToAllV: {
        const std::vector<std::int64_t> sent = sent_counts(step.count, p, comm.rank());
        const std::vector<std::int64_t> received = received_counts(step.count, p, comm.rank());
        box = Box::of(step, sum(sent));
        other = Box::room(step, sum(received));
        operation.received = &other;
        async ? void(request = comm.all_to_all_v_async(box.slice(), sent, other.slice(), received))
              : comm.all_to_all_v(box.slice(), sent, other.slice(), received);
        break;
      }
      case CollectiveKind::kSplit:
        break;  // a separate step
    }
  }

  void note(const Operation& operation) {
    if (operation.received != nullptr) received_.push_back(operation.received->digest());
  }

  int index_of(int group, int world_rank) const {
    const std::vector<int>& members = program_.groups[static_cast<std::size_t>(group)];
    return static_cast<int>(std::find(members.begin(), members.end(), world_rank) -
                            members.begin());
  }

  const Program& program_;
  std::vector<std::optional<Comm>> comms_;  // [group]
  std::map<int, Operation> open_;           // by request
  std::vector<std::uint64_t> received_;
};

}  // namespace

std::vector<std::uint64_t> walk(const Program& program, Comm& dist,
                                const std::function<void()>& before_step) {
  return Walker(program, dist).walk(before_step);
}

}  // namespace rankbox::testing
