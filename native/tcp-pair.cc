// Queue pairs of the tcp device: their states, what is posted to them, and how it ends.
#include <algorithm>
#include <cerrno>

#include "tcp-device.h"
#include "tcp-verbs.h"

namespace aether::tcp {

namespace {

constexpr uint32_t kRequestsMost = 16384;
constexpr uint32_t kInlineMost = 1024;
// Of a foreign peer as much is still taken when it ends: 64 times what `receive` takes at a time.
constexpr int kLastRounds = 64;

struct Transition {
  ibv_qp_state from, to;
  int required, optional;
};

// ibv_modify_qp(3), and src/providers/queue-pair-state.ts, which explains what is missing.
constexpr int kInitRc = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
constexpr int kInitUd = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
constexpr int kReceiveRc = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
                           IBV_QP_MIN_RNR_TIMER;
constexpr int kSendRc =
    IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
constexpr int kOptionalRc =
    IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE | IBV_QP_MIN_RNR_TIMER;
constexpr int kDrainedRc = IBV_QP_PORT | IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                           IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS |
                           IBV_QP_PKEY_INDEX | IBV_QP_MIN_RNR_TIMER | IBV_QP_PATH_MIG_STATE;
constexpr int kOptionalUd = IBV_QP_CUR_STATE | IBV_QP_QKEY;

constexpr Transition kReliable[] = {
    {IBV_QPS_RESET, IBV_QPS_INIT, kInitRc, 0},
    {IBV_QPS_INIT, IBV_QPS_INIT, 0, kInitRc},
    {IBV_QPS_INIT, IBV_QPS_RTR, kReceiveRc, IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS | IBV_QP_ALT_PATH},
    {IBV_QPS_RTR, IBV_QPS_RTS, kSendRc, kOptionalRc},
    {IBV_QPS_RTS, IBV_QPS_RTS, 0, kOptionalRc},
    {IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
    {IBV_QPS_SQD, IBV_QPS_RTS, 0, kOptionalRc},
    {IBV_QPS_SQD, IBV_QPS_SQD, 0, kDrainedRc},
};
constexpr Transition kDatagram[] = {
    {IBV_QPS_RESET, IBV_QPS_INIT, kInitUd, 0},
    {IBV_QPS_INIT, IBV_QPS_INIT, 0, kInitUd},
    {IBV_QPS_INIT, IBV_QPS_RTR, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
    {IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, kOptionalUd},
    {IBV_QPS_RTS, IBV_QPS_RTS, 0, kOptionalUd},
    {IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
    {IBV_QPS_SQD, IBV_QPS_RTS, 0, kOptionalUd},
    {IBV_QPS_SQD, IBV_QPS_SQD, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
    {IBV_QPS_SQE, IBV_QPS_RTS, 0, kOptionalUd},
};

template <size_t N>
bool isLegal(const Transition (&table)[N], ibv_qp_state from, ibv_qp_state to, int mask) {
  for (const Transition& each : table)
    if (each.from == from && each.to == to)
      return (mask & each.required) == each.required && (mask & ~(each.required | each.optional)) == 0;
  return false;
}

bool mayChange(const QueuePair* pair, ibv_qp_state to, int mask) {
  if (to == IBV_QPS_RESET || (to == IBV_QPS_ERR && pair->now != IBV_QPS_RESET)) return mask == 0;
  return pair->isConnected() ? isLegal(kReliable, pair->now, to, mask) : isLegal(kDatagram, pair->now, to, mask);
}

bool areValid(const ibv_qp_attr& a, int mask) {
  if ((mask & IBV_QP_PORT) != 0 && a.port_num != 1) return false;
  if ((mask & IBV_QP_PKEY_INDEX) != 0 && a.pkey_index != 0) return false;
  if ((mask & IBV_QP_MAX_QP_RD_ATOMIC) != 0 && a.max_rd_atomic > kDepthMost) return false;
  if ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) != 0 && a.max_dest_rd_atomic > kDepthMost) return false;
  if ((mask & IBV_QP_PATH_MTU) != 0 && (a.path_mtu < IBV_MTU_256 || a.path_mtu > IBV_MTU_4096)) return false;
  if ((mask & IBV_QP_TIMEOUT) != 0 && a.timeout > 31) return false;
  if ((mask & IBV_QP_RETRY_CNT) != 0 && a.retry_cnt > 7) return false;
  if ((mask & IBV_QP_RNR_RETRY) != 0 && a.rnr_retry > 7) return false;
  return (mask & IBV_QP_MIN_RNR_TIMER) == 0 || a.min_rnr_timer <= 31;
}

void takeAttributes(ibv_qp_attr* own, const ibv_qp_attr& a, int mask) {
  if ((mask & IBV_QP_ACCESS_FLAGS) != 0) own->qp_access_flags = a.qp_access_flags;
  if ((mask & IBV_QP_PKEY_INDEX) != 0) own->pkey_index = a.pkey_index;
  if ((mask & IBV_QP_PORT) != 0) own->port_num = a.port_num;
  if ((mask & IBV_QP_QKEY) != 0) own->qkey = a.qkey;
  if ((mask & IBV_QP_AV) != 0) own->ah_attr = a.ah_attr;
  if ((mask & IBV_QP_PATH_MTU) != 0) own->path_mtu = a.path_mtu;
  if ((mask & IBV_QP_TIMEOUT) != 0) own->timeout = a.timeout;
  if ((mask & IBV_QP_RETRY_CNT) != 0) own->retry_cnt = a.retry_cnt;
  if ((mask & IBV_QP_RNR_RETRY) != 0) own->rnr_retry = a.rnr_retry;
  if ((mask & IBV_QP_RQ_PSN) != 0) own->rq_psn = a.rq_psn;
  if ((mask & IBV_QP_SQ_PSN) != 0) own->sq_psn = a.sq_psn;
  if ((mask & IBV_QP_MAX_QP_RD_ATOMIC) != 0) own->max_rd_atomic = a.max_rd_atomic;
  if ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) != 0) own->max_dest_rd_atomic = a.max_dest_rd_atomic;
  if ((mask & IBV_QP_MIN_RNR_TIMER) != 0) own->min_rnr_timer = a.min_rnr_timer;
  if ((mask & IBV_QP_DEST_QPN) != 0) own->dest_qp_num = a.dest_qp_num;
  if ((mask & IBV_QP_ALT_PATH) != 0) own->alt_ah_attr = a.alt_ah_attr;
  if ((mask & IBV_QP_PATH_MIG_STATE) != 0) own->path_mig_state = a.path_mig_state;
}

ibv_wc_opcode completionOf(ibv_wr_opcode opcode) {
  switch (opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return IBV_WC_RDMA_WRITE;
    case IBV_WR_RDMA_READ:
      return IBV_WC_RDMA_READ;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      return IBV_WC_COMP_SWAP;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return IBV_WC_FETCH_ADD;
    case IBV_WR_LOCAL_INV:
      return IBV_WC_LOCAL_INV;
    case IBV_WR_BIND_MW:
      return IBV_WC_BIND_MW;
    default:
      return IBV_WC_SEND;
  }
}

void reportSend(QueuePair* pair, uint64_t index, ibv_wc_status status) {
  const Send& send = pair->at(index);
  Completion completion = {};
  completion.pair = pair;
  completion.freed = index + 1;
  completion.wc.wr_id = send.id;
  completion.wc.status = status;
  completion.wc.opcode = send.opcode == IBV_WR_DRIVER1
                             ? (send.atomic.op == AtomicOp::FetchAdd ? IBV_WC_FETCH_ADD : IBV_WC_COMP_SWAP)
                             : completionOf(send.opcode);
  completion.wc.qp_num = pair->qp_num;
  completion.wc.byte_len = static_cast<uint32_t>(send.length);
  pair->sendQueue()->push(completion, false);
}

void reportDrained(QueuePair* pair) {
  if (pair->now != IBV_QPS_SQD || pair->drainTold) return;
  if (pair->head != pair->tail && pair->at(pair->head).begun) return;
  pair->drainTold = true;
  if (pair->attributes.en_sqd_async_notify) pair->device->raise(IBV_EVENT_SQ_DRAINED, pair, nullptr, nullptr);
}

void reset(QueuePair* pair) {
  disconnect(pair);
  pair->sendQueue()->forget(pair);
  pair->receiveQueue()->forget(pair);
  pair->head = pair->next = pair->tail = pair->freed = 0;
  pair->receives.clear();
  pair->stream = Stream();
  pair->attributes = {};
  pair->bytesPerSecond = 0;
  pair->drainTold = pair->established = false;
}

}  // namespace

void completeReceive(QueuePair* pair, const Receive& receive, ibv_wc_opcode opcode, ibv_wc_status status,
                     uint64_t length, unsigned flags, uint32_t value, uint32_t source, bool solicited) {
  Completion completion = {};
  completion.pair = pair;
  completion.wc.wr_id = receive.id;
  completion.wc.status = status;
  completion.wc.opcode = opcode;
  completion.wc.byte_len = static_cast<uint32_t>(length);
  completion.wc.wc_flags = flags;
  if ((flags & IBV_WC_WITH_INV) != 0)
    completion.wc.invalidated_rkey = value;
  else
    completion.wc.imm_data = value;
  completion.wc.qp_num = pair->qp_num;
  completion.wc.src_qp = source;
  pair->receiveQueue()->push(completion, solicited);
}

void completeSends(QueuePair* pair) {
  Stream& stream = pair->stream;
  while (pair->head != pair->next) {
    Send& send = pair->at(pair->head);
    if (send.status != IBV_WC_SUCCESS) {
      reportSend(pair, pair->head++, send.status);
      enterError(pair);
      return;
    }
    const bool isDone = send.isLocal() || !pair->isConnected() ||
                        (static_cast<int32_t>(stream.taken - (send.firstMessage + send.messages)) >= 0 &&
                         (!send.isAnswered() || send.responded));
    if (!isDone) break;
    if (send.signaled) reportSend(pair, pair->head, IBV_WC_SUCCESS);
    pair->head++;
  }
  reportDrained(pair);
}

void failSend(QueuePair* pair, uint64_t index, ibv_wc_status status) {
  pair->at(index).status = status;
  // Nothing behind it is sent.
  if (index >= pair->next) pair->next = index + 1;
  completeSends(pair);
}

void giveUp(QueuePair* pair) {
  if (pair->head == pair->tail) return;
  if (pair->head == pair->next) pair->next = pair->head + 1;
  pair->at(pair->head).status = IBV_WC_RETRY_EXC_ERR;
  completeSends(pair);
}

void enterError(QueuePair* pair, ibv_wc_status receiveStatus) {
  if (pair->now == IBV_QPS_ERR) return;
  pair->now = IBV_QPS_ERR;
  for (; pair->head != pair->tail; pair->head++) reportSend(pair, pair->head, IBV_WC_WR_FLUSH_ERR);
  pair->next = pair->tail;
  if (pair->stream.receiving)
    completeReceive(pair, pair->stream.receive, IBV_WC_RECV, receiveStatus, 0, 0, 0, 0, false);
  pair->stream.receiving = false;
  Receive receive;
  while (!pair->receives.empty()) {
    pair->receives.take(&receive);
    completeReceive(pair, receive, IBV_WC_RECV, IBV_WC_WR_FLUSH_ERR, 0, 0, 0, 0, false);
  }
  if (pair->srq != nullptr) pair->device->raise(IBV_EVENT_QP_LAST_WQE_REACHED, pair, nullptr, nullptr);
  flush(pair);
  disconnect(pair);
}

// ---- verbs

ibv_qp* createQp(ibv_pd* pd, ibv_qp_init_attr* attributes) {
  const ibv_qp_cap& cap = attributes->cap;
  errno = 0;
  if (attributes->qp_type != IBV_QPT_RC && attributes->qp_type != IBV_QPT_UD)
    errno = EOPNOTSUPP;
  else if (cap.max_send_wr > kRequestsMost || cap.max_recv_wr > kRequestsMost || cap.max_send_sge > kSegmentsMost ||
           cap.max_recv_sge > kSegmentsMost || cap.max_inline_data > kInlineMost)
    errno = EINVAL;
  if (errno != 0) return nullptr;
  Context* context = contextOf(pd->context);
  auto pair = std::make_unique<QueuePair>();
  pair->context = context;
  pair->device = context;
  pair->qp_context = attributes->qp_context;
  pair->pd = pd;
  pair->send_cq = attributes->send_cq;
  pair->recv_cq = attributes->recv_cq;
  pair->srq = attributes->srq;
  pair->qp_type = attributes->qp_type;
  pair->initial = *attributes;
  ibv_qp_cap& granted = pair->initial.cap;
  granted.max_send_wr = std::max(granted.max_send_wr, 1U);
  granted.max_send_sge = std::max(granted.max_send_sge, 1U);
  granted.max_recv_wr = pair->srq != nullptr ? 0 : std::max(granted.max_recv_wr, 1U);
  granted.max_recv_sge = std::max(granted.max_recv_sge, 1U);
  attributes->cap = granted;
  pair->sends.resize(granted.max_send_wr);
  pair->receives.open(std::max(granted.max_recv_wr, 1U));
  {
    std::lock_guard<std::mutex> guard(context->tableLock);
    Port* found = nullptr;
    uint32_t index = 0;
    for (int round = 0; found == nullptr && round < 2; round++) {
      for (const auto& port : context->ports) {
        for (uint32_t step = 0; found == nullptr && step < 256; step++) {
          index = (port->nextIndex + step) % 256;
          if (!port->used[index]) found = port.get();
        }
        if (found != nullptr) break;
      }
      if (found == nullptr && openPort(context) != 0) return nullptr;
    }
    if (found == nullptr) return nullptr;
    found->used[index] = true;
    found->nextIndex = static_cast<uint8_t>(index + 1);
    pair->qp_num = static_cast<uint32_t>(found->number) << 8 | index;
    context->pairs[pair->qp_num] = pair.get();
  }
  pair->sendQueue()->pairs.push_back(pair.get());
  if (pair->recv_cq != pair->send_cq) pair->receiveQueue()->pairs.push_back(pair.get());
  static_cast<Domain*>(pd)->users++;
  return pair.release();
}

int destroyQp(ibv_qp* qp) {
  auto* pair = static_cast<QueuePair*>(qp);
  Context* context = pair->device;
  {
    // From here on the engine does not find it.
    std::lock_guard<std::mutex> guard(context->tableLock);
    context->pairs.erase(pair->qp_num);
    for (const auto& port : context->ports)
      if (port->number == pair->qp_num >> 8) port->used[pair->qp_num & 0xff] = false;
  }
  {
    // And has left it.
    std::lock_guard<std::recursive_mutex> guard(pair->lock);
    reset(pair);
  }
  context->forgetEvents(qp);
  for (CompletionQueue* queue : {pair->sendQueue(), pair->receiveQueue()})
    queue->pairs.erase(std::remove(queue->pairs.begin(), queue->pairs.end(), pair), queue->pairs.end());
  static_cast<Domain*>(pair->pd)->users--;
  delete pair;
  return 0;
}

int modifyQp(ibv_qp* qp, ibv_qp_attr* attributes, int mask) {
  auto* pair = static_cast<QueuePair*>(qp);
  std::unique_lock<std::recursive_mutex> guard(pair->lock);
  const ibv_qp_state to = (mask & IBV_QP_STATE) != 0 ? attributes->qp_state : pair->now;
  const int rest = mask & ~IBV_QP_STATE;
  if ((mask & IBV_QP_CUR_STATE) != 0 && attributes->cur_qp_state != pair->now) return EINVAL;
  if (!mayChange(pair, to, rest) || !areValid(*attributes, rest)) return EINVAL;
  if (to == IBV_QPS_ERR) {
    // The connection manager may know of its end before what it sent last was read.
    for (int round = 0; round < kLastRounds && pair->stream.isForeign && pair->now == IBV_QPS_RTS; round++)
      if (pair->stream.phase != Stream::Phase::Up || !receive(pair)) break;
    enterError(pair);
    return 0;
  }
  if (to == IBV_QPS_RESET) {
    reset(pair);
    pair->now = to;
    return 0;
  }
  const ibv_qp_attr before = pair->attributes;
  takeAttributes(&pair->attributes, *attributes, rest);
  if (pair->now == IBV_QPS_INIT && to == IBV_QPS_RTR && pair->isConnected()) {
    if (const int error = connectPair(pair)) {
      pair->attributes = before;
      return error;
    }
  }
  pair->attributes.en_sqd_async_notify = (mask & IBV_QP_EN_SQD_ASYNC_NOTIFY) != 0 && attributes->en_sqd_async_notify;
  if (to == IBV_QPS_SQD && pair->now == IBV_QPS_RTS) pair->drainTold = false;
  pair->now = to;
  pair->progressAt = nowNs();
  reportDrained(pair);
  if (to == IBV_QPS_RTS) transmit(pair);
  guard.unlock();
  // Somebody may have knocked for it.
  if (to == IBV_QPS_RTR && pair->isConnected()) pair->device->wake();
  return 0;
}

int queryQp(ibv_qp* qp, ibv_qp_attr* attributes, int, ibv_qp_init_attr* initial) {
  auto* pair = static_cast<QueuePair*>(qp);
  std::lock_guard<std::recursive_mutex> guard(pair->lock);
  *attributes = pair->attributes;
  attributes->qp_state = attributes->cur_qp_state = pair->now;
  attributes->cap = pair->initial.cap;
  attributes->sq_draining = pair->now == IBV_QPS_SQD && !pair->drainTold;
  *initial = pair->initial;
  return 0;
}

// 0, or why it is refused.
static int takeSend(QueuePair* pair, const ibv_send_wr& wr, Send* send) {
  const ibv_qp_cap& cap = pair->initial.cap;
  if (wr.num_sge < 0 || static_cast<uint32_t>(wr.num_sge) > cap.max_send_sge) return EINVAL;
  const bool isInline = (wr.send_flags & IBV_SEND_INLINE) != 0;
  send->id = wr.wr_id;
  send->opcode = wr.opcode;
  send->flags = wr.send_flags;
  send->signaled = pair->initial.sq_sig_all != 0 || (wr.send_flags & IBV_SEND_SIGNALED) != 0;
  send->length = 0;
  send->inlined.clear();
  send->segments.clear();
  send->begun = send->responded = false;
  send->received = 0;
  send->messages = 0;
  send->status = IBV_WC_SUCCESS;
  for (int index = 0; index < wr.num_sge; index++) send->length += wr.sg_list[index].length;
  if (isInline) {
    if (send->length > cap.max_inline_data || wr.opcode == IBV_WR_RDMA_READ || send->isAtomic()) return EINVAL;
    for (int index = 0; index < wr.num_sge; index++) {
      const auto* data = reinterpret_cast<const uint8_t*>(wr.sg_list[index].addr);
      send->inlined.insert(send->inlined.end(), data, data + wr.sg_list[index].length);
    }
  } else {
    send->segments.assign(wr.sg_list, wr.sg_list + wr.num_sge);
  }
  switch (wr.opcode) {
    case IBV_WR_RDMA_WRITE_WITH_IMM:
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_READ:
      send->remoteAddress = wr.wr.rdma.remote_addr;
      send->remoteKey = wr.wr.rdma.rkey;
      send->immediate = wr.imm_data;
      break;
    case IBV_WR_SEND_WITH_INV:
    case IBV_WR_LOCAL_INV:
      send->immediate = wr.invalidate_rkey;
      break;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      send->atomic = {AtomicOp::CompareSwap, 0,  wr.wr.atomic.rkey,        wr.wr.atomic.remote_addr,
                      wr.wr.atomic.swap,     ~0ULL, wr.wr.atomic.compare_add, ~0ULL};
      break;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      send->atomic = {AtomicOp::FetchAdd, 0, wr.wr.atomic.rkey, wr.wr.atomic.remote_addr, wr.wr.atomic.compare_add,
                      0,                  0, 0};
      break;
    case IBV_WR_DRIVER1: {
      // A masked atomic: see verbs-post.cc.
      const auto* masks = static_cast<const uint64_t*>(wr.tso.hdr);
      const bool isAdd = wr.tso.mss != 0;
      send->atomic = {isAdd ? AtomicOp::FetchAdd : AtomicOp::CompareSwap,
                      0,
                      wr.wr.atomic.rkey,
                      wr.wr.atomic.remote_addr,
                      isAdd ? wr.wr.atomic.compare_add : wr.wr.atomic.swap,
                      isAdd ? masks[0] : masks[1],
                      isAdd ? 0 : wr.wr.atomic.compare_add,
                      isAdd ? 0 : masks[0]};
      break;
    }
    case IBV_WR_BIND_MW:
      send->window = static_cast<Window*>(wr.bind_mw.mw);
      send->region = static_cast<Region*>(wr.bind_mw.bind_info.mr);
      send->remoteKey = wr.bind_mw.rkey;
      send->bindAddress = wr.bind_mw.bind_info.addr;
      send->bindLength = wr.bind_mw.bind_info.length;
      send->bindAccess = static_cast<int>(wr.bind_mw.bind_info.mw_access_flags);
      break;
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
      send->immediate = wr.imm_data;
      break;
    default:
      return EOPNOTSUPP;
  }
  // What is no standard, or one that a foreign peer need not know.
  const bool hasImmediate = wr.opcode == IBV_WR_SEND_WITH_IMM || wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
  if (pair->stream.isForeign && (hasImmediate || send->isAtomic())) return EOPNOTSUPP;
  if (pair->isConnected()) return 0;
  const ibv_ah_attr& to = static_cast<AddressHandle*>(wr.wr.ud.ah)->attributes;
  send->toNumber = wr.wr.ud.remote_qpn;
  send->toQueueKey = (wr.wr.ud.remote_qkey & 0x80000000U) != 0 ? pair->attributes.qkey : wr.wr.ud.remote_qkey;
  send->to = {};
  send->to.sin6_family = AF_INET6;
  send->to.sin6_port = htons(static_cast<uint16_t>(send->toNumber >> 8));
  memcpy(&send->to.sin6_addr, to.grh.dgid.raw, 16);
  send->to.sin6_scope_id = pair->device->address.sin6_scope_id;
  return 0;
}

int postSend(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad) {
  auto* pair = static_cast<QueuePair*>(qp);
  std::lock_guard<std::recursive_mutex> guard(pair->lock);
  int error = 0;
  const bool mayPost = pair->now == IBV_QPS_RTS || pair->now == IBV_QPS_SQD || pair->now == IBV_QPS_ERR;
  const bool wasIdle = pair->head == pair->tail;
  for (; wr != nullptr; wr = wr->next) {
    *bad = wr;
    if (!mayPost)
      error = EINVAL;
    else if (pair->tail - pair->freed >= pair->sends.size())
      error = ENOMEM;
    else
      error = takeSend(pair, *wr, &pair->at(pair->tail));
    if (error != 0) break;
    pair->tail++;
  }
  if (pair->now == IBV_QPS_ERR) {
    for (; pair->head != pair->tail; pair->head++) reportSend(pair, pair->head, IBV_WC_WR_FLUSH_ERR);
    pair->next = pair->tail;
    return error;
  }
  if (wasIdle && pair->head != pair->tail) {
    pair->progressAt = nowNs();
    pair->device->stir();
  }
  transmit(pair);
  return error;
}

int postRecv(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad) {
  auto* pair = static_cast<QueuePair*>(qp);
  std::lock_guard<std::recursive_mutex> guard(pair->lock);
  for (; wr != nullptr; wr = wr->next) {
    *bad = wr;
    if (pair->now == IBV_QPS_RESET || pair->srq != nullptr) return EINVAL;
    if (wr->num_sge < 0 || static_cast<uint32_t>(wr->num_sge) > pair->initial.cap.max_recv_sge) return EINVAL;
    if (pair->now == IBV_QPS_ERR) {
      Receive receive;
      receive.id = wr->wr_id;
      completeReceive(pair, receive, IBV_WC_RECV, IBV_WC_WR_FLUSH_ERR, 0, 0, 0, 0, false);
      continue;
    }
    if (pair->receives.full()) return ENOMEM;
    pair->receives.add(*wr);
  }
  return 0;
}

ibv_ah* createAh(ibv_pd* pd, ibv_ah_attr* attributes) {
  if (attributes->port_num != 1 || attributes->is_global == 0) {
    errno = EINVAL;
    return nullptr;
  }
  auto* handle = new AddressHandle();
  handle->context = pd->context;
  handle->pd = pd;
  handle->attributes = *attributes;
  static_cast<Domain*>(pd)->users++;
  return handle;
}

int destroyAh(ibv_ah* ah) {
  static_cast<Domain*>(ah->pd)->users--;
  delete static_cast<AddressHandle*>(ah);
  return 0;
}

}  // namespace aether::tcp
