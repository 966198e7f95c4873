// Completion channels, completion queues, shared receive queues and asynchronous events of the tcp device.
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "tcp-device.h"
#include "tcp-verbs.h"

namespace aether::tcp {

namespace {

constexpr int kCompletionsMost = 1 << 20;
constexpr uint32_t kReceivesMost = 16384;
// How many queue pairs an empty poll looks after.
constexpr size_t kAssistedAtOnce = 4;

void ring(int descriptor) {
  const uint64_t one = 1;
  if (write(descriptor, &one, sizeof one) < 0) return;  // it is full, so readable already
}

void silence(int descriptor) {
  uint64_t count = 0;
  if (read(descriptor, &count, sizeof count) < 0) return;
}

}  // namespace

// ---- events

void Context::raise(ibv_event_type type, QueuePair* pair, ibv_cq* queue, ibv_srq* shared) {
  ibv_async_event event = {};
  event.event_type = type;
  if (pair != nullptr) event.element.qp = pair;
  if (queue != nullptr) event.element.cq = queue;
  if (shared != nullptr) event.element.srq = shared;
  std::lock_guard<std::mutex> guard(eventLock);
  events.push_back(event);
  ring(async_fd);
}

void Context::forgetEvents(const void* element) {
  std::lock_guard<std::mutex> guard(eventLock);
  events.erase(std::remove_if(events.begin(), events.end(),
                              [&](const ibv_async_event& event) { return event.element.qp == element; }),
               events.end());
  if (events.empty()) silence(async_fd);
}

int getAsyncEvent(ibv_context* context, ibv_async_event* event) {
  Context* device = contextOf(context);
  std::lock_guard<std::mutex> guard(device->eventLock);
  if (device->events.empty()) {
    errno = EAGAIN;
    return -1;
  }
  *event = device->events.front();
  device->events.pop_front();
  if (device->events.empty()) silence(device->async_fd);
  return 0;
}

// ---- channels

ibv_comp_channel* createCompChannel(ibv_context* context) {
  auto channel = std::make_unique<Channel>();
  channel->context = context;
  channel->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return channel->fd < 0 ? nullptr : channel.release();
}

int destroyCompChannel(ibv_comp_channel* channel) {
  if (channel->refcnt > 0) return EBUSY;
  close(channel->fd);
  delete static_cast<Channel*>(channel);
  return 0;
}

int getCqEvent(ibv_comp_channel* channel, ibv_cq** cq, void** user) {
  auto* own = static_cast<Channel*>(channel);
  std::lock_guard<std::mutex> guard(own->lock);
  if (own->events.empty()) {
    errno = EAGAIN;
    return -1;
  }
  *cq = own->events.front();
  *user = (*cq)->cq_context;
  own->events.pop_front();
  if (own->events.empty()) silence(own->fd);
  return 0;
}

// ---- completion queues

void CompletionQueue::push(const Completion& completion, bool solicited) {
  std::unique_lock<std::mutex> guard(lock);
  const size_t waiting = count.load(std::memory_order_relaxed);
  if (waiting == ring.size()) {
    if (overrun) return;
    overrun = true;
    guard.unlock();
    contextOf(context)->raise(IBV_EVENT_CQ_ERR, nullptr, this, nullptr);
    return;
  }
  ring[(first + waiting) % ring.size()] = completion;
  count.store(waiting + 1, std::memory_order_release);
  const bool fires = armed == Armed::Any ||
                     (armed == Armed::Solicited && (solicited || completion.wc.status != IBV_WC_SUCCESS));
  if (!fires) return;
  armed = Armed::No;
  auto* own = static_cast<Channel*>(channel);
  if (own == nullptr) return;
  std::lock_guard<std::mutex> channelGuard(own->lock);
  own->events.push_back(this);
  aether::tcp::ring(own->fd);
}

void CompletionQueue::forget(const QueuePair* pair) {
  std::lock_guard<std::mutex> guard(lock);
  const size_t waiting = count.load(std::memory_order_relaxed);
  size_t kept = 0;
  for (size_t index = 0; index < waiting; index++) {
    const Completion completion = ring[(first + index) % ring.size()];
    if (completion.pair == pair) continue;
    ring[(first + kept) % ring.size()] = completion;
    kept++;
  }
  count.store(kept, std::memory_order_release);
}

ibv_cq* createCq(ibv_context* context, int depth, void* user, ibv_comp_channel* channel, int vector) {
  if (depth < 1 || depth > kCompletionsMost || vector != 0) {
    errno = EINVAL;
    return nullptr;
  }
  auto* queue = new CompletionQueue();
  queue->context = context;
  queue->channel = channel;
  queue->cq_context = user;
  queue->cqe = depth;
  queue->ring.resize(static_cast<size_t>(depth));
  if (channel != nullptr) channel->refcnt++;
  return queue;
}

int resizeCq(ibv_cq* cq, int depth) {
  auto* queue = static_cast<CompletionQueue*>(cq);
  std::lock_guard<std::mutex> guard(queue->lock);
  const size_t waiting = queue->count.load();
  if (depth < 1 || depth > kCompletionsMost || static_cast<size_t>(depth) < waiting) return EINVAL;
  std::vector<Completion> next(static_cast<size_t>(depth));
  for (size_t index = 0; index < waiting; index++) next[index] = queue->ring[(queue->first + index) % queue->ring.size()];
  queue->ring.swap(next);
  queue->first = 0;
  cq->cqe = depth;
  return 0;
}

int destroyCq(ibv_cq* cq) {
  auto* queue = static_cast<CompletionQueue*>(cq);
  if (!queue->pairs.empty()) return EBUSY;
  contextOf(cq->context)->forgetEvents(cq);
  if (auto* channel = static_cast<Channel*>(cq->channel)) {
    std::lock_guard<std::mutex> guard(channel->lock);
    channel->events.erase(std::remove(channel->events.begin(), channel->events.end(), cq), channel->events.end());
    if (channel->events.empty()) silence(channel->fd);
    channel->refcnt--;
  }
  delete queue;
  return 0;
}

// Makes progress on behalf of a program that polls, so that nothing waits for the engine to be woken. One that the
// engine is at is left to it.
static void assist(CompletionQueue* queue) {
  const size_t count = queue->pairs.size();
  for (size_t index = 0; index < std::min(count, kAssistedAtOnce); index++) {
    QueuePair* pair = queue->pairs[queue->nextAssisted++ % count];
    if (!pair->isConnected()) {
      Context* context = pair->device;
      for (const auto& port : context->ports)
        if (port->number == pair->qp_num >> 8) receiveDatagrams(context, port.get());
      continue;
    }
    const std::unique_lock<std::recursive_mutex> guard(pair->lock, std::try_to_lock);
    if (!guard.owns_lock()) continue;
    pair->polledAt.store(nowNs(), std::memory_order_relaxed);
    progress(pair, true);
  }
}

int pollCq(ibv_cq* cq, int count, ibv_wc* wc) {
  auto* queue = static_cast<CompletionQueue*>(cq);
  if (queue->count.load(std::memory_order_acquire) == 0) assist(queue);
  if (queue->count.load(std::memory_order_acquire) == 0) return 0;
  std::lock_guard<std::mutex> guard(queue->lock);
  const size_t taken = std::min(static_cast<size_t>(count), queue->count.load(std::memory_order_relaxed));
  for (size_t index = 0; index < taken; index++) {
    const Completion& completion = queue->ring[queue->first];
    wc[index] = completion.wc;
    // Slots of the send queue are given free here: `freed` is of the thread that polls and posts.
    if (completion.freed > completion.pair->freed) completion.pair->freed = completion.freed;
    queue->first = (queue->first + 1) % queue->ring.size();
  }
  queue->count.fetch_sub(taken, std::memory_order_release);
  return static_cast<int>(taken);
}

int reqNotifyCq(ibv_cq* cq, int solicitedOnly) {
  auto* queue = static_cast<CompletionQueue*>(cq);
  // The program is about to sleep.
  for (QueuePair* pair : queue->pairs) {
    pair->polledAt.store(0, std::memory_order_relaxed);
    std::lock_guard<std::recursive_mutex> guard(pair->lock);
    if (pair->stream.isLeft) takeBack(pair);
  }
  std::lock_guard<std::mutex> guard(queue->lock);
  if (solicitedOnly == 0)
    queue->armed = CompletionQueue::Armed::Any;
  else if (queue->armed == CompletionQueue::Armed::No)
    queue->armed = CompletionQueue::Armed::Solicited;
  return 0;
}

// ---- receives

uint64_t Receive::length() const {
  uint64_t total = 0;
  for (const ibv_sge& segment : segments) total += segment.length;
  return total;
}

void ReceiveRing::add(const ibv_recv_wr& wr) {
  Receive& receive = ring_[(first_ + count_) % ring_.size()];
  receive.id = wr.wr_id;
  receive.segments.assign(wr.sg_list, wr.sg_list + wr.num_sge);
  count_++;
}

void ReceiveRing::take(Receive* out) {
  Receive& receive = ring_[first_];
  out->id = receive.id;
  out->segments.swap(receive.segments);
  first_ = (first_ + 1) % ring_.size();
  count_--;
}

void ReceiveRing::resize(size_t capacity) {
  std::vector<Receive> next(capacity);
  for (size_t index = 0; index < count_; index++) next[index] = std::move(ring_[(first_ + index) % ring_.size()]);
  ring_.swap(next);
  first_ = 0;
}

ibv_srq* createSrq(ibv_pd* pd, ibv_srq_init_attr* attributes) {
  ibv_srq_attr& wanted = attributes->attr;
  if (wanted.max_wr < 1 || wanted.max_wr > kReceivesMost || wanted.max_sge > kSegmentsMost) {
    errno = EINVAL;
    return nullptr;
  }
  auto* queue = new SharedReceiveQueue();
  queue->context = pd->context;
  queue->srq_context = attributes->srq_context;
  queue->pd = pd;
  queue->ring.open(wanted.max_wr);
  queue->maxSegments = wanted.max_sge = std::max(wanted.max_sge, 1U);
  queue->limit = wanted.srq_limit;
  static_cast<Domain*>(pd)->users++;
  return queue;
}

int modifySrq(ibv_srq* srq, ibv_srq_attr* attributes, int mask) {
  auto* queue = static_cast<SharedReceiveQueue*>(srq);
  std::lock_guard<std::mutex> guard(queue->lock);
  const size_t capacity = (mask & IBV_SRQ_MAX_WR) != 0 ? attributes->max_wr : queue->ring.capacity();
  const uint32_t limit = (mask & IBV_SRQ_LIMIT) != 0 ? attributes->srq_limit : queue->limit;
  if (capacity < 1 || capacity > kReceivesMost || capacity < queue->ring.count() || limit > capacity) return EINVAL;
  if (capacity != queue->ring.capacity()) queue->ring.resize(capacity);
  queue->limit = limit;
  return 0;
}

int querySrq(ibv_srq* srq, ibv_srq_attr* attributes) {
  auto* queue = static_cast<SharedReceiveQueue*>(srq);
  std::lock_guard<std::mutex> guard(queue->lock);
  attributes->max_wr = static_cast<uint32_t>(queue->ring.capacity());
  attributes->max_sge = queue->maxSegments;
  attributes->srq_limit = queue->limit;
  return 0;
}

int destroySrq(ibv_srq* srq) {
  auto* queue = static_cast<SharedReceiveQueue*>(srq);
  // The table of objects refuses while a queue pair uses it (verbs-objects.cc).
  contextOf(srq->context)->forgetEvents(srq);
  static_cast<Domain*>(srq->pd)->users--;
  delete queue;
  return 0;
}

int postSrqRecv(ibv_srq* srq, ibv_recv_wr* wr, ibv_recv_wr** bad) {
  auto* queue = static_cast<SharedReceiveQueue*>(srq);
  std::lock_guard<std::mutex> guard(queue->lock);
  for (; wr != nullptr; wr = wr->next) {
    *bad = wr;
    if (wr->num_sge < 0 || static_cast<uint32_t>(wr->num_sge) > queue->maxSegments) return EINVAL;
    if (queue->ring.full()) return ENOMEM;
    queue->ring.add(*wr);
  }
  return 0;
}

bool takeReceive(QueuePair* pair, Receive* out) {
  auto* shared = static_cast<SharedReceiveQueue*>(pair->srq);
  if (shared == nullptr) {
    if (pair->receives.empty()) return false;
    pair->receives.take(out);
    return true;
  }
  std::unique_lock<std::mutex> guard(shared->lock);
  if (shared->ring.empty()) return false;
  shared->ring.take(out);
  if (shared->limit == 0 || shared->ring.count() >= shared->limit) return true;
  shared->limit = 0;
  guard.unlock();
  pair->device->raise(IBV_EVENT_SRQ_LIMIT_REACHED, nullptr, nullptr, shared);
  return true;
}

}  // namespace aether::tcp
