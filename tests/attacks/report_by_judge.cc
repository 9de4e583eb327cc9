// Tries to call the judge's own report.
#include <string>

#include <unistd.h>

#include "attack.h"

namespace rankbox {

namespace cli {
void report_line(const std::string& line);
}

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  cli::report_line("verdict {\"name\":\"x\",\"status\":\"pass\",\"checks\":[]}");
  _exit(0);
}

}  // namespace rankbox
