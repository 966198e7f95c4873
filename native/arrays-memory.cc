// Memory for the results of array functions. A result of megabytes comes with every call and goes with the garbage
// collector. From the system its pages are new each time, which takes longer than to add two arrays; so the addon keeps
// what results have left, and gives it to the next ones. It is mapped here: the process's own malloc is left alone.
//
//   mapped ──take()──▶ lent: an external ArrayBuffer lies over it ──▶ free: no object refers to the ArrayBuffer
//                         ▲                                              │
//                         └──────────────────take()─────────────────────┘──── too much, or idle ──▶ unmapped
//
// A finalizer would run only in a turn of the event loop, and a loop that computes has none. So each loan has a weak
// reference. It is empty once the collector has found that nothing refers to the buffer: no typed array, no block.
// The one other way to the bytes would be ArrayBuffer.prototype.transfer(). Code that could call it never sees a buffer
// before keepArrayMemory() was called: from then on its memory is free only after its finalizer.
#include <sys/mman.h>

#include <algorithm>
#include <list>
#include <map>

#include "arrays.h"

namespace aether {

namespace {

constexpr size_t kHuge = size_t{2} << 20;
// What is free and kept for the next results, at most.
constexpr size_t kFreeBytesMax = size_t{256} << 20;
// Lent since the collector last ran. Then V8 is asked to look whether it shall run. At 64 MiB more than after its last
// full collection it would begin the next one.
constexpr size_t kLentBytesMax = size_t{56} << 20;

// Less is as fast from malloc.
constexpr size_t kScratchMin = size_t{64} << 10;

struct Mapped {
  void* first = nullptr;
  size_t length = 0;
};

struct Pool;

struct Loan {
  std::shared_ptr<Pool> pool;
  Mapped mapped;  // without a length once it is free again
  napi_ref buffer = nullptr;  // weak; null if only the finalizer counts
  int64_t counted = 0;        // bytes that V8 counts for it
  std::list<Loan*>::iterator place;
};

struct Pool {
  std::multimap<size_t, void*> unused;
  size_t unusedBytes = 0;
  std::list<Loan*> lent;
  // Weak, of an object that nobody has: it is empty when the collector has run.
  napi_ref canary = nullptr;
  size_t lentBytes = 0;  // since then
  bool ended = false;

  ~Pool() { trim(); }

  void trim() {
    for (const auto& [length, first] : unused) munmap(first, length);
    unused.clear();
    unusedBytes = 0;
  }

  void putBack(Mapped* mapped) {
    if (mapped->length == 0) return;
    // What was left last is wanted next: others go for it.
    while (!ended && !unused.empty() && unusedBytes + mapped->length > kFreeBytesMax) {
      const auto shortest = unused.begin();
      munmap(shortest->second, shortest->first);
      unusedBytes -= shortest->first;
      unused.erase(shortest);
    }
    if (ended || mapped->length > kFreeBytesMax) munmap(mapped->first, mapped->length);
    else {
      unused.emplace(mapped->length, mapped->first);
      unusedBytes += mapped->length;
    }
    mapped->length = 0;
  }
};

// Handles of a call may live on after it, and what they refer to with them: those of weak references must not.
class HandleScope {
 public:
  explicit HandleScope(napi_env env) : env_(env) { napi_open_handle_scope(env, &scope_); }
  ~HandleScope() { napi_close_handle_scope(env_, scope_); }

 private:
  napi_env env_;
  napi_handle_scope scope_ = nullptr;
};

bool isGone(napi_env env, napi_ref reference) {
  const HandleScope scope(env);
  napi_value value = nullptr;
  return napi_get_reference_value(env, reference, &value) == napi_ok && value == nullptr;
}

// Steps of an eighth, so that results of about one length use the same memory.
size_t lengthFor(size_t bytes) {
  size_t step = pageSize();
  while (step * 16 <= bytes) step *= 2;
  return (bytes + step - 1) / step * step;
}

// Long ones are of huge pages if the system has some: 512 times fewer faults.
Mapped map(size_t length) {
  const size_t spare = length >= kHuge ? kHuge : 0;
  void* const all = mmap(nullptr, length + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return {};
  auto* first = static_cast<uint8_t*>(all);
  if (spare != 0) {
    const size_t before = (kHuge - reinterpret_cast<uintptr_t>(all) % kHuge) % kHuge;
    if (before != 0) munmap(all, before);
    first += before;
    if (spare != before) munmap(first + length, spare - before);
    madvise(first, length, MADV_HUGEPAGE);
  }
  return {first, length};
}

Pool* poolOf(napi_env env) {
  auto& pool = environmentOf(env)->arrayMemory;
  if (pool == nullptr) pool = std::make_shared<Pool>();
  return static_cast<Pool*>(pool.get());
}

// V8 counts the bytes of each ArrayBuffer. Megabytes more since its last full collection make it begin the next; but a
// loan takes no more memory than the pool has. So its bytes are taken off while only the weak reference counts.
void adjustCount(napi_env env, int64_t bytes) {
  int64_t all = 0;
  napi_adjust_external_memory(env, bytes, &all);
}

void forgetReference(napi_env env, Loan* loan) {
  if (loan->buffer == nullptr) return;
  napi_delete_reference(env, loan->buffer);
  loan->buffer = nullptr;
  adjustCount(env, loan->counted);
}

void finalizeLoan(napi_env env, void*, void* hint) {
  auto* const loan = static_cast<Loan*>(hint);
  if (!loan->pool->ended) {
    forgetReference(env, loan);
    loan->pool->putBack(&loan->mapped);
    loan->pool->lent.erase(loan->place);
  }
  delete loan;
}

// Frees what nobody refers to any more, if the collector has run since the last look.
void collect(napi_env env, Pool* pool) {
  if (pool->canary != nullptr && !isGone(env, pool->canary)) return;
  if (pool->canary != nullptr) napi_delete_reference(env, pool->canary);
  pool->canary = nullptr;
  pool->lentBytes = 0;
  for (Loan* const loan : pool->lent) {
    if (loan->buffer != nullptr && isGone(env, loan->buffer)) {
      forgetReference(env, loan);
      pool->putBack(&loan->mapped);
    }
  }
  const HandleScope scope(env);
  napi_value object = nullptr;
  napi_create_object(env, &object);
  napi_create_reference(env, object, 0, &pool->canary);
}

Mapped takeUnused(Pool* pool, size_t length) {
  const auto found = pool->unused.lower_bound(length);
  // Much longer ones are for others; but up to four times the length is better than pages that the system must clear.
  if (found == pool->unused.end() || found->first > 4 * length) return {};
  const Mapped mapped{found->second, found->first};
  pool->unused.erase(found);
  pool->unusedBytes -= mapped.length;
  return mapped;
}

Loan* loanOf(napi_env env, Pool* pool, napi_value buffer) {
  void* data = nullptr;
  size_t length = 0;
  bool isBuffer = false;
  if (napi_is_arraybuffer(env, buffer, &isBuffer) != napi_ok || !isBuffer) return nullptr;
  if (napi_get_arraybuffer_info(env, buffer, &data, &length) != napi_ok || data == nullptr) return nullptr;
  const auto found = std::find_if(pool->lent.begin(), pool->lent.end(), [&](const Loan* loan) {
    return loan->mapped.length != 0 && loan->mapped.first == data;
  });
  return found == pool->lent.end() ? nullptr : *found;
}

}  // namespace

Scratch::Scratch(napi_env env, size_t bytes) : env_(env) {
  if (bytes >= kScratchMin) {
    Mapped mapped = takeUnused(poolOf(env), lengthFor(bytes));
    if (mapped.length == 0) mapped = map(lengthFor(bytes));
    first_ = mapped.first;
    length_ = mapped.length;
  }
  if (length_ == 0) first_ = ::operator new(bytes);
}

Scratch::~Scratch() {
  Mapped mapped{first_, length_};
  if (length_ == 0) ::operator delete(first_);
  else poolOf(env_)->putBack(&mapped);
}

// takeArrayMemory(bytes): an ArrayBuffer with anything in it, or undefined if there is no memory, or if this runtime
// takes no external buffers.
static napi_value TakeArrayMemory(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const auto bytes = static_cast<size_t>(arguments.integer(0, "bytes", 1, 4294967295.0));
  if (!arguments.ok()) return nullptr;
  Pool* const pool = poolOf(env);
  const size_t length = lengthFor(bytes);
  // V8 counts the bytes of young buffers. When it allocates one, it looks whether to collect these.
  napi_value small = nullptr;
  void* data = nullptr;
  if (pool->lentBytes >= kLentBytesMax) napi_create_arraybuffer(env, 1, &data, &small);
  if (pool->unused.empty() || pool->lentBytes >= kLentBytesMax) collect(env, pool);
  Mapped mapped = takeUnused(pool, length);
  if (mapped.length == 0) mapped = map(length);
  if (mapped.length == 0) return makeUndefined(env);
  auto* const loan = new Loan{std::static_pointer_cast<Pool>(environmentOf(env)->arrayMemory), mapped, nullptr,
                              static_cast<int64_t>(bytes), {}};
  napi_value buffer = nullptr;
  if (napi_create_external_arraybuffer(env, mapped.first, bytes, finalizeLoan, loan, &buffer) != napi_ok) {
    pool->putBack(&loan->mapped);
    delete loan;
    return makeUndefined(env);
  }
  napi_create_reference(env, buffer, 0, &loan->buffer);
  adjustCount(env, -loan->counted);
  loan->place = pool->lent.insert(pool->lent.end(), loan);
  pool->lentBytes += mapped.length;
  return buffer;
}

// keepArrayMemory(buffer): code that may transfer the buffer will have it.
static napi_value KeepArrayMemory(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  Loan* const loan = loanOf(env, poolOf(env), arguments.at(0));
  if (loan != nullptr) forgetReference(env, loan);
  return nullptr;
}

// trimArrayMemory(): gives what is free back to the system.
static napi_value TrimArrayMemory(napi_env env, napi_callback_info) {
  collect(env, poolOf(env));
  poolOf(env)->trim();
  return nullptr;
}

void endArrayMemory(napi_env env, Environment* environment) {
  auto* const pool = static_cast<Pool*>(environment->arrayMemory.get());
  if (pool == nullptr) return;
  pool->ended = true;
  // No JavaScript runs any more. Finalizers that still come find their loan, and nothing to do.
  for (Loan* const loan : pool->lent) {
    forgetReference(env, loan);
    pool->putBack(&loan->mapped);
  }
  pool->lent.clear();
  if (pool->canary != nullptr) napi_delete_reference(env, pool->canary);
}

void registerArrayMemory(napi_env env, napi_value exports) {
  define(env, exports, "takeArrayMemory", TakeArrayMemory);
  define(env, exports, "keepArrayMemory", KeepArrayMemory);
  define(env, exports, "trimArrayMemory", TrimArrayMemory);
}

}  // namespace aether
