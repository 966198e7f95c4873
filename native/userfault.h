// What answers page faults: the operations of userfault.cc, for the other files that do.
#pragma once
#include <cstdint>

namespace aether {

// Opens what of [address, address + length) is not open yet, and wakes who waits there. Bytes newly mapped, or a
// negative errno.
int64_t installRange(int userfault, uint64_t address, uint64_t length, bool writeProtected);

}  // namespace aether
