#include "cli/plugin/signal_stack.h"

#include <csignal>
#include <cstddef>

#include "comm/memory_meter.h"

namespace rankbox::cli {
namespace {

// A handler needs some 10 KiB, most of them for walking up the frames.
constexpr std::size_t kBytes = 64 * 1024;

}  // namespace

SignalStack::SignalStack() : memory_(std::make_unique_for_overwrite<char[]>(kBytes)) {
  stack_t stack = {};
  stack.ss_sp = memory_.get();
  stack.ss_size = kBytes;
  sigaltstack(&stack, nullptr);
}

SignalStack::~SignalStack() {
  stack_t none = {};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
}

int rank_of_this_thread() {
  const MemoryMeter* meter = current_memory_meter();
  return meter == nullptr ? -1 : static_cast<int>(meter->owner & 0xffffffff) - 1;
}

}  // namespace rankbox::cli
