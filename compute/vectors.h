// Code on the host, compiled for each generation of vector registers; the CPU's is called.
//
//   on_vectors([=](auto width) { for (…) y[i] = a * x[i]; });     // width(): bytes of a register
//
// Everything inside is inlined and compiled three times, so keep it a loop. Programs are built for
// any x86-64 CPU, whose vectors have 16 bytes; on others they have that width, too.
//
// The same operations in the same order: results have the same bits whatever the width, unless the
// file allows the compiler to fuse multiplications and additions (-ffp-contract).
//
// Measured: docs/limits.md, "Training".
#pragma once

#include <type_traits>

namespace rankbox {

namespace detail {

template <int bytes>
using VectorBytes = std::integral_constant<int, bytes>;

// By value: the compiler knows that no store of the loop changes what is captured.
template <class F>
[[gnu::flatten]] void on_16_bytes(F f) {
  f(VectorBytes<16>());
}
#if defined(__x86_64__) && !defined(__CUDACC__)
template <class F>
[[gnu::flatten, gnu::target("avx2,fma")]] void on_32_bytes(F f) {
  f(VectorBytes<32>());
}
template <class F>
[[gnu::flatten, gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]] void on_64_bytes(F f) {
  f(VectorBytes<64>());
}
#endif

}  // namespace detail

/// f(the width of the CPU's vector registers, in bytes, as a constant).
template <class F>
void on_vectors(F f) {
#if defined(__x86_64__) && !defined(__CUDACC__)
  if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw"))
    return detail::on_64_bytes(f);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return detail::on_32_bytes(f);
#endif
  detail::on_16_bytes(f);
}

}  // namespace rankbox
