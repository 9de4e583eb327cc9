#include "training/initial.h"

#include "compute/for_each.h"

namespace rankbox {

template <class T>
TensorOf<T> random_tensor(Shape shape, double bound, Random random) {
  TensorOf<T> made(std::move(shape));
  T* const x = made.data();
  for_each(made.size(), [=] RANKBOX_PORTABLE(std::int64_t i) {
    x[i] = static_cast<T>(-bound + 2 * bound * random.uniform_at(static_cast<std::uint64_t>(i)));
  });
  return made;
}

template TensorOf<float> random_tensor(Shape, double, Random);
template TensorOf<double> random_tensor(Shape, double, Random);

}  // namespace rankbox
