#include "comm/memory_meter.h"

namespace rankbox {

MemoryMeter*& current_memory_meter() {
  static thread_local MemoryMeter* meter = nullptr;
  return meter;
}

}  // namespace rankbox
