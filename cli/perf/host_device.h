// The host as a device: what ranks run on that are threads or processes.
#pragma once

#include "cli/perf/devices.h"

namespace rankbox::perf {

Device host_device();

}  // namespace rankbox::perf
