// Protection domains, memory regions, memory windows of the tcp device.
#include <sys/random.h>

#include <cerrno>

#include "tcp-device.h"
#include "tcp-verbs.h"

namespace aether::tcp {

namespace {

constexpr size_t kKeysMost = 65535;
constexpr int kRemoteRights = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;

uint32_t randomBits() {
  uint32_t value = 0;
  if (getrandom(&value, sizeof value, 0) != sizeof value) value = static_cast<uint32_t>(nowNs());
  return value;
}

Key keyOf(const Region* region) {
  Key key;
  key.kind = Key::Kind::Region;
  key.access = region->access;
  key.domain = static_cast<Domain*>(region->pd);
  key.base = static_cast<uint8_t*>(region->addr);
  key.address = (region->access & IBV_ACCESS_ZERO_BASED) != 0 ? 0 : reinterpret_cast<uint64_t>(region->addr);
  key.length = region->length;
  return key;
}

bool isAccessLegal(int access) {
  return (access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) == 0 || (access & IBV_ACCESS_LOCAL_WRITE) != 0;
}

}  // namespace

uint32_t Keys::randomKey(uint32_t key) { return (key & 0xffff0000U) | (randomBits() & 0xffffU); }

uint32_t Keys::add(const Key& key) {
  uint32_t place = 0;
  if (!free_.empty()) {
    // The one that was freed longest ago would be better still; a random half is enough.
    place = free_.back();
    free_.pop_back();
  } else {
    if (entries_.empty()) entries_.emplace_back();  // key 0 is never one
    if (entries_.size() > kKeysMost) return 0;
    place = static_cast<uint32_t>(entries_.size());
    entries_.emplace_back();
  }
  const uint32_t before = entries_[place].key;
  entries_[place] = key;
  do entries_[place].key = randomKey(place << 16);
  while (entries_[place].key == before);
  return entries_[place].key;
}

void Keys::remove(uint32_t key) {
  Key* entry = slot(key);
  if (entry == nullptr) return;
  const uint32_t last = entry->key;
  *entry = Key();
  entry->key = last;
  free_.push_back(key >> 16);
}

Key* Keys::slot(uint32_t key) {
  const uint32_t place = key >> 16;
  return place == 0 || place >= entries_.size() ? nullptr : &entries_[place];
}

uint8_t* Keys::reach(uint32_t key, uint64_t address, uint64_t length, int access, const Domain* domain,
                     uint32_t pair) {
  const Key* entry = slot(key);
  if (entry == nullptr || entry->kind == Key::Kind::Free || entry->key != key) return nullptr;
  if (entry->domain != domain || (entry->access & access) != access) return nullptr;
  if (entry->kind == Key::Kind::Window && (pair == 0 || (entry->pair != 0 && entry->pair != pair))) return nullptr;
  if (address < entry->address || length > entry->length || address - entry->address > entry->length - length)
    return nullptr;
  return entry->base + (address - entry->address);
}

ibv_pd* allocPd(ibv_context* context) {
  auto* domain = new Domain();
  domain->context = context;
  return domain;
}

int deallocPd(ibv_pd* pd) {
  auto* domain = static_cast<Domain*>(pd);
  if (domain->users != 0) return EBUSY;
  delete domain;
  return 0;
}

ibv_mr* regMr(ibv_pd* pd, void* address, size_t length, unsigned access) {
  if (address == nullptr) {
    // The whole address space: a key to it would let a peer's mistake end this process.
    errno = EOPNOTSUPP;
    return nullptr;
  }
  if (!isAccessLegal(static_cast<int>(access)) || length == 0) {
    errno = EINVAL;
    return nullptr;
  }
  Context* context = contextOf(pd->context);
  auto region = std::make_unique<Region>();
  region->context = context;
  region->pd = pd;
  region->addr = address;
  region->length = length;
  region->access = static_cast<int>(access);
  std::unique_lock<std::shared_mutex> guard(context->keys.lock);
  region->lkey = region->rkey = context->keys.add(keyOf(region.get()));
  if (region->lkey == 0) {
    errno = ENOMEM;
    return nullptr;
  }
  context->keys.slot(region->lkey)->region = region.get();
  static_cast<Domain*>(pd)->users++;
  return region.release();
}

int deregMr(ibv_mr* mr) {
  auto* region = static_cast<Region*>(mr);
  Context* context = contextOf(mr->context);
  // When the lock is ours, no copy is under way, and none begins with this key.
  std::unique_lock<std::shared_mutex> guard(context->keys.lock);
  if (region->windows > 0) return EBUSY;
  context->keys.remove(region->lkey);
  static_cast<Domain*>(mr->pd)->users--;
  delete region;
  return 0;
}

int reregMr(ibv_mr* mr, int flags, ibv_pd* pd, void* address, size_t length, int access) {
  auto* region = static_cast<Region*>(mr);
  Context* context = contextOf(mr->context);
  const int rights = (flags & IBV_REREG_MR_CHANGE_ACCESS) != 0 ? access : region->access;
  std::unique_lock<std::shared_mutex> guard(context->keys.lock);
  errno = region->windows > 0 ? EBUSY : isAccessLegal(rights) ? 0 : EINVAL;
  if (errno != 0) return IBV_REREG_MR_ERR_INPUT;
  region->access = rights;
  if ((flags & IBV_REREG_MR_CHANGE_PD) != 0) {
    static_cast<Domain*>(region->pd)->users--;
    static_cast<Domain*>(pd)->users++;
    region->pd = pd;
  }
  if ((flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0) {
    region->addr = address;
    region->length = length;
  }
  Key* entry = context->keys.slot(region->lkey);
  const uint32_t before = entry->key;
  *entry = keyOf(region);
  entry->region = region;
  do entry->key = Keys::randomKey(before);
  while (entry->key == before);
  region->lkey = region->rkey = entry->key;
  return 0;
}

// ---- windows

ibv_mw* allocMw(ibv_pd* pd, ibv_mw_type type) {
  Context* context = contextOf(pd->context);
  auto window = std::make_unique<Window>();
  window->context = context;
  window->pd = pd;
  window->type = type;
  // It has a key from the beginning, which reaches nothing: no rights, no bytes.
  Key key;
  key.kind = Key::Kind::Window;
  key.domain = static_cast<Domain*>(pd);
  std::unique_lock<std::shared_mutex> guard(context->keys.lock);
  window->rkey = window->slot = context->keys.add(key);
  if (window->rkey == 0) {
    errno = ENOMEM;
    return nullptr;
  }
  static_cast<Domain*>(pd)->users++;
  return window.release();
}

static void unbind(Key* entry) {
  if (entry->region != nullptr) entry->region->windows--;
  entry->region = nullptr;
  entry->access = 0;
  entry->length = 0;
  entry->pair = 0;
}

int deallocMw(ibv_mw* mw) {
  auto* window = static_cast<Window*>(mw);
  Context* context = contextOf(mw->context);
  std::unique_lock<std::shared_mutex> guard(context->keys.lock);
  unbind(context->keys.slot(window->slot));
  context->keys.remove(window->slot);
  static_cast<Domain*>(mw->pd)->users--;
  delete window;
  return 0;
}

// ibv_bind_mw(3), type 1: the device chooses the key, here at the post, since the caller reads it then.
int bindMw(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* bind) {
  if ((bind->bind_info.mw_access_flags & IBV_ACCESS_ZERO_BASED) != 0) return EINVAL;
  const uint32_t key = (mw->rkey & ~0xffU) | ((mw->rkey + 1) & 0xffU);
  ibv_send_wr wr = {};
  wr.wr_id = bind->wr_id;
  wr.opcode = IBV_WR_BIND_MW;
  wr.send_flags = bind->send_flags;
  wr.bind_mw.mw = mw;
  wr.bind_mw.rkey = key;
  wr.bind_mw.bind_info = bind->bind_info;
  ibv_send_wr* bad = nullptr;
  const int error = postSend(qp, &wr, &bad);
  if (error == 0) mw->rkey = key;
  return error;
}

bool bindWindow(QueuePair* pair, Send* send) {
  Context* context = pair->device;
  std::unique_lock<std::shared_mutex> guard(context->keys.lock);
  Key* entry = context->keys.slot(send->window->slot);
  if (entry == nullptr || entry->kind != Key::Kind::Window || entry->domain != pair->domain()) return false;
  const Region* region = send->region;
  const int rights = send->bindAccess & kRemoteRights;
  if (send->bindLength > 0) {
    if (region == nullptr || region->pd != pair->pd || (region->access & IBV_ACCESS_MW_BIND) == 0) return false;
    if ((rights & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) != 0 &&
        (region->access & IBV_ACCESS_LOCAL_WRITE) == 0)
      return false;
    const Key bounds = keyOf(region);
    if (send->bindAddress < bounds.address || send->bindLength > bounds.length ||
        send->bindAddress - bounds.address > bounds.length - send->bindLength)
      return false;
    // A window of type 2 that is bound has to be invalidated first.
    if (send->window->type == IBV_MW_TYPE_2 && entry->region != nullptr) return false;
    unbind(entry);
    entry->base = bounds.base + (send->bindAddress - bounds.address);
    entry->address = (send->bindAccess & IBV_ACCESS_ZERO_BASED) != 0 ? 0 : send->bindAddress;
    entry->length = send->bindLength;
    entry->access = rights;
    entry->region = send->region;
    entry->region->windows++;
    entry->pair = send->window->type == IBV_MW_TYPE_2 ? pair->qp_num : 0;
  } else {
    // Only a window of type 1 is taken back so.
    if (send->window->type == IBV_MW_TYPE_2) return false;
    unbind(entry);
  }
  entry->key = send->remoteKey;
  return true;
}

// Only a window of type 2 can be invalidated, through the queue pair that it is bound to.
bool invalidate(QueuePair* pair, uint32_t key) {
  Context* context = pair->device;
  std::unique_lock<std::shared_mutex> guard(context->keys.lock);
  Key* entry = context->keys.slot(key);
  if (entry == nullptr || entry->kind != Key::Kind::Window || entry->key != key || entry->pair != pair->qp_num)
    return false;
  unbind(entry);
  return true;
}

}  // namespace aether::tcp
