// The kernel of small operations as plain C++, for the emulated runtime.
#include "gpu/kernels/small_operations.cu"  // NOLINT
