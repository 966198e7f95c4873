// Posting: requests come as they are encoded (src/providers/encoded-request.ts), `count` of them `stride` slots apart,
// and go to the library as one chain. What a request names is checked before the library sees it, as far as a wrong
// value would make the library touch memory.
#include "verbs-post.h"

#include <cerrno>
#include <cstring>

#include "tcp-verbs.h"

namespace aether {

constexpr double kRequestsMost = 1 << 16;
// Slots.
constexpr size_t kStrideMost = 1 << 16;
// How a post ends: the errno times this, plus how many requests were taken.
constexpr int32_t kErrnoUnit = 1 << 20;

namespace {

struct Batch {
  double* slots;
  size_t count;
  size_t stride;
  Bytes staging;
};

uint64_t idOf(const double* request) {
  const double id = request[kId];
  return id >= -kSafeIntegerMax && id <= kSafeIntegerMax ? static_cast<uint64_t>(static_cast<int64_t>(id)) : 0;
}

// The segments of one request; false where a number is out of range. Inline ones are offsets into the staging buffer,
// since the library reads them here.
bool takeSegments(const Batch& batch, const double* request, bool isInline, struct ibv_sge* out, int* count) {
  bool ok = true;
  *count = static_cast<int>(
      wholeNumber(request[kSegmentCount], static_cast<double>((batch.stride - kSegments) / kSegmentSlots), &ok));
  for (int index = 0; ok && index < *count; index++) {
    const double* segment = request + kSegments + kSegmentSlots * static_cast<size_t>(index);
    const uint64_t address = wholeNumber(segment[0], kSafeIntegerMax, &ok);
    const uint64_t length = wholeNumber(segment[1], UINT32_MAX, &ok);
    const uint64_t key = wholeNumber(segment[2], UINT32_MAX, &ok);
    if (isInline && (address > batch.staging.length || length > batch.staging.length - address)) return false;
    const uint64_t base = isInline ? reinterpret_cast<uint64_t>(batch.staging.data) : 0;
    out[index] = {base + address, static_cast<uint32_t>(length), static_cast<uint32_t>(key)};
  }
  return ok;
}

// 0, or the errno with which the request is refused. A bind to nothing has no memory, and the library asks for none
// then.
int takeBind(napi_env env, const VerbsQueuePair* pair, const double* request, struct ibv_send_wr* wr) {
  bool ok = true;
  auto* window = liveOf<VerbsWindow>(env, request[kWindow]);
  auto* memory = liveOf<VerbsMemory>(env, request[kMemory]);
  wr->bind_mw.rkey = static_cast<uint32_t>(wholeNumber(request[kRemoteKey], UINT32_MAX, &ok));
  wr->bind_mw.bind_info.addr = wholeNumber(request[kRemoteAddress], kSafeIntegerMax, &ok);
  wr->bind_mw.bind_info.length = wholeNumber(request[kLength], kSafeIntegerMax, &ok);
  wr->bind_mw.bind_info.mw_access_flags = static_cast<unsigned>(wholeNumber(request[kRequestAccess], INT32_MAX, &ok));
  if (!ok || window == nullptr || (memory == nullptr && request[kMemory] != 0)) return EINVAL;
  // The drivers look into the region without asking whether there is one.
  if (memory == nullptr && !tcp::isOurs(pair->qp->context)) return EINVAL;
  wr->bind_mw.mw = window->mw;
  wr->bind_mw.bind_info.mr = memory == nullptr ? nullptr : memory->mr;
  return 0;
}

// Where a datagram goes, or which shared receive queue takes the message.
int takeDestination(napi_env env, enum ibv_qp_type type, const double* request, struct ibv_send_wr* wr) {
  bool ok = true;
  const auto number = static_cast<uint32_t>(wholeNumber(request[kRemoteQueuePair], UINT32_MAX, &ok));
  const auto queueKey = static_cast<uint32_t>(wholeNumber(request[kRequestQueueKey], UINT32_MAX, &ok));
  if (!ok) return EINVAL;
  if (type == IBV_QPT_XRC_SEND) wr->qp_type.xrc.remote_srqn = number;
  if (type != IBV_QPT_UD) return 0;
  auto* handle = liveOf<VerbsAddressHandle>(env, request[kAddressHandle]);
  if (handle == nullptr) return EINVAL;
  wr->wr.ud.ah = handle->ah;
  wr->wr.ud.remote_qpn = number;
  wr->wr.ud.remote_qkey = queueKey;
  return 0;
}

int takeSend(napi_env env, const VerbsQueuePair* pair, const double* request, struct ibv_send_wr* wr) {
  bool ok = true;
  if (wr->opcode == IBV_WR_BIND_MW) return takeBind(env, pair, request, wr);
  const uint64_t address = wholeNumber(request[kRemoteAddress], kSafeIntegerMax, &ok);
  const auto key = static_cast<uint32_t>(wholeNumber(request[kRemoteKey], UINT32_MAX, &ok));
  const auto immediate = static_cast<uint32_t>(wholeNumber(request[kImmediate], UINT32_MAX, &ok));
  if (!ok) return EINVAL;
  switch (wr->opcode) {
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      wr->imm_data = htobe32(immediate);
      [[fallthrough]];
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_READ:
      wr->wr.rdma.remote_addr = address;
      wr->wr.rdma.rkey = key;
      return 0;
    case IBV_WR_SEND_WITH_IMM:
      wr->imm_data = htobe32(immediate);
      return 0;
    case IBV_WR_SEND:
      return 0;
    case IBV_WR_SEND_WITH_INV:
    case IBV_WR_LOCAL_INV:
      wr->invalidate_rkey = immediate;
      return 0;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      wr->wr.atomic.remote_addr = address;
      wr->wr.atomic.rkey = key;
      wr->wr.atomic.compare_add = bitsOf(request, kCompareAdd);
      wr->wr.atomic.swap = bitsOf(request, kSwap);
      return 0;
    default:
      return EOPNOTSUPP;
  }
}

// Of an ArrayBuffer: a typed array would be asked for its type, offset and buffer, which takes as long as the rest.
Doubles requestsOf(Arguments& arguments) {
  Doubles out;
  void* data = nullptr;
  size_t bytes = 0;
  if (!arguments.ok()) return out;
  if (napi_get_arraybuffer_info(arguments.env, arguments.at(1), &data, &bytes) != napi_ok ||
      bytes < kSegments * sizeof(double)) {
    arguments.fail("requests", "requests must be an ArrayBuffer with at least one encoded request");
    return out;
  }
  out.data = static_cast<double*>(data);
  out.length = bytes / sizeof(double);
  return out;
}

// The requests, or the only one, where it stands alone.
bool takeBatch(Arguments& arguments, Batch* batch) {
  const Doubles words = requestsOf(arguments);
  if (arguments.count() == 2) {
    batch->slots = words.data;
    batch->count = 1;
    batch->stride = words.length;
    if (words.length > kStrideMost) arguments.fail("requests", "a request is not that long");
    return arguments.ok();
  }
  batch->count = static_cast<size_t>(arguments.integer(2, "count", 1, kRequestsMost));
  batch->stride = static_cast<size_t>(arguments.integer(3, "stride", kSegments, static_cast<double>(kStrideMost)));
  if (!arguments.ok()) return false;
  batch->slots = words.data;
  if (words.length / batch->stride < batch->count)
    arguments.fail("requests", "there are fewer requests than count says");
  return arguments.ok();
}

// The tcp device takes masked atomics as IBV_WR_DRIVER1. The masks are where `tso.hdr` points, and `tso.mss` is 1 for a
// fetch-add. They are read by the post.
int takeMaskedAtomic(double* request, struct ibv_send_wr* wr) {
  bool ok = true;
  wr->wr.atomic.remote_addr = wholeNumber(request[kRemoteAddress], kSafeIntegerMax, &ok);
  wr->wr.atomic.rkey = static_cast<uint32_t>(wholeNumber(request[kRemoteKey], UINT32_MAX, &ok));
  wr->wr.atomic.compare_add = bitsOf(request, kCompareAdd);
  wr->wr.atomic.swap = bitsOf(request, kSwap);
  wr->tso.hdr = request + kMasks;
  wr->tso.mss = request[kOpcode] == kMaskedFetchAdd ? 1 : 0;
  return ok ? 0 : EINVAL;
}

napi_value outcome(napi_env env, int error, size_t taken) {
  return makeSmall(env, error * kErrnoUnit + static_cast<int32_t>(taken));
}

// Makes room in the vectors, which then do not move while a chain points into them.
template <class Request>
void makeRoom(VerbsChain* chain, std::vector<Request>* requests, const Batch& batch) {
  const size_t segments = batch.count * ((batch.stride - kSegments) / kSegmentSlots);
  if (requests->size() < batch.count) requests->resize(batch.count);
  if (chain->segments.size() < segments) chain->segments.resize(segments);
}

// How many stand before the one that was refused. Not every provider says which it was; then none was taken.
template <class Request>
size_t takenBefore(const Request* first, const Request* bad, size_t count) {
  return bad >= first && bad < first + count ? static_cast<size_t>(bad - first) : 0;
}

}  // namespace

// Masked atomics have the fields of plain ones, and are told apart by their slots.
static bool takeOpcode(const VerbsQueuePair* pair, double opcode, struct ibv_send_wr* wr) {
  if (opcode >= 0 && opcode <= IBV_WR_SEND_WITH_INV) {
    wr->opcode = static_cast<enum ibv_wr_opcode>(static_cast<int>(opcode));
    return true;
  }
  if (tcp::isOurs(pair->qp->context)) {
    wr->opcode = IBV_WR_DRIVER1;
    return opcode == kMaskedCompareSwap || opcode == kMaskedFetchAdd;
  }
#ifdef AETHER_MLX5
  if (needsMlx5(pair, opcode)) {
    wr->opcode = opcode == kConfigureIndirectKey ? IBV_WR_DRIVER1
                 : opcode == kMaskedCompareSwap  ? IBV_WR_ATOMIC_CMP_AND_SWP
                                                 : IBV_WR_ATOMIC_FETCH_AND_ADD;
    return opcode == kConfigureIndirectKey || opcode == kMaskedCompareSwap || opcode == kMaskedFetchAdd;
  }
#endif
  return false;
}

// What a transport does not carry (the table of ibv_post_send(3)) is refused here: not every library does, and the
// request would end the queue pair.
static bool isCarried(enum ibv_qp_type type, enum ibv_wr_opcode opcode) {
  if (type == IBV_QPT_UD) return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM;
  if (type == IBV_QPT_UC)
    return opcode != IBV_WR_RDMA_READ && opcode != IBV_WR_ATOMIC_CMP_AND_SWP && opcode != IBV_WR_ATOMIC_FETCH_AND_ADD;
  return true;
}

// One chain of the requests before the first that is refused here.
static int buildSends(napi_env env, VerbsQueuePair* pair, const Batch& batch, size_t* built) {
  VerbsChain* chain = &pair->chain;
  makeRoom(chain, &chain->sends, batch);
  const size_t perRequest = (batch.stride - kSegments) / kSegmentSlots;
  for (*built = 0; *built < batch.count; ++*built) {
    double* request = batch.slots + *built * batch.stride;
    struct ibv_send_wr* wr = &chain->sends[*built];
    memset(wr, 0, sizeof *wr);
    bool ok = true;
    wr->wr_id = idOf(request);
    if (!takeOpcode(pair, request[kOpcode], wr)) return EOPNOTSUPP;
    if (!isCarried(pair->qp->qp_type, wr->opcode)) return EINVAL;
    // Of enum ibv_send_flags, which differ from ours by names only.
    wr->send_flags = static_cast<unsigned>(wholeNumber(request[kFlags], 15, &ok));
    wr->sg_list = chain->segments.data() + *built * perRequest;
    if (!ok || !takeSegments(batch, request, (wr->send_flags & IBV_SEND_INLINE) != 0, wr->sg_list, &wr->num_sge))
      return EINVAL;
    if (wr->opcode != IBV_WR_DRIVER1) {
      if (const int error = takeSend(env, pair, request, wr)) return error;
    } else if (tcp::isOurs(pair->qp->context)) {
      if (const int error = takeMaskedAtomic(request, wr)) return error;
    }
    if (const int error = takeDestination(env, pair->qp->qp_type, request, wr)) return error;
    if (*built > 0) chain->sends[*built - 1].next = wr;
  }
  return 0;
}

// A window of type 2 has the key of its last bind from the post on. The library leaves that to its callers, and some
// drivers name the window by it.
static void noteBinds(const VerbsChain& chain, size_t taken) {
  for (size_t index = 0; index < taken; index++) {
    const struct ibv_send_wr& wr = chain.sends[index];
    if (wr.opcode == IBV_WR_BIND_MW) wr.bind_mw.mw->rkey = wr.bind_mw.rkey;
  }
}

static napi_value PostSend(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* pair = handleOf<VerbsQueuePair>(arguments, 0);
  Batch batch = {};
  if (!takeBatch(arguments, &batch)) return nullptr;
  if (arguments.count() > 4) batch.staging = arguments.bytes(4, "staging");
  if (!arguments.ok()) return nullptr;
  size_t built = 0;
  const int refused = buildSends(env, pair, batch, &built);
  if (built == 0) return outcome(env, refused, 0);
  struct ibv_send_wr* first = pair->chain.sends.data();
  first[built - 1].next = nullptr;
#ifdef AETHER_MLX5
  bool extended = false;
  for (size_t index = 0; index < built; index++)
    extended = extended || needsMlx5(pair, batch.slots[index * batch.stride + kOpcode]);
  if (extended) {
    const int failed = postByMlx5(env, pair, batch.slots, built, batch.stride);
    return outcome(env, failed != 0 ? failed : refused, failed != 0 ? 0 : built);
  }
#endif
  struct ibv_send_wr* bad = first;
  errno = 0;
  const int error = errnoOf(ibv_post_send(pair->qp, first, &bad));
  const size_t taken = error == 0 ? built : takenBefore(first, bad, built);
  noteBinds(pair->chain, taken);
  return outcome(env, error != 0 ? error : refused, taken);
}

static int buildReceives(VerbsChain* chain, const Batch& batch, size_t* built) {
  makeRoom(chain, &chain->receives, batch);
  const size_t perRequest = (batch.stride - kSegments) / kSegmentSlots;
  for (*built = 0; *built < batch.count; ++*built) {
    const double* request = batch.slots + *built * batch.stride;
    struct ibv_recv_wr* wr = &chain->receives[*built];
    memset(wr, 0, sizeof *wr);
    wr->wr_id = idOf(request);
    wr->sg_list = chain->segments.data() + *built * perRequest;
    if (!takeSegments(batch, request, false, wr->sg_list, &wr->num_sge)) return EINVAL;
    if (*built > 0) chain->receives[*built - 1].next = wr;
  }
  return 0;
}

template <class Post>
static napi_value postReceives(Arguments& arguments, VerbsChain* chain, Post post) {
  Batch batch = {};
  if (!takeBatch(arguments, &batch)) return nullptr;
  size_t built = 0;
  const int refused = buildReceives(chain, batch, &built);
  if (built == 0) return outcome(arguments.env, refused, 0);
  struct ibv_recv_wr* first = chain->receives.data();
  first[built - 1].next = nullptr;
  struct ibv_recv_wr* bad = first;
  errno = 0;
  const int error = errnoOf(post(first, &bad));
  if (error != 0) return outcome(arguments.env, error, takenBefore(first, bad, built));
  return outcome(arguments.env, refused, built);
}

static napi_value PostReceive(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* pair = handleOf<VerbsQueuePair>(arguments, 0);
  if (!arguments.ok()) return nullptr;
  return postReceives(arguments, &pair->chain,
                      [&](auto* first, auto** bad) { return ibv_post_recv(pair->qp, first, bad); });
}

static napi_value PostSharedReceive(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* queue = handleOf<VerbsSharedReceiveQueue>(arguments, 0);
  if (!arguments.ok()) return nullptr;
  return postReceives(arguments, &queue->chain,
                      [&](auto* first, auto** bad) { return ibv_post_srq_recv(queue->srq, first, bad); });
}

// The numbers that both sides must mean the same by; src/providers/ibverbs/layout.ts compares them when the provider is
// loaded.
static napi_value Layout(napi_env env, napi_callback_info) {
  return describeNumbers(env, {
                                  {"RequestSlot.Id", kId},
                                  {"RequestSlot.Opcode", kOpcode},
                                  {"RequestSlot.Flags", kFlags},
                                  {"RequestSlot.RemoteAddress", kRemoteAddress},
                                  {"RequestSlot.RemoteKey", kRemoteKey},
                                  {"RequestSlot.Immediate", kImmediate},
                                  {"RequestSlot.CompareAdd", kCompareAdd},
                                  {"RequestSlot.Swap", kSwap},
                                  {"RequestSlot.SegmentCount", kSegmentCount},
                                  {"RequestSlot.AddressHandle", kAddressHandle},
                                  {"RequestSlot.RemoteQueuePair", kRemoteQueuePair},
                                  {"RequestSlot.QueueKey", kRequestQueueKey},
                                  {"RequestSlot.Window", kWindow},
                                  {"RequestSlot.Memory", kMemory},
                                  {"RequestSlot.Length", kLength},
                                  {"RequestSlot.Access", kRequestAccess},
                                  {"RequestSlot.Segments", kSegments},
                                  {"SEGMENT_SLOTS", kSegmentSlots},
                                  {"Opcode.Write", IBV_WR_RDMA_WRITE},
                                  {"Opcode.WriteWithImmediate", IBV_WR_RDMA_WRITE_WITH_IMM},
                                  {"Opcode.Send", IBV_WR_SEND},
                                  {"Opcode.SendWithImmediate", IBV_WR_SEND_WITH_IMM},
                                  {"Opcode.Read", IBV_WR_RDMA_READ},
                                  {"Opcode.CompareSwap", IBV_WR_ATOMIC_CMP_AND_SWP},
                                  {"Opcode.FetchAdd", IBV_WR_ATOMIC_FETCH_AND_ADD},
                                  {"Opcode.LocalInvalidate", IBV_WR_LOCAL_INV},
                                  {"Opcode.BindMemoryWindow", IBV_WR_BIND_MW},
                                  {"Opcode.SendWithInvalidate", IBV_WR_SEND_WITH_INV},
                                  {"RequestFlag.Fence", IBV_SEND_FENCE},
                                  {"RequestFlag.Signaled", IBV_SEND_SIGNALED},
                                  {"RequestFlag.Solicited", IBV_SEND_SOLICITED},
                                  {"RequestFlag.Inline", IBV_SEND_INLINE},
                                  {"CompletionOpcode.Send", IBV_WC_SEND},
                                  {"CompletionOpcode.Write", IBV_WC_RDMA_WRITE},
                                  {"CompletionOpcode.Read", IBV_WC_RDMA_READ},
                                  {"CompletionOpcode.CompareSwap", IBV_WC_COMP_SWAP},
                                  {"CompletionOpcode.FetchAdd", IBV_WC_FETCH_ADD},
                                  {"CompletionOpcode.BindMemoryWindow", IBV_WC_BIND_MW},
                                  {"CompletionOpcode.LocalInvalidate", IBV_WC_LOCAL_INV},
                                  {"CompletionOpcode.Receive", IBV_WC_RECV},
                                  {"CompletionOpcode.ReceiveWriteWithImmediate", IBV_WC_RECV_RDMA_WITH_IMM},
                                  {"CompletionFlag.GlobalRoute", IBV_WC_GRH},
                                  {"CompletionFlag.WithImmediate", IBV_WC_WITH_IMM},
                                  {"CompletionFlag.WithInvalidate", IBV_WC_WITH_INV},
                                  {"QueuePairState.Error", IBV_QPS_ERR},
                                  {"QueuePairType.rc", IBV_QPT_RC},
                                  {"QueuePairType.uc", IBV_QPT_UC},
                                  {"QueuePairType.ud", IBV_QPT_UD},
                                  {"QueuePairType.xrc-send", IBV_QPT_XRC_SEND},
                                  {"QueuePairType.xrc-receive", IBV_QPT_XRC_RECV},
                                  {"QueuePairType.dci", IBV_QPT_DRIVER},
                                  {"Attribute.destinationQueuePair", IBV_QP_DEST_QPN},
                                  {"Attribute.pathMigrationState", IBV_QP_PATH_MIG_STATE},
                                  {"Attribute.minRnrTimer", IBV_QP_MIN_RNR_TIMER},
                                  {"Attribute.alternatePath", IBV_QP_ALT_PATH},
                                  {"Access.RelaxedOrdering", IBV_ACCESS_RELAXED_ORDERING},
                                  {"Access.HugePages", IBV_ACCESS_HUGETLB},
                                  {"Access.OnDemand", IBV_ACCESS_ON_DEMAND},
                                  {"CompletionStatus.GeneralError", IBV_WC_GENERAL_ERR},
                                  {"CompletionStatus.RetryExceeded", IBV_WC_RETRY_EXC_ERR},
                              });
}

void registerVerbsPosting(napi_env env, napi_value exports) {
  define(env, exports, "postSend", PostSend);
  define(env, exports, "postReceive", PostReceive);
  define(env, exports, "postSharedReceive", PostSharedReceive);
  define(env, exports, "layout", Layout);
}

}  // namespace aether
