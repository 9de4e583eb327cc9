// Tries to import the solution as a header unit.
#include "collectives/broadcast_naive.h"

import "solutions/02_broadcast/broadcast_naive.cc";
