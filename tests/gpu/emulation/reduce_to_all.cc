// The reduction kernels as plain C++, for the emulated runtime.
#include "gpu/kernels/reduce_to_all.cu"  // NOLINT
