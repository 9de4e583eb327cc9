// accumulate() and axpy() of comm/tensor.h, without recording their cost.
#include "comm/tensor.h"
#include "comm/tensor_checks.h"
#include "host/arithmetic.h"

namespace rankbox {

void accumulate(Slice into, Slice from, ReduceOp op, Place place) {
  check_pair("accumulate", into, from, place);
  host::reduce(into, from, op);
}

void detail::add_scaled(Slice into, double factor, Slice from, Place place) {
  check_pair("axpy", into, from, place);
  check_factor("axpy", into, factor, place);
  host::add_scaled(into, factor, from);
}

}  // namespace rankbox
