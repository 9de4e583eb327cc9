// The referee's side of one rank process: its socket, and what belongs to the current case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <vector>

#include "comm/comm.h"
#include "judge/seal/wire.h"
#include "judge/stop_report.h"
#include "training/saved.h"

namespace rankbox::seal {

/// Data of a rank process while the referee works on it. The address of its bytes never changes.
class Buffer {
 public:
  Buffer() = default;  // null
  /// Throws std::runtime_error for a negative or an impossible number of bytes.
  Buffer(DType dtype, std::int64_t elements);

  Slice slice() {
    if (null_) return {};
    return {bytes_.data(), elements_, dtype_, /*read_only=*/false, /*owner=*/0};
  }

 private:
  bool null_ = true;
  DType dtype_ = DType::kFloat32;
  std::int64_t elements_ = 0;
  std::vector<std::byte> bytes_;
};

/// An asynchronous operation that the rank process started.
struct Open {
  Buffer in;   // what it sends; null: nothing
  Buffer out;  // what it receives
  Request request;
  bool is_storage = false;  // no other rank takes part: this one gets its own data back
};

/// A forward pass of the process's own.
struct ForwardPass {
  std::size_t layer = 0;  // of the call's
  Shape output = {};
  Saved saved;
};

struct Link {
  Connection* connection = nullptr;
  std::uint64_t owner = 0;  // of the case's rank (MemoryMeter::owner): another one, another case
  std::vector<Comm> communicators;  // by number: arguments of calls, and what splits made
  std::map<std::uint32_t, Open> open;
  std::map<std::uint32_t, ForwardPass> saved;
  std::uint32_t saves = 0;
  std::map<const Saved*, std::uint32_t> saved_arguments;  // numbered: calls of a case share them
  std::exception_ptr failure;                             // of a request; the last one
  bool refuses = false;  // the failure is yet to be told, as the reply to the next request
  bool memory_is_counted = false;  // since the last request
};

/// Returns the link of the rank that calls, for its case.
Link& current_link();

/// The last stop of the rank that calls, since its call began; how is empty: none.
Stop& current_stop();

/// Whether the process of the rank that calls has ended, or sent what is no request: what it sends
/// next would be taken for another call's.
bool& is_lost();

/// Sets the sockets, one for each rank, before any case runs.
void set_sockets(const std::vector<int>& sockets);

}  // namespace rankbox::seal
