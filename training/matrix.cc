#include "training/matrix.h"

#include <semaphore>

#include <cblas.h>
#include <fmt/format.h>

#include "comm/errors.h"

namespace rankbox {
namespace {

/// Holds one of OpenBLAS's buffers.
class Turn {
 public:
  Turn() {
    static const bool one_thread = (openblas_set_num_threads(1), true);
    static_cast<void>(one_thread);
    free_turns.acquire();
  }
  ~Turn() { free_turns.release(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  static std::counting_semaphore<kProductsAtOnce> free_turns;
};
std::counting_semaphore<kProductsAtOnce> Turn::free_turns{kProductsAtOnce};

template <class T>
void check_sizes(const MatrixOf<const T>& a, const MatrixOf<const T>& b, const MatrixOf<T>& c) {
  if (a.columns == b.rows && a.rows == c.rows && b.columns == c.columns && !c.is_transposed) return;
  throw InvalidArgument(fmt::format("a matrix product ({} × {}) ({} × {}) does not give {} × {}{}",
                                    a.rows, a.columns, b.rows, b.columns, c.rows, c.columns,
                                    c.is_transposed ? " transposed" : ""));
}

template <class T, class Gemm>
void multiply_with(Gemm gemm, MatrixOf<const T> a, MatrixOf<const T> b, MatrixOf<T> c, Into into) {
  check_sizes(a, b, c);
  if (c.rows == 0 || c.columns == 0) return;
  const auto flag = [](const auto& m) { return m.is_transposed ? CblasTrans : CblasNoTrans; };
  const auto whole = [](std::int64_t size) { return static_cast<blasint>(size); };
  // BLAS wants strides above 0, of empty matrices, too.
  const auto stride = [&](const auto& m) { return whole(m.stride > 0 ? m.stride : 1); };
  const Turn turn;
  gemm(CblasRowMajor, flag(a), flag(b), whole(c.rows), whole(c.columns), whole(a.columns), T{1},
       a.data, stride(a), b.data, stride(b), into == Into::kAdd ? T{1} : T{0}, c.data, stride(c));
}

}  // namespace

void multiply(MatrixOf<const float> a, MatrixOf<const float> b, MatrixOf<float> c, Into into) {
  multiply_with<float>(cblas_sgemm, a, b, c, into);
}

void multiply(MatrixOf<const double> a, MatrixOf<const double> b, MatrixOf<double> c, Into into) {
  multiply_with<double>(cblas_dgemm, a, b, c, into);
}

}  // namespace rankbox
