// The kernels as plain C++, for the emulated runtime.
#include "gpu/kernels/kernels.cu"  // NOLINT
