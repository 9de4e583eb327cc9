#include "judge/memory_window.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include <malloc.h>

#include "comm/memory_meter.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RANKBOX_COUNTS_NEW 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define RANKBOX_COUNTS_NEW 0
#endif
#endif
#ifndef RANKBOX_COUNTS_NEW
#define RANKBOX_COUNTS_NEW 1
#endif

namespace rankbox {

namespace {

/// This thread's counters. They have no constructor: they are used before constructors run and
/// after the last destructor.
struct Held {
  std::int64_t now;
  std::int64_t most;
};
thread_local constinit Held held = {0, 0};
thread_local constinit int uncounted = 0;  // that live

#if RANKBOX_COUNTS_NEW

void count(std::int64_t bytes) {
  held.now += bytes;
  held.most = std::max(held.most, held.now);
}

/// The handler may free memory or throw, as the standard requires.
template <class Allocate>
void* allocated(Allocate allocate) {
  for (;;) {
    if (void* const at = allocate()) {
      count(static_cast<std::int64_t>(malloc_usable_size(at)));
      return at;
    }
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void release(void* at) {
  if (at == nullptr) return;
  count(-static_cast<std::int64_t>(malloc_usable_size(at)));
  std::free(at);
}

#endif

std::int64_t bytes_held() {
  if (MemoryWindow::counts_everything()) return held.now;
  const MemoryMeter* const meter = current_memory_meter();
  return meter == nullptr ? 0 : meter->current_bytes;
}

}  // namespace

bool MemoryWindow::counts_everything() { return RANKBOX_COUNTS_NEW != 0; }

MemoryWindow::MemoryWindow() : held_before_(bytes_held()) {
  held.most = held.now;
  if (MemoryMeter* const meter = current_memory_meter()) meter->peak_bytes = meter->current_bytes;
}

std::int64_t MemoryWindow::peak() const {
  if (counts_everything()) return held.most - held_before_;
  const MemoryMeter* const meter = current_memory_meter();
  return meter == nullptr ? 0 : meter->peak_bytes - held_before_;
}

std::int64_t MemoryWindow::kept() const { return bytes_held() - held_before_; }

UncountedMemory::UncountedMemory() : now_(held.now), most_(held.most) { ++uncounted; }

UncountedMemory::~UncountedMemory() {
  held = {now_ + kept_, std::max(most_, now_ + peak_)};
  --uncounted;
}

bool UncountedMemory::lives() { return uncounted > 0; }

}  // namespace rankbox

#if RANKBOX_COUNTS_NEW

// All other forms of new and delete call these: [new.delete].
void* operator new(std::size_t bytes) {
  return rankbox::allocated([=] { return std::malloc(std::max<std::size_t>(bytes, 1)); });
}

void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return rankbox::allocated([=]() -> void* {
    void* at = nullptr;
    const std::size_t to = std::max(static_cast<std::size_t>(alignment), sizeof(void*));
    return posix_memalign(&at, to, bytes) == 0 ? at : nullptr;
  });
}

void operator delete(void* at) noexcept { rankbox::release(at); }
void operator delete(void* at, std::size_t /*bytes*/) noexcept { rankbox::release(at); }
void operator delete(void* at, std::align_val_t /*alignment*/) noexcept { rankbox::release(at); }
void operator delete(void* at, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  rankbox::release(at);
}

#endif
