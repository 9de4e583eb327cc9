// The bug matrix: the table of generated programs, and what they share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "comm/comm.h"
#include "comm/tensor.h"

namespace rankbox::testing {

using Request = Comm::Request;

/// The tensors of a rank, p = world_size.
struct Data {
  explicit Data(const Comm& dist)
      : p(dist.world_size()),
        r(dist.rank()),
        next((r + 1) % p),
        prev((r + p - 1) % p),
        x(full(kElements, 1.0f)),
        y(full(kElements, 2.0f)),
        xs(full(p * kElements, 3.0f)),
        ys(full(p * kElements, 4.0f)) {}

  static constexpr int kElements = 6;
  int p;
  int r;
  int next;  // on the ring of all ranks
  int prev;
  Tensor x;  // kElements each
  Tensor y;
  Tensor xs;  // p * kElements each
  Tensor ys;
};

/// Lines of the generated file, or world sizes; 0: none.
template <std::size_t N>
using Numbers = std::array<int, N>;

/// One program.
struct Row {
  void (*program)(Comm& dist);
  const char* name;
  const char* kind;       // the class of its mistake
  const char* operation;  // the call that is wrong
  Numbers<7> worlds;
  bool wrong;            // false: the correct twin
  bool hidden;           // with unbounded buffers the mistake does not show
  Numbers<4> at_of_two;  // in a world of two ranks the error has to stand at one of these lines,
  Numbers<4> at;         // in others at one of these;
  Numbers<4> named;      // its text has to name all of these,
  Numbers<4> others;     // and may name these
};

/// All programs, generated.
std::span<const Row> rows();

}  // namespace rankbox::testing
