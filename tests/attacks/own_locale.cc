// Tries to have the judge write its numbers in a way that no reader knows.
#include <locale>

#include "attack.h"

namespace rankbox {

struct Strange : std::numpunct<char> {
  char do_decimal_point() const override { return '"'; }
  char do_thousands_sep() const override { return '}'; }
  std::string do_grouping() const override { return "\1"; }
};

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  std::locale::global(std::locale(std::locale::classic(), new Strange));
  attack::send_junk(dist, tensor, src);
}

}  // namespace rankbox
