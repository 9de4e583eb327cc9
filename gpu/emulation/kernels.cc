// The kernels as plain C++, for the emulated runtime.
#include "gpu/kernels.cu"  // NOLINT
