#include "comm/memory_meter.h"

namespace rankbox {

MemoryMeter*& current_memory_meter() {
  static thread_local MemoryMeter* meter = nullptr;
  return meter;
}

void note_memory(const MemoryNote& note) {
  MemoryMeter* const meter = current_memory_meter();
  if (meter != nullptr) meter->note(note);
}

int rank_of_this_thread() {
  const MemoryMeter* meter = current_memory_meter();
  return meter == nullptr ? -1 : static_cast<int>(meter->owner & 0xffffffff) - 1;
}

}  // namespace rankbox
