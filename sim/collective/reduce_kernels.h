// Element-wise reductions over several ranks' memory.
//
// They are the inner loops of the native collectives.
#pragma once

#include <cstdint>

#include "comm/dtype.h"
#include "comm/reduce_op.h"

namespace rankbox::sim {

/// For every i in [0, count): x = inputs[0][i] op inputs[1][i] op … op inputs[ranks-1][i], in that
/// order, divided by `ranks` for AVG; then outputs[k][i] = x for every k. Every element is read
/// before it is written, so an output may be an input, at the same place. Reads every input once
/// and writes every output once, keeping results in registers in between.
void reduce_to_all(const void* const* inputs, int ranks, void* const* outputs, int copies,
                   std::int64_t count, DType dtype, ReduceOp op);

}  // namespace rankbox::sim
