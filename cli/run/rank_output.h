// What ranks print: whole lines, each with its rank, as soon as they end.
//
//   [rank 2] step 7: loss 0.31
//
// Ranks of one process share its streams, so their lines would mix in the middle. Here each rank
// has a line under way, whatever it calls: printf, fmt::print, std::cout, on standard output or
// error. What is written to the file descriptors directly passes by.
#pragma once

#include <memory>

namespace rankbox::cli {

/// While it lives, the streams of this process are as above; what other threads than a rank's print
/// has no rank. Then lines that have not ended are written. One at a time.
class RankOutput {
 public:
  RankOutput();
  RankOutput(const RankOutput&) = delete;
  RankOutput& operator=(const RankOutput&) = delete;
  ~RankOutput();

 private:
  class Stream;
  std::unique_ptr<Stream> out_, error_;
};

}  // namespace rankbox::cli
