// Matrix products on the host, by OpenBLAS.
//
// Each rank is already a thread, so OpenBLAS is set to start none. Each product takes a
// 128 MiB buffer of OpenBLAS, which aborts the program when too many are in use, and retries
// forever when memory runs out. So products wait for their turn: at most as many run as there are
// cores, and fewer where memory is limited (RLIMIT_DATA).
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include <cblas.h>
#include <sys/resource.h>

#include "compute/matrix.h"
#include "compute/matrix_checks.h"

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

template <class T, class Gemm>
void multiply_with(Gemm gemm, std::int64_t count, MatricesOf<const T> as, MatricesOf<const T> bs,
                   MatricesOf<T> cs, Into into) {
  const MatrixOf<const T>& a = as.first;
  const MatrixOf<const T>& b = bs.first;
  const MatrixOf<T>& c = cs.first;
  check_product(a, b, c);
  if (count == 0 || c.rows == 0 || c.columns == 0) return;
  const auto flag = [](const auto& m) { return m.is_transposed ? CblasTrans : CblasNoTrans; };
  const auto whole = [](std::int64_t size) { return static_cast<blasint>(size); };
  // BLAS requires strides above 0, even for empty matrices.
  const auto stride = [&](const auto& m) { return whole(m.stride > 0 ? m.stride : 1); };
  const Turn turn;
  for (std::int64_t i = 0; i < count; ++i) {
    gemm(CblasRowMajor, flag(a), flag(b), whole(c.rows), whole(c.columns), whole(a.columns), T{1},
         a.data + i * as.step, stride(a), b.data + i * bs.step, stride(b),
         into == Into::kAdd ? T{1} : T{0}, c.data + i * cs.step, stride(c));
  }
}

/// Returns the same matrix in floats, in `memory`.
template <class T>
MatrixOf<const float> widened(MatrixOf<const T> m, std::vector<float>& memory) {
  const std::int64_t lines = m.is_transposed ? m.columns : m.rows;
  const std::int64_t length = m.is_transposed ? m.rows : m.columns;
  memory.reserve(static_cast<std::size_t>(lines * length));
  for (std::int64_t i = 0; i < lines; ++i)
    memory.insert(memory.end(), m.data + i * m.stride, m.data + i * m.stride + length);
  return {memory.data(), m.rows, m.columns, length, m.is_transposed};
}

template <class T>
void multiply_widened(MatrixOf<const T> a, MatrixOf<const T> b, MatrixOf<float> c, Into into) {
  check_product(a, b, c);
  std::vector<float> of_a, of_b;
  multiply(widened(a, of_a), widened(b, of_b), c, into);
}

}  // namespace

void multiply(MatrixOf<const float> a, MatrixOf<const float> b, MatrixOf<float> c, Into into) {
  multiply_with<float>(cblas_sgemm, 1, {a}, {b}, {c}, into);
}

void multiply(MatrixOf<const double> a, MatrixOf<const double> b, MatrixOf<double> c, Into into) {
  multiply_with<double>(cblas_dgemm, 1, {a}, {b}, {c}, into);
}

void multiply(MatrixOf<const Float16> a, MatrixOf<const Float16> b, MatrixOf<float> c, Into into) {
  multiply_widened(a, b, c, into);
}

void multiply(MatrixOf<const BFloat16> a, MatrixOf<const BFloat16> b, MatrixOf<float> c,
              Into into) {
  multiply_widened(a, b, c, into);
}

void multiply(std::int64_t count, MatricesOf<const float> a, MatricesOf<const float> b,
              MatricesOf<float> c) {
  multiply_with<float>(cblas_sgemm, count, a, b, c, Into::kOverwrite);
}

void multiply(std::int64_t count, MatricesOf<const double> a, MatricesOf<const double> b,
              MatricesOf<double> c) {
  multiply_with<double>(cblas_dgemm, count, a, b, c, Into::kOverwrite);
}

}  // namespace rankbox
