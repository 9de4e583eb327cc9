// Plain accesses and atomics, as the compiler reports them.
//
// With -fsanitize=thread a compiler calls these functions before each plain access, and in place of
// each atomic operation. All atomics are sequentially consistent here, whatever order was asked
// for.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "judge/interleave/wrap.h"

namespace rankbox::interleave {

namespace {

using enum Action;

void plain(const void* place, const void* code, bool writes) {
  if (Thread* me = Control::self(); me != nullptr) me->control->plain_access(place, code, writes);
}

void plain_range(const void* place, std::size_t bytes, const void* code, bool writes) {
  Thread* me = Control::self();
  if (me == nullptr) return;
  constexpr std::size_t kWord = 8;
  const auto* first = static_cast<const char*>(place);
  for (std::size_t at = 0; at < bytes; at += kWord)
    me->control->plain_access(first + at, code, writes);
}

/// Carries out an atomic operation, which returns the number that was there before.
template <typename T, typename Update>
T atomic(Action action, volatile T* word, const void* code, const Update& update) {
  Thread* me = Control::self();
  if (me == nullptr) return update();
  const void* place = const_cast<const T*>(word);
  Step& step = me->control->step({.action = action, .place = place, .code = code});
  const T before = update();
  const T after = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  step.before = static_cast<std::int64_t>(before);
  step.after = static_cast<std::int64_t>(after);
  if (before != after || action == kAtomicStore) me->control->changed(place);
  return before;
}

}  // namespace

extern "C" {

#define PLAIN(name, writes)                                     \
  void wrap_##name(void* place) RANKBOX_WRAPS("__tsan_" #name); \
  void wrap_##name(void* place) { plain(place, __builtin_return_address(0), writes); }
#define PLAIN_OF_SIZE(size) PLAIN(read##size, false) PLAIN(write##size, true)
#define UNALIGNED_OF_SIZE(size) \
  PLAIN(unaligned_read##size, false) PLAIN(unaligned_write##size, true)
PLAIN_OF_SIZE(1)
PLAIN_OF_SIZE(2)
PLAIN_OF_SIZE(4)
PLAIN_OF_SIZE(8)
PLAIN_OF_SIZE(16)
UNALIGNED_OF_SIZE(2)
UNALIGNED_OF_SIZE(4)
UNALIGNED_OF_SIZE(8)
UNALIGNED_OF_SIZE(16)

void wrap_read_range(void* place, std::size_t bytes) RANKBOX_WRAPS("__tsan_read_range");
void wrap_read_range(void* place, std::size_t bytes) {
  plain_range(place, bytes, __builtin_return_address(0), false);
}
void wrap_write_range(void* place, std::size_t bytes) RANKBOX_WRAPS("__tsan_write_range");
void wrap_write_range(void* place, std::size_t bytes) {
  plain_range(place, bytes, __builtin_return_address(0), true);
}
void* wrap_memcpy(void* to, const void* from, std::size_t bytes) RANKBOX_WRAPS("__tsan_memcpy");
void* wrap_memcpy(void* to, const void* from, std::size_t bytes) {
  plain_range(from, bytes, __builtin_return_address(0), false);
  plain_range(to, bytes, __builtin_return_address(0), true);
  return std::memcpy(to, from, bytes);
}
void* wrap_memmove(void* to, const void* from, std::size_t bytes) RANKBOX_WRAPS("__tsan_memmove");
void* wrap_memmove(void* to, const void* from, std::size_t bytes) {
  plain_range(from, bytes, __builtin_return_address(0), false);
  plain_range(to, bytes, __builtin_return_address(0), true);
  return std::memmove(to, from, bytes);
}
void* wrap_memset(void* to, int byte, std::size_t bytes) RANKBOX_WRAPS("__tsan_memset");
void* wrap_memset(void* to, int byte, std::size_t bytes) {
  plain_range(to, bytes, __builtin_return_address(0), true);
  return std::memset(to, byte, bytes);
}

void wrap_init() RANKBOX_WRAPS("__tsan_init");
void wrap_init() {}
void wrap_func_entry(void*) RANKBOX_WRAPS("__tsan_func_entry");
void wrap_func_entry(void*) {}
void wrap_func_exit() RANKBOX_WRAPS("__tsan_func_exit");
void wrap_func_exit() {}
void wrap_vptr_read(void**) RANKBOX_WRAPS("__tsan_vptr_read");
void wrap_vptr_read(void**) {}
void wrap_vptr_update(void**, void*) RANKBOX_WRAPS("__tsan_vptr_update");
void wrap_vptr_update(void**, void*) {}
void wrap_thread_fence(int) RANKBOX_WRAPS("__tsan_atomic_thread_fence");
// Not a fence, which the thread sanitizer's builds refuse: an update of one word that all share.
void wrap_thread_fence(int) {
  static int word = 0;
  __atomic_fetch_add(&word, 0, __ATOMIC_SEQ_CST);
}
void wrap_signal_fence(int) RANKBOX_WRAPS("__tsan_atomic_signal_fence");
void wrap_signal_fence(int) {}

// Macro arguments are types and names here, and the compiler's calls have these parameters.
// NOLINTBEGIN(bugprone-macro-parentheses, readability-non-const-parameter)
#define UPDATE(T, size, name, builtin)                                      \
  T wrap_##name##size(volatile T* word, T number, int)                      \
      RANKBOX_WRAPS("__tsan_atomic" #size "_" #name);                       \
  T wrap_##name##size(volatile T* word, T number, int) {                    \
    return atomic(kAtomicUpdate, word, __builtin_return_address(0),         \
                  [&] { return builtin(word, number, __ATOMIC_SEQ_CST); }); \
  }

#define COMPARE(T, size, name)                                                            \
  int wrap_##name##size(volatile T* word, T* expected, T number, int, int)                \
      RANKBOX_WRAPS("__tsan_atomic" #size "_" #name);                                     \
  int wrap_##name##size(volatile T* word, T* expected, T number, int, int) {              \
    bool done = false;                                                                    \
    atomic(kAtomicUpdate, word, __builtin_return_address(0), [&] {                        \
      const T before = *expected;                                                         \
      done = __atomic_compare_exchange_n(word, expected, number, false, __ATOMIC_SEQ_CST, \
                                         __ATOMIC_SEQ_CST);                               \
      return done ? before : *expected;                                                   \
    });                                                                                   \
    return done ? 1 : 0;                                                                  \
  }

// clang's form: returns what was there.
#define COMPARE_VALUE(T, size)                                                   \
  T wrap_compare_value##size(volatile T* word, T expected, T number, int, int)   \
      RANKBOX_WRAPS("__tsan_atomic" #size "_compare_exchange_val");              \
  T wrap_compare_value##size(volatile T* word, T expected, T number, int, int) { \
    return atomic(kAtomicUpdate, word, __builtin_return_address(0), [&] {        \
      T found = expected;                                                        \
      __atomic_compare_exchange_n(word, &found, number, false, __ATOMIC_SEQ_CST, \
                                  __ATOMIC_SEQ_CST);                             \
      return found;                                                              \
    });                                                                          \
  }

#define ATOMICS(T, size)                                                                       \
  T wrap_load##size(const volatile T* word, int) RANKBOX_WRAPS("__tsan_atomic" #size "_load"); \
  T wrap_load##size(const volatile T* word, int) {                                             \
    return atomic(kAtomicLoad, const_cast<volatile T*>(word), __builtin_return_address(0),     \
                  [&] { return __atomic_load_n(word, __ATOMIC_SEQ_CST); });                    \
  }                                                                                            \
  void wrap_store##size(volatile T* word, T number, int)                                       \
      RANKBOX_WRAPS("__tsan_atomic" #size "_store");                                           \
  void wrap_store##size(volatile T* word, T number, int) {                                     \
    atomic(kAtomicStore, word, __builtin_return_address(0),                                    \
           [&] { return __atomic_exchange_n(word, number, __ATOMIC_SEQ_CST); });               \
  }                                                                                            \
  UPDATE(T, size, exchange, __atomic_exchange_n)                                               \
  UPDATE(T, size, fetch_add, __atomic_fetch_add)                                               \
  UPDATE(T, size, fetch_sub, __atomic_fetch_sub)                                               \
  UPDATE(T, size, fetch_and, __atomic_fetch_and)                                               \
  UPDATE(T, size, fetch_or, __atomic_fetch_or)                                                 \
  UPDATE(T, size, fetch_xor, __atomic_fetch_xor)                                               \
  UPDATE(T, size, fetch_nand, __atomic_fetch_nand)                                             \
  COMPARE(T, size, compare_exchange_strong)                                                    \
  COMPARE(T, size, compare_exchange_weak)                                                      \
  COMPARE_VALUE(T, size)

ATOMICS(std::uint8_t, 8)
ATOMICS(std::uint16_t, 16)
ATOMICS(std::uint32_t, 32)
ATOMICS(std::uint64_t, 64)
// NOLINTEND(bugprone-macro-parentheses, readability-non-const-parameter)

}  // extern "C"

}  // namespace rankbox::interleave
