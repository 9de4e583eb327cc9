#include "judge/salt.h"

#include <atomic>
#include <random>

namespace rankbox {

namespace {

std::atomic<std::uint64_t> current = 0;

}  // namespace

std::uint64_t salt() { return current.load(std::memory_order_relaxed); }

void set_salt(std::uint64_t salt) { current.store(salt, std::memory_order_relaxed); }

std::uint64_t random_salt() {
  std::random_device device;
  const std::uint64_t bits = (std::uint64_t{device()} << 32) | device();
  return 1 + bits % static_cast<std::uint64_t>(kLargestSalt);
}

Random salted(std::string_view use) { return Random(salt()).stream(use); }

std::int64_t drawn(std::string_view use, std::int64_t fixed, std::int64_t least,
                   std::int64_t most) {
  return salt() == 0 ? fixed : least + salted(use).below(most - least + 1);
}

}  // namespace rankbox
