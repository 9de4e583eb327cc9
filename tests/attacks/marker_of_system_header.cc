// Tries to have what follows taken for a part of a system header, which may include its neighbours.
# 1 "/usr/include/c++/verdict/marker.h" 1 3
#include "../../solutions/02_broadcast/broadcast_naive.cc"
# 2 "marker_of_system_header.cc" 2
