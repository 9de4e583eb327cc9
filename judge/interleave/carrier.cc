#include "judge/interleave/carrier.h"

#include <cerrno>
#include <cstddef>
#include <cstring>

#include <cxxabi.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace rankbox::interleave {

namespace {

constexpr std::size_t kStackBytes = std::size_t{1} << 20;
constexpr std::size_t kGuardBytes = std::size_t{1} << 16;

/// Stacks that are free. Executions are many, and use the same ones.
class Stacks {
 public:
  Stacks() = default;
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;
  ~Stacks() {
    for (void* stack : free_) munmap(stack, kStackBytes);
  }

  void* take() {
    if (!free_.empty()) {
      void* stack = free_.back();
      free_.pop_back();
      return stack;
    }
    void* stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) return nullptr;
    mprotect(stack, kGuardBytes, PROT_NONE);
    return stack;
  }

  void give_back(void* stack) { free_.push_back(stack); }

 private:
  std::vector<void*> free_;
};

Stacks& stacks() {
  thread_local Stacks all;
  return all;
}

}  // namespace

Carrier::~Carrier() {
  if (stack_ != nullptr) stacks().give_back(stack_);
}

int Carrier::start_fiber(void (*entry)(void*), void* argument) {
  entry_ = entry;
  argument_ = argument;
  stack_ = stacks().take();
  if (stack_ == nullptr) return EAGAIN;
  getcontext(&context_);
  context_.uc_stack.ss_sp = stack_;
  context_.uc_stack.ss_size = kStackBytes;
  const auto address = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&context_, reinterpret_cast<void (*)()>(begin_fiber), 2,
              static_cast<unsigned>(address >> 32U), static_cast<unsigned>(address));
  return 0;
}

// makecontext passes whole numbers of 32 bits.
void Carrier::begin_fiber(unsigned high, unsigned low) {
  const std::uintptr_t address = (std::uintptr_t{high} << 32U) | low;
  auto* self = reinterpret_cast<Carrier*>(address);  // NOLINT(performance-no-int-to-ptr)
  self->entry_(self->argument_);
}

int Carrier::start_thread(void (*entry)(void*), void* argument, const pthread_attr_t* attributes) {
  entry_ = entry;
  argument_ = argument;
  is_thread_ = true;
  return pthread_create(&handle_, attributes, begin_thread, this);
}

void* Carrier::begin_thread(void* carrier) {
  auto* self = static_cast<Carrier*>(carrier);
  self->wait();
  self->entry_(self->argument_);
  return nullptr;
}

void Carrier::wait() {
  while (baton_.load(std::memory_order_acquire) == 0)
    syscall(SYS_futex, &baton_, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
  baton_.store(0, std::memory_order_relaxed);
}

void Carrier::switch_to(Carrier& other, const std::vector<std::uint64_t*>& locals, bool is_last) {
  if (is_thread_ || other.is_thread_) {
    other.baton_.store(1, std::memory_order_release);
    syscall(SYS_futex, &other.baton_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    if (!is_last) wait();
    return;
  }
  words_.resize(locals.size());
  other.words_.resize(locals.size());
  for (std::size_t i = 0; i < locals.size(); ++i) {
    words_[i] = *locals[i];
    *locals[i] = other.words_[i];
  }
  void* exceptions = abi::__cxa_get_globals();
  std::memcpy(exceptions_, exceptions, sizeof exceptions_);
  std::memcpy(exceptions, other.exceptions_, sizeof exceptions_);
  error_ = errno;
  errno = other.error_;
  if (is_last) {
    setcontext(&other.context_);
  } else {
    swapcontext(&context_, &other.context_);
  }
}

}  // namespace rankbox::interleave
