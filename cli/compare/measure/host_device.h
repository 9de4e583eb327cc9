// The host as a device: what ranks run on that are threads or processes.
#pragma once

#include "cli/compare/measure/devices.h"

namespace rankbox::cli {

Device host_device();

}  // namespace rankbox::cli
