// One rank's half of a message, or its part in a collective.
//
// Operations are posted, matched, waited for and completed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "comm/collective_kind.h"
#include "comm/dtype.h"
#include "comm/errors.h"
#include "comm/place.h"
#include "sim/data_plane.h"

namespace rankbox::sim {

class Channel;
class CollectiveJob;
struct RankState;

enum class OperationKind : std::uint8_t { kSend, kRecv, kCollective };

/// How an operation ended.
enum class Outcome : std::uint8_t { kOk, kMismatch, kStopped };

/// The states of an operation, for its owner and the one rank that completes it.
///
///   kPending -> kDone                                    the owner did not park
///   kPending -> kParked -> kDone                         the owner parked, and was woken
///   kPending|kParked -> kWork (-> kParked) -> kDone      a collective asked its waiting owner for
///   help
enum OperationState : std::uint32_t { kPending, kParked, kWork, kDone };

/// Why the two sides of a message, or the calls of a collective, do not fit.
struct Mismatch {
  std::string text;        // the difference, with the places
  int peer = -1;           // world rank of the other side; -1 for a collective
  ErrorContext differs{};  // a collective: the rank that differs
};

/// Owned by one rank. The rank fills it in, posts it, and keeps it and its memory alive until it is
/// done. From posting until kDone, the rank that matches it owns everything but `state`.
struct alignas(64) Operation {
  Operation* next = nullptr;  // in its channel's queue
  void* data = nullptr;
  std::int64_t bytes = 0;
  Channel* channel = nullptr;    // kSend, kRecv
  CollectiveJob* job = nullptr;  // kCollective
  DType dtype = DType::kFloat32;
  OperationKind kind = OperationKind::kSend;
  CollectiveKind collective_kind = CollectiveKind::kBarrier;
  bool buffered = false;  // a send whose data was copied and whose owner continued
  bool watched = false;   // its owner waits for it at once, by polling the channel
  int peer = -1;          // world rank of the other side
  Place place{};

  // The field that the waiting owner polls is on another line than the message's description.
  alignas(64) RankState* owner = nullptr;
  std::atomic<std::uint32_t> state{kDone};
  std::atomic<Outcome> outcome{Outcome::kOk};  // ordered by `state`; sendrecv: channel.cc
  Operation* other_half = nullptr;             // of a sendrecv: fails with this one
  DataPlane::Transit* transit = nullptr;       // with a data plane: as it prepared this
  std::unique_ptr<Mismatch> mismatch;          // kMismatch
};

}  // namespace rankbox::sim
