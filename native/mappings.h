// Which parts of the address space this addon has mapped, process-wide: a view mapped by the main thread is governed by the agent's thread.
#pragma once
#include <cstddef>
#include <cstdint>

namespace aether {

enum class MappingKind { Buffer, View };

void rememberMapping(uintptr_t address, size_t length, MappingKind kind);
// Forgets [address, address + length) of the given kind: mappings that lie in it whole are removed, others are cut.
void forgetMapping(uintptr_t address, size_t length, MappingKind kind);
bool isMapped(uintptr_t address, size_t length, MappingKind kind);
// Length of the buffer mapping that begins at `address`, 0 where there is none.
size_t mappedLength(uintptr_t address);

}  // namespace aether
