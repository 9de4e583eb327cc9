// Functions that the host's compiler and nvcc both compile, from one source.
//
//   const float* const x = tensor.data();
//   for_each(n, [=] RANKBOX_PORTABLE(std::int64_t i) { y[i] = x[i] * x[i]; });
//
// Such a lambda captures by value: numbers, and addresses in the memory of tensors. nvcc adds: the
// function around it has a name and is not private, it is inside no generic lambda, and it captures
// no `this`. Lambdas inside of it are ordinary ones.
#pragma once

#if defined(__CUDACC__)
#define RANKBOX_PORTABLE __host__ __device__
#else
#define RANKBOX_PORTABLE
#endif

namespace rankbox {

/// Whether tensors are in device memory.
#if defined(RANKBOX_BACKEND_NCCL)
inline constexpr bool kOnGpu = true;
#else
inline constexpr bool kOnGpu = false;
#endif

/// Two numbers that are summed together.
template <class T>
struct Pair {
  T first{};
  T second{};

  RANKBOX_PORTABLE Pair& operator+=(Pair other) {
    first += other.first;
    second += other.second;
    return *this;
  }
};

}  // namespace rankbox
