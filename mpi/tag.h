// What a message says of itself: MPI's tag holds its number, its type and a digest of its size.
//
// The contract has no tags: messages match in order, and their sizes must agree. So a receive asks
// for just the message it may get. If another one comes, it stays where it is, is seen there
// (MPI_Iprobe), and is a mismatch. That costs nothing where all is well: no header, no second
// message.
//
//   bits of a tag, from the lowest:  3 type | 6 to 12 number | the rest: digest of the size
//
// Sizes whose digests collide (1 in 2^16 with most MPIs) are told apart after the message has come.
#pragma once

#include <algorithm>
#include <cstdint>

#include "comm/dtype.h"

namespace rankbox::mpi {

class TagFormat {
 public:
  /// @param bits that a tag may have; MPI promises 15
  explicit TagFormat(int bits)
      : number_bits_(std::clamp(bits - 3 - 16, 6, 12)), size_bits_(bits - 3 - number_bits_) {}

  int tag(std::uint32_t number, DType dtype, std::int64_t elements) const {
    const auto count = static_cast<std::uint64_t>(elements);
    const std::uint64_t digest =
        (count ^ count >> size_bits_ ^ count >> 2 * size_bits_) & mask(size_bits_);
    return static_cast<int>(static_cast<std::uint64_t>(dtype) | (number & mask(number_bits_)) << 3 |
                            digest << (3 + number_bits_));
  }

  static DType dtype_of(int tag) { return static_cast<DType>(tag & 7); }

  /// Whether it is the tag of message `number` between two ranks.
  bool has_number(int tag, std::uint32_t number) const {
    return (static_cast<std::uint64_t>(tag) >> 3 & mask(number_bits_)) ==
           (number & mask(number_bits_));
  }

 private:
  static constexpr std::uint64_t mask(int bits) { return (std::uint64_t{1} << bits) - 1; }

  int number_bits_;
  int size_bits_;
};

}  // namespace rankbox::mpi
