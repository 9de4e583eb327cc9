// Message tags: the number, type and size digest of a message, in MPI's tag.
//
// The contract has no tags: messages match in order, and their sizes must agree. So a receive
// matches only the tag of the expected message. Any other message stays in MPI's queue, where
// MPI_Iprobe finds it, and is a mismatch. Correct programs pay nothing: no header, no second
// message.
//
//   bits of a tag, from the lowest:  3 type | 6 to 8 number | the rest: digest of the size
//
// With the 31 bits of most MPIs, sizes below 2^20 elements are their own digests. A larger size may
// share its digest with another, but not with a near, round or otherwise likely one; those are told
// apart once the message has arrived. Collisions must be that rare: where processes read each
// other's memory (btl vader's "cma"), Open MPI 4 writes past the end of a slice that is too short.
#pragma once

#include <algorithm>
#include <cstdint>

#include "comm/dtype.h"

namespace rankbox::mpi {

class TagFormat {
 public:
  /// @param bits usable bits of a tag; MPI guarantees 15
  explicit TagFormat(int bits)
      : number_bits_(std::clamp(bits - 3 - 16, 6, 8)), size_bits_(bits - 3 - number_bits_) {}

  int tag(std::uint32_t number, DType dtype, std::int64_t elements) const {
    const auto count = static_cast<std::uint64_t>(elements);
    return static_cast<int>(static_cast<std::uint64_t>(dtype) | (number & mask(number_bits_)) << 3 |
                            digest(count) << (3 + number_bits_));
  }

  static DType dtype_of(int tag) { return static_cast<DType>(tag & 7); }

  /// Returns whether it is the tag of message `number` between two ranks.
  /// REQUIRES: the tag's message is less than numbers() messages away.
  bool has_number(int tag, std::uint32_t number) const {
    return (static_cast<std::uint64_t>(tag) >> 3 & mask(number_bits_)) ==
           (number & mask(number_bits_));
  }
  /// Returns how many consecutive messages have different numbers.
  std::uint32_t numbers() const { return std::uint32_t{1} << number_bits_; }

 private:
  static constexpr std::uint64_t mask(int bits) { return (std::uint64_t{1} << bits) - 1; }

  std::uint64_t digest(std::uint64_t count) const {
    const std::uint64_t high = count >> size_bits_;
    // Fibonacci hashing: neighbouring sizes end up far apart. 0 stays 0.
    const std::uint64_t scattered = high * 0x9e3779b97f4a7c15 >> (64 - size_bits_);
    return (count ^ scattered) & mask(size_bits_);
  }

  int number_bits_;
  int size_bits_;
};

}  // namespace rankbox::mpi
