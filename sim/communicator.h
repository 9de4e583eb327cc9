// Comm in the sandbox: a rank's handle on its communicator. The contract is in comm/communicator.h.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>

#include "comm/collective_kind.h"
#include "comm/label.h"
#include "comm/place.h"
#include "comm/reduce_op.h"
#include "comm/slice.h"

namespace rankbox::sim {

class Group;
class PendingOperation;
struct RankState;

/// An operation that was started and must be waited for. Copies stand for the same operation; the
/// last one to go while the operation is unfinished cancels it and fails the rank with
/// UnreceivedMessage.
class Request {
 public:
  Request() = default;

 private:
  friend class Communicator;
  explicit Request(std::shared_ptr<PendingOperation> pending) : pending_(std::move(pending)) {}
  std::shared_ptr<PendingOperation> pending_;
};

/// A small value: copy it freely within its rank, never hand it to another rank.
class Communicator {
 public:
  using Request = sim::Request;

  Communicator(RankState& rank, Group& group, int index)
      : state_(&rank), group_(&group), index_(index) {}

  int rank() const { return index_; }
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
  RankState* state_;
  Group* group_;  // null: a communicator this rank was left out of (split with a negative color)
  int index_;     // this rank within the group
};

}  // namespace rankbox::sim
