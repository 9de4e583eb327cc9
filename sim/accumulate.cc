// accumulate() and axpy() in the sandbox.
#include "comm/tensor.h"
#include "comm/tensor_checks.h"
#include "host/arithmetic.h"
#include "sim/reduction.h"

namespace rankbox {

void accumulate(Slice into, Slice from, ReduceOp op, Place place) {
  check_pair("accumulate", into, from, place);
  Event* const event = sim::begin_reduction(into, from, op);
  host::reduce(into, from, op);
  sim::end_reduction(event, into);
}

void detail::add_scaled(Slice into, double factor, Slice from, Place place) {
  check_pair("axpy", into, from, place);
  check_factor("axpy", into, factor, place);
  Event* const event = sim::begin_reduction(into, from, ReduceOp::SUM);
  host::add_scaled(into, factor, from);
  sim::end_reduction(event, into);
}

}  // namespace rankbox
