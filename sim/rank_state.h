// The sandbox's state of one rank.
#pragma once

#include <cstdint>
#include <exception>
#include <random>
#include <string>
#include <vector>

#include "comm/errors.h"
#include "comm/memory_meter.h"
#include "sim/collective/collective.h"
#include "sim/executor/spin.h"
#include "sim/message/operation.h"
#include "sim/recorder.h"

namespace rankbox::sim {

class PendingOperation;
class World;

/// Owned by its rank while that runs. While every rank is parked, the rank that proves the deadlock
/// reads `waiting`.
struct alignas(64) RankState {
  RankState(World& its_world, int its_rank, SpinLimit its_spin_limit, DataPlane* its_data_plane,
            bool record, std::uint64_t seed)
      : world(&its_world),
        rank(its_rank),
        spin_limit(its_spin_limit),
        data_plane(its_data_plane),
        recorder(record, memory),
        shaker(seed) {}

  World* world;
  int rank;                      // in the world
  SpinLimit spin_limit;          // the executor's
  const void* thread = nullptr;  // that runs it (__builtin_thread_pointer); null: fibers move
  DataPlane* data_plane;         // the world's; null: data is in host memory

  // A rank blocks in one call at a time, so its blocking operations are stored here, at addresses
  // that stay in its cache.
  Operation send_operation;
  Operation recv_operation;
  CollectiveOperation collective_operation;

  const Operation* waiting[2] = {nullptr,
                                 nullptr};  // what it is parked on; both halves of a sendrecv

  Recorder recorder;
  MemoryMeter memory;
  std::uint32_t requests = 0;                    // asynchronous operations started
  std::vector<PendingOperation*> open_requests;  // started, and not waited for yet
  bool has_waited = false;                       // in this wait_all
  bool continues_wait_all = false;               // the next wait does
  std::int64_t messages = 0;                     // sent
  std::int64_t bytes = 0;                        // sent
  std::minstd_rand shaker;                       // generates random pauses

  std::exception_ptr failure;  // what its function threw, if anything

  std::vector<MessageMismatch> mismatches;  // found by this rank, as of the lower of the two

  std::exception_ptr overwritten;  // BufferReused of a request that was dropped; null: none

  // The first request that was dropped unfinished, as text; empty: none.
  std::string dropped_request;
  const char* dropped_operation = "";
  int dropped_peer = -1;
  Place dropped_place{};
};

/// Returns the rank that runs on this thread; null outside of any rank.
RankState*& current_rank();

}  // namespace rankbox::sim
