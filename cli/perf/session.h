// Starts the ranks once, and measures one row after the other on them.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "cli/perf/devices.h"
#include "cli/perf/jobs.h"
#include "comm/errors.h"

namespace rankbox::perf {

/// Who wants to know. Called by rank 0's thread, in the process where rank 0 is. All may be empty.
struct Listener {
  std::function<void(const std::vector<Device>& devices)> on_start = {};
  std::function<void(std::size_t number, const Job& job)> on_job = {};  // before it is measured
  std::function<void(const Row& row)> on_row = {};
};

/// Ranks that measure: as many as a launcher started processes, else those that the plan asks for.
/// Throws InvalidArgument if the plan asks for several in each of a launcher's processes.
int world_size_of(const Plan& plan);

/// The ranks did not come together: what each process of a launcher knows of it is its own.
class CannotStart : public Error {
  using Error::Error;
};

/// Blocks until all is measured. Each row's vs_native is relative to the native row of the same size
/// and operation, which comes before it.
/// Errors: what the algorithms throw, with the row named, the same in all processes; InvalidArgument
/// if the largest row does not fit the devices' memory; CannotStart, or InvalidArgument, before that.
/// Interrupted (cli/child.h) after a signal.
void run_session(const Plan& plan, const std::vector<Job>& jobs, int world_size,
                 const Listener& listener);

/// As rows come, in order: remembers the native ones, and sets vs_native of all.
class NativeTimes {
 public:
  void compare(Row& row);

 private:
  std::vector<Row> native_;
};

}  // namespace rankbox::perf
