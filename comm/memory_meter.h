// A rank's tensor memory: its bytes, its owner, and what of it is in use.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "comm/buffers_in_use.h"
#include "comm/memory_note.h"

namespace rankbox {

/// One rank's tensor memory. Only the thread (or fiber) that runs the rank touches it.
struct MemoryMeter {
  std::uint64_t owner = 0;  // (serial number of the world << 32) | (rank + 1); never 0 for a rank
  std::int64_t current_bytes = 0;
  std::int64_t peak_bytes = 0;
  // Of the next tensor without data; null: tensors have data. See comm/without_data.h.
  char* next_address = nullptr;
  BuffersInUse in_use;  // by operations that were not waited for yet
  // Null: no notes are taken. Never grows, since judges count what a rank allocates: full means
  // that notes may be missing.
  std::vector<MemoryNote>* notes = nullptr;

  void note(const MemoryNote& what) {
    if (notes != nullptr && notes->size() < notes->capacity()) notes->push_back(what);
  }

  void add(std::int64_t bytes) {
    current_bytes += bytes;
    peak_bytes = std::max(peak_bytes, current_bytes);
  }
};

/// The meter of this thread's rank; null outside any rank. Set by the backend.
MemoryMeter*& current_memory_meter();

/// Returns the rank that runs on this thread; -1 outside any rank.
int rank_of_this_thread();

/// Notes what the rank of this thread does to memory outside its calls, if notes are taken.
void note_memory(const MemoryNote& note);

}  // namespace rankbox
