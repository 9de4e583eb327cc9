#include "judge/noted_result.h"

#include <bit>
#include <utility>

namespace rankbox {

namespace {

thread_local std::uint64_t noted_by_this_thread = 0;

}  // namespace

void note_result(const Tensor& result) {
  constexpr std::uint64_t kPrime = 0x100000001b3;  // FNV-1a
  std::uint64_t digest = noted_by_this_thread == 0 ? 0xcbf29ce484222325 : noted_by_this_thread;
  for (const float element : to_host(result))
    digest = (digest ^ std::bit_cast<std::uint32_t>(element)) * kPrime;
  noted_by_this_thread = digest;
}

std::uint64_t take_noted_result() { return std::exchange(noted_by_this_thread, 0); }

}  // namespace rankbox
