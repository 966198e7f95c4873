// Devices of the tcp provider, opening and closing them, and the thread that serves a context.
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "tcp-device.h"
#include "tcp-verbs.h"

namespace aether::tcp {

namespace {

constexpr int kBacklog = 1024;
constexpr int kPortTries = 64;
// How often the engine looks at the clock while anything waits, and how long after the last time.
constexpr int kTickMs = 10, kSoonMs = 1;
constexpr uint64_t kRestNs = 1000000000;
// A program that has polled within the first is polling; one that has not within the second does not any more.
constexpr uint64_t kPollsNs = 10000, kStoppedNs = 50000;
constexpr uint64_t kLookNs = 200000;
constexpr int kEventsAtOnce = 64;
// As src/providers/ibverbs/port-attributes.ts has it.
constexpr uint8_t kLinkLayer = 128;
constexpr char kBest[] = "tcp0";
constexpr char kPrefix[] = "tcp-";

// A context is told from one of libibverbs by the address that stands here.
int mark;

struct Interface {
  std::string name;
  sockaddr_in6 address = {};
  int score = 0;
};

sockaddr_in6 mapped(const sockaddr* address) {
  sockaddr_in6 out = {};
  out.sin6_family = AF_INET6;
  if (address->sa_family == AF_INET6) {
    out = *reinterpret_cast<const sockaddr_in6*>(address);
    out.sin6_port = 0;
    return out;
  }
  out.sin6_addr.s6_addr[10] = out.sin6_addr.s6_addr[11] = 0xff;
  memcpy(out.sin6_addr.s6_addr + 12, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, 4);
  return out;
}

// IPv4 before IPv6, global before link-local; the loopback device last.
int scoreOf(const sockaddr_in6& address, unsigned flags) {
  const in6_addr& a = address.sin6_addr;
  const bool isMapped = IN6_IS_ADDR_V4MAPPED(&a);
  const bool isLocal = IN6_IS_ADDR_LINKLOCAL(&a) || (isMapped && a.s6_addr[12] == 169 && a.s6_addr[13] == 254);
  return ((flags & IFF_LOOPBACK) != 0 ? 0 : 4) + (isLocal ? 0 : 2) + (isMapped ? 1 : 0);
}

// One for each interface that is up, with its best address.
std::vector<Interface> interfaces() {
  std::vector<Interface> found;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return found;
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0) continue;
    if (each->ifa_addr->sa_family != AF_INET && each->ifa_addr->sa_family != AF_INET6) continue;
    const sockaddr_in6 address = mapped(each->ifa_addr);
    const int score = scoreOf(address, each->ifa_flags);
    const auto same = std::find_if(found.begin(), found.end(), [&](const Interface& other) { return other.name == each->ifa_name; });
    if (same == found.end())
      found.push_back({each->ifa_name, address, score});
    else if (score > same->score)
      *same = {each->ifa_name, address, score};
  }
  freeifaddrs(list);
  return found;
}

bool findInterface(const std::string& device, Interface* out) {
  const std::vector<Interface> all = interfaces();
  const Interface* best = nullptr;
  for (const Interface& each : all) {
    if (device == kPrefix + each.name) {
      *out = each;
      return true;
    }
    if (best == nullptr || each.score > best->score) best = &each;
  }
  if (device != kBest || best == nullptr) return false;
  *out = *best;
  return true;
}

int openSocket(int type, const sockaddr_in6& address) {
  const int descriptor = socket(AF_INET6, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  const int off = 0;
  setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return descriptor;
  const int error = errno;
  close(descriptor);
  errno = error;
  return -1;
}

bool add(Context* context, int descriptor, uint64_t name) {
  struct epoll_event event = {};
  event.events = EPOLLIN;
  event.data.u64 = name;
  return epoll_ctl(context->epoll, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

// Looks at the clock for everybody. Returns how soon to look again: 0 for no need.
int tick(Context* context) {
  int wait = context->guests.empty() ? 0 : kTickMs;
  matchGuests(context);
  std::lock_guard<std::mutex> table(context->tableLock);
  for (const auto& [number, pair] : context->pairs) {
    const std::unique_lock<std::recursive_mutex> guard(pair->lock, std::try_to_lock);
    if (!guard.owns_lock()) {
      wait = wait == 0 ? kTickMs : wait;
      continue;
    }
    if (!pair->isConnected()) continue;
    const Stream& stream = pair->stream;
    const bool isWaiting = pair->head != pair->tail || stream.retryAt != 0 ||
                           stream.phase == Stream::Phase::Connecting || stream.phase == Stream::Phase::Requested ||
                           stream.phase == Stream::Phase::Proving;
    if (!isWaiting) continue;
    progress(pair);
    if (stream.waiting) wait = kSoonMs;
    wait = wait == 0 ? kTickMs : wait;
  }
  return wait;
}

// Leaves a queue pair to the program that polls it.
void leave(Context* context, QueuePair* pair) {
  const std::unique_lock<std::recursive_mutex> guard(pair->lock, std::try_to_lock);
  if (!guard.owns_lock() || pair->stream.descriptor < 0 || pair->stream.isLeft) return;
  struct epoll_event event = {};
  event.data.u64 = kOfPair | pair->qp_num;
  epoll_ctl(context->epoll, EPOLL_CTL_MOD, pair->stream.descriptor, &event);
  pair->stream.isLeft = true;
  context->left.push_back(pair->qp_num);
}

// Takes those back whose program has stopped to poll.
void lookAfterLeft(Context* context) {
  std::lock_guard<std::mutex> table(context->tableLock);
  auto& left = context->left;
  const auto isOver = [&](uint32_t number) {
    const auto found = context->pairs.find(number);
    if (found == context->pairs.end()) return true;
    QueuePair* pair = found->second;
    if (nowNs() - pair->polledAt.load(std::memory_order_relaxed) < kStoppedNs) return false;
    const std::unique_lock<std::recursive_mutex> guard(pair->lock, std::try_to_lock);
    if (!guard.owns_lock()) return false;
    if (pair->stream.isLeft) {
      takeBack(pair);
      progress(pair);
    }
    return true;
  };
  left.erase(std::remove_if(left.begin(), left.end(), isOver), left.end());
}

// epoll_wait(2) for so many milliseconds, or until it is time to look after those that were left.
int await(Context* context, struct epoll_event* events, int wait) {
#ifdef SYS_epoll_pwait2
  if (!context->left.empty()) {
    const struct timespec time = {0, static_cast<long>(kLookNs)};
    const auto count = syscall(SYS_epoll_pwait2, context->epoll, events, kEventsAtOnce, &time, nullptr, 0);
    if (count >= 0 || errno != ENOSYS) return static_cast<int>(count);
  }
#endif
  return epoll_wait(context->epoll, events, kEventsAtOnce, context->left.empty() ? wait : kSoonMs);
}

void serve(Context* context, const struct epoll_event& event) {
  const uint64_t name = event.data.u64 & kNameMask;
  switch (event.data.u64 & ~kNameMask) {
    case kOfPair: {
      std::unique_lock<std::mutex> table(context->tableLock);
      const auto found = context->pairs.find(static_cast<uint32_t>(name));
      if (found == context->pairs.end()) return;
      QueuePair* pair = found->second;
      if (nowNs() - pair->polledAt.load(std::memory_order_relaxed) < kPollsNs) {
        leave(context, pair);
        return;
      }
      std::lock_guard<std::recursive_mutex> guard(pair->lock);
      table.unlock();
      progress(pair);
      return;
    }
    case kOfGuest:
      serveGuest(context, name);
      return;
    case kOfListener:
    case kOfDatagrams: {
      Port* port = nullptr;
      {
        std::lock_guard<std::mutex> table(context->tableLock);
        for (const auto& each : context->ports)
          if (each->number == name) port = each.get();
      }
      if (port == nullptr) return;
      if ((event.data.u64 & ~kNameMask) == kOfListener)
        acceptGuests(context, port);
      else
        receiveDatagrams(context, port);
      return;
    }
    default: {
      uint64_t count = 0;
      if (read(context->waker, &count, sizeof count) <= 0) return;
      takeLeaving(context);
      matchGuests(context);
    }
  }
}

void run(Context* context) {
  struct epoll_event events[kEventsAtOnce];
  int wait = -1;
  uint64_t tickedAt = 0, restAt = 0;
  while (!context->ends) {
    context->sleeps = wait < 0;
    // Whoever stirs after this sees that it sleeps, and wakes it.
    if (wait < 0 && context->active) wait = kTickMs;
    const int count = await(context, events, wait);
    context->sleeps = false;
    for (int index = 0; index < count && !context->ends; index++) serve(context, events[index]);
    if (!context->left.empty()) lookAfterLeft(context);
    const uint64_t now = nowNs();
    if (context->active.exchange(false)) restAt = now + kRestNs;
    const uint64_t period = (wait > 0 ? static_cast<uint64_t>(wait) : static_cast<uint64_t>(kTickMs)) * 1000000;
    if (now - tickedAt < period && (count > 0 || !context->left.empty())) {
      wait = wait < 0 ? kTickMs : wait;
      continue;
    }
    tickedAt = now;
    wait = tick(context);
    if (wait > 0) restAt = now + kRestNs;
    if (wait == 0) wait = now < restAt ? kTickMs : -1;
  }
}

}  // namespace

uint64_t nowNs() {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000ULL + static_cast<uint64_t>(now.tv_nsec);
}

bool isOurs(const ibv_context* context) { return context->abi_compat == &mark; }

void Context::wake() {
  const uint64_t one = 1;
  if (write(waker, &one, sizeof one) < 0) return;  // it is full: the engine will wake
}

void watch(QueuePair* pair, bool writes) {
  Stream& stream = pair->stream;
  struct epoll_event event = {};
  event.events = writes ? EPOLLIN | EPOLLOUT : EPOLLIN;
  event.data.u64 = kOfPair | pair->qp_num;
  stream.watchesWrites = writes;
  stream.isLeft = false;
  if (epoll_ctl(pair->device->epoll, EPOLL_CTL_MOD, stream.descriptor, &event) != 0)
    epoll_ctl(pair->device->epoll, EPOLL_CTL_ADD, stream.descriptor, &event);
}

void takeBack(QueuePair* pair) {
  pair->stream.isLeft = false;
  watch(pair, pair->stream.watchesWrites);
}

// A number that is free for TCP and UDP alike. 0, or -1 and errno.
int openPort(Context* context) {
  const int span = context->lastPort - context->firstPort + 1;
  const int tries = context->firstPort == 0 ? kPortTries : span;
  for (int attempt = 0; attempt < tries; attempt++) {
    auto port = std::make_unique<Port>();
    sockaddr_in6 address = context->address;
    address.sin6_port = htons(context->firstPort == 0 ? 0 : static_cast<uint16_t>(context->firstPort + attempt));
    port->listener = openSocket(SOCK_STREAM, address);
    if (port->listener < 0 && errno == EADDRINUSE && context->firstPort != 0) continue;
    if (port->listener < 0) return -1;
    socklen_t length = sizeof address;
    getsockname(port->listener, reinterpret_cast<sockaddr*>(&address), &length);
    port->number = ntohs(address.sin6_port);
    port->datagrams = openSocket(SOCK_DGRAM, address);
    if (port->datagrams < 0) {
      close(port->listener);
      continue;
    }
    if (getrandom(&port->nextIndex, 1, 0) != 1) port->nextIndex = 0;
    if (listen(port->listener, kBacklog) != 0 || !add(context, port->listener, kOfListener | port->number) ||
        !add(context, port->datagrams, kOfDatagrams | port->number)) {
      close(port->listener);
      close(port->datagrams);
      return -1;
    }
    context->ports.push_back(std::move(port));
    return 0;
  }
  errno = EADDRINUSE;
  return -1;
}

std::vector<std::string> deviceNames() {
  std::vector<std::string> names;
  for (const Interface& each : interfaces()) names.push_back(kPrefix + each.name);
  if (!names.empty()) names.insert(names.begin(), kBest);
  return names;
}

static void closeAll(Context* context) {
  for (const int descriptor : context->leaving) close(descriptor);
  for (const auto& [number, guest] : context->guests)
    if (guest->descriptor >= 0) close(guest->descriptor);
  for (const auto& port : context->ports) {
    close(port->listener);
    close(port->datagrams);
  }
  for (const int descriptor : {context->epoll, context->waker, context->async_fd})
    if (descriptor >= 0) close(descriptor);
}

ibv_context* openDevice(const std::string& name, const MacKey* key, uint16_t firstPort, uint16_t lastPort) {
  Interface found;
  if (!findInterface(name, &found)) {
    errno = ENODEV;
    return nullptr;
  }
  auto context = std::make_unique<Context>();
  context->own.node_type = IBV_NODE_RNIC;
  context->own.transport_type = IBV_TRANSPORT_IWARP;
  snprintf(context->own.name, sizeof context->own.name, "%s", name.c_str());
  context->device = &context->own;
  context->abi_compat = &mark;
  context->num_comp_vectors = 1;
  context->cmd_fd = -1;
  context->ops.alloc_mw = allocMw;
  context->ops.bind_mw = bindMw;
  context->ops.dealloc_mw = deallocMw;
  context->ops.poll_cq = pollCq;
  context->ops.req_notify_cq = reqNotifyCq;
  context->ops.post_srq_recv = postSrqRecv;
  context->ops.post_send = postSend;
  context->ops.post_recv = postRecv;
  context->address = found.address;
  memcpy(context->gid.raw, &found.address.sin6_addr, 16);
  if (key != nullptr) context->key = *key;
  context->hasKey = key != nullptr;
  context->firstPort = firstPort;
  context->lastPort = lastPort;
  if (getrandom(&context->guid, sizeof context->guid, 0) != sizeof context->guid) context->guid = nowNs();
  context->async_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  context->waker = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  context->epoll = epoll_create1(EPOLL_CLOEXEC);
  const bool isOpen = context->async_fd >= 0 && context->waker >= 0 && context->epoll >= 0 &&
                      add(context.get(), context->waker, kOfWaker) && openPort(context.get()) == 0;
  if (!isOpen) {
    const int error = errno;
    closeAll(context.get());
    errno = error;
    return nullptr;
  }
  context->engine = std::thread(run, context.get());
  return context.release();
}

int closeDevice(ibv_context* context) {
  Context* own = contextOf(context);
  own->ends = true;
  own->wake();
  own->engine.join();
  closeAll(own);
  delete own;
  return 0;
}

int queryDevice(ibv_context* context, ibv_device_attr* a) {
  *a = {};
  a->node_guid = a->sys_image_guid = contextOf(context)->guid;
  a->max_mr_size = 1ULL << 48;
  a->page_size_cap = 4096;
  a->max_qp = 65536;
  a->max_qp_wr = 16384;
  a->device_cap_flags =
      IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_SRQ_RESIZE | IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B;
  a->max_sge = a->max_sge_rd = 32;
  a->max_cq = 65536;
  a->max_cqe = 1 << 20;
  a->max_mr = a->max_mw = 65535;
  a->max_pd = 65536;
  a->max_qp_rd_atom = a->max_qp_init_rd_atom = 128;
  a->atomic_cap = IBV_ATOMIC_GLOB;
  a->max_ah = 65536;
  a->max_srq = 65536;
  a->max_srq_wr = 16384;
  a->max_srq_sge = 32;
  a->max_pkeys = 1;
  a->phys_port_cnt = 1;
  return 0;
}

int queryPort(ibv_context*, uint8_t port, ibv_port_attr* a) {
  if (port != 1) return EINVAL;
  a->state = IBV_PORT_ACTIVE;
  a->max_mtu = a->active_mtu = IBV_MTU_4096;
  a->gid_tbl_len = 1;
  a->max_msg_sz = 1U << 31;
  a->pkey_tbl_len = 1;
  a->phys_state = 5;  // LinkUp
  a->link_layer = kLinkLayer;
  return 0;
}

int queryGid(ibv_context* context, uint8_t port, int index, ibv_gid* gid) {
  if (port != 1 || index != 0) return EINVAL;
  *gid = contextOf(context)->gid;
  return 0;
}

}  // namespace aether::tcp
