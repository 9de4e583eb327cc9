#include "training/matrix.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <cblas.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include "comm/errors.h"

namespace rankbox {
namespace {

// OpenBLAS has at least 50 buffers in any build; this is their size on x86-64.
constexpr unsigned kMostBuffers = 48;
constexpr rlim_t kBufferBytes = rlim_t{128} << 20;

/// Buffers may take a quarter of the available memory.
int products_at_once() {
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  rlim_t most = std::min(cores, kMostBuffers);
  rlimit data{};
  if (getrlimit(RLIMIT_DATA, &data) == 0 && data.rlim_cur != RLIM_INFINITY)
    most = std::min(most, std::max<rlim_t>(1, data.rlim_cur / 4 / kBufferBytes));
  return static_cast<int>(most);
}

/// Holds one of OpenBLAS's buffers. (Not a std::counting_semaphore: that of libstdc++ 12 may sleep
/// although it is free, PR 104928.)
class Turn {
 public:
  Turn() {
    static const bool one_thread = (openblas_set_num_threads(1), true);
    static_cast<void>(one_thread);
    std::unique_lock guard(lock);
    one_is_free.wait(guard, [] { return free > 0; });
    --free;
  }
  ~Turn() {
    {
      const std::lock_guard guard(lock);
      ++free;
    }
    one_is_free.notify_one();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  static inline std::mutex lock;
  static inline std::condition_variable one_is_free;
  static inline int free = products_at_once();  // guarded by lock
};

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
  // BLAS requires strides above 0, even for empty matrices.
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
