// The host as the device of ranks that are threads or processes.
#pragma once

#include "cli/compare/measure/devices.h"

namespace rankbox::cli {

Device host_device();

}  // namespace rankbox::cli
