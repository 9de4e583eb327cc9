// Comm where tensors are on GPUs. The contract is in comm/communicator.h; this is one of two:
//
//   NCCL     a GPU for every rank: see gpu/nccl/communicator.h
//   sharing  fewer GPUs than ranks: the sandbox's communicator, whose data moves within and between
//            the GPUs there are: see gpu/shared/plane.h
//
// Which of them a run is, gpu/run_world.cc decides. For a program the difference is what is measured,
// and how mistakes are told: the sandbox proves deadlocks; with NCCL a wait ends with TimedOut.
//
// In both, calls return when their work is enqueued on the rank's stream. barrier() and
// synchronize() wait for it on the host, and so does to_host().
//
// Cost: a branch per call. Thread safety: as comm's. Errors: as comm's, NcclError and CudaError.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "comm/label.h"
#include "comm/place.h"
#include "comm/reduce_op.h"
#include "comm/run_options.h"
#include "comm/slice.h"
#include "gpu/nccl/communicator.h"
#include "sim/communicator.h"

namespace rankbox::gpu {

/// An operation that was started and must be waited for. One of the two is empty.
class Request {
 public:
  Request() = default;

 private:
  friend class Communicator;
  explicit Request(sim::Request shared) : shared_(std::move(shared)) {}
  explicit Request(NcclRequest nccl) : nccl_(std::move(nccl)) {}

  sim::Request shared_;
  NcclRequest nccl_;
};

/// What the sandbox does for its own ranks, and NCCL does not: counting, and planned faults.
struct Attendance {
  const std::vector<Fault>* faults = nullptr;
  std::int64_t operations = 0;  // calls made
  std::int64_t messages = 0;    // sent
  std::int64_t bytes = 0;       // sent
};

/// A small value: copy it freely within its rank, never hand it to another rank.
class Communicator {
 public:
  using Request = gpu::Request;

  explicit Communicator(sim::Communicator shared) : which_(shared) {}
  /// @param attendance the rank's; outlives this
  Communicator(NcclCommunicator nccl, Attendance& attendance)
      : which_(nccl), attendance_(&attendance) {}

  int rank() const;
  int world_size() const;
  int node() const;
  int local_rank() const;

  void send(Slice slice, int dst, Place place = Place::current());
  void recv(Slice slice, int src, Place place = Place::current());
  void sendrecv(Slice out, int dst, Slice in, int src, Place place = Place::current());

  [[nodiscard]] Request isend(Slice slice, int dst, Place place = Place::current());
  [[nodiscard]] Request irecv(Slice slice, int src, Place place = Place::current());
  void wait(const Request& request, Place place = Place::current());
  void wait_all(std::span<const Request> requests, Place place = Place::current());
  void wait_all(std::initializer_list<Request> requests, Place place = Place::current());

  void barrier(Place place = Place::current());
  void broadcast(Slice slice, int src, Place place = Place::current());
  void reduce(Slice slice, int dst, ReduceOp op = ReduceOp::SUM, Place place = Place::current());
  void all_reduce(Slice slice, ReduceOp op = ReduceOp::SUM, Place place = Place::current());
  void gather(Slice slice, Slice gathered, int dst, Place place = Place::current());
  void all_gather(Slice slice, Slice gathered, Place place = Place::current());
  void scatter(Slice whole, Slice slice, int src, Place place = Place::current());
  void reduce_scatter(Slice slice, Slice piece, ReduceOp op = ReduceOp::SUM,
                      Place place = Place::current());
  void all_to_all(Slice input, Slice output, Place place = Place::current());

  [[nodiscard]] Request barrier_async(Place place = Place::current());
  [[nodiscard]] Request broadcast_async(Slice slice, int src, Place place = Place::current());
  [[nodiscard]] Request reduce_async(Slice slice, int dst, ReduceOp op = ReduceOp::SUM,
                                     Place place = Place::current());
  [[nodiscard]] Request all_reduce_async(Slice slice, ReduceOp op = ReduceOp::SUM,
                                         Place place = Place::current());
  [[nodiscard]] Request gather_async(Slice slice, Slice gathered, int dst,
                                     Place place = Place::current());
  [[nodiscard]] Request all_gather_async(Slice slice, Slice gathered,
                                         Place place = Place::current());
  [[nodiscard]] Request scatter_async(Slice whole, Slice slice, int src,
                                      Place place = Place::current());
  [[nodiscard]] Request reduce_scatter_async(Slice slice, Slice piece, ReduceOp op = ReduceOp::SUM,
                                             Place place = Place::current());
  [[nodiscard]] Request all_to_all_async(Slice input, Slice output, Place place = Place::current());

  Communicator split(int color, int key = 0, Place place = Place::current());

  void compute(double seconds, Place place = Place::current());
  void compute(double seconds, Label label, Place place = Place::current());
  void synchronize(Place place = Place::current());

 private:
  using Which = std::variant<sim::Communicator, NcclCommunicator>;

  Communicator(Which which, Attendance* attendance) : which_(which), attendance_(attendance) {}
  void attend(const char* operation, Place place);
  template <class Call>
  decltype(auto) on_either(const char* operation, Place place, Call call);
  template <class Start>
  Request start(const char* operation, Place place, Start start);
  void count(Slice sent);

  Which which_;
  Attendance* attendance_ = nullptr;  // null: the sandbox does all that
};

}  // namespace rankbox::gpu
