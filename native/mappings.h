// Which parts of the address space this addon has mapped, process-wide: a view mapped by the main thread is governed by
// the agent's thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "support.h"

namespace aether {

enum class MappingKind { Buffer, View };

void rememberMapping(uintptr_t address, size_t length, MappingKind kind, size_t pageBytes);
// The size of the pages under the mapping there; of the system's where there is none.
size_t pagesAt(uintptr_t address);
// Forgets [address, address + length) of the given kind: mappings that lie in it whole are removed, others are cut.
void forgetMapping(uintptr_t address, size_t length, MappingKind kind);
// Views there are not read-only any more.
void forgetReadOnly(uintptr_t address, size_t length);
// Whether all of the range lies in mappings of that kind.
bool isMapped(uintptr_t address, size_t length, MappingKind kind);
// Whether any of it does.
bool touchesMapping(uintptr_t address, size_t length, MappingKind kind);

// A mapping under a buffer. Unmapped with its last holder.
class Mapped;

// The mapping under the live buffer that contains `address`; empty where there is none. Whoever holds it may go on
// writing there after the buffer was unmapped or collected.
std::shared_ptr<Mapped> holdMapping(uintptr_t address);

// The environment ends, and what its memories occupy may soon be somebody else's.
void forgetViews(napi_env env, Environment* environment);

}  // namespace aether
