// Posting: requests come as they are encoded (src/providers/encoded-request.ts), `count` of them `stride` slots apart, and go to the library as one
// chain. What a request names is checked before the library sees it, as far as a wrong value would make the library touch memory.
#include "verbs-objects.h"

#include <cerrno>
#include <cstring>

namespace aether {

enum RequestSlot : size_t {
  kId,
  kOpcode,
  kFlags,
  kRemoteAddress,
  kRemoteKey,
  kImmediate,
  kCompareAdd,
  kSwap,
  kSegmentCount,
  kAddressHandle,
  kRemoteQueuePair,
  kQueueKey,
  kSegments = 16,
};
constexpr size_t kSegmentSlots = 3;
constexpr double kRequestsMost = 1 << 16;
// How a post ends: the errno times this, plus how many requests were taken.
constexpr double kErrnoUnit = 1 << 20;

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

uint64_t bitsOf(const double* request, size_t slot) {
  uint64_t bits = 0;
  memcpy(&bits, request + slot, sizeof bits);
  return bits;
}

// The segments of one request; false where a number is out of range. Inline ones are offsets into the staging buffer, since the library reads them here.
bool takeSegments(const Batch& batch, const double* request, bool isInline, struct ibv_sge* out, int* count) {
  bool ok = true;
  *count = static_cast<int>(wholeNumber(request[kSegmentCount], static_cast<double>((batch.stride - kSegments) / kSegmentSlots), &ok));
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

// 0, or the errno with which the request is refused.
int takeSend(const double* request, struct ibv_send_wr* wr) {
  bool ok = true;
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
      return EINVAL;
  }
}

bool takeBatch(Arguments& arguments, Batch* batch) {
  const Doubles words = doublesOf(arguments, 1, "requests", kSegments);
  batch->count = static_cast<size_t>(arguments.integer(2, "count", 1, kRequestsMost));
  batch->stride = static_cast<size_t>(arguments.integer(3, "stride", kSegments, 1 << 16));
  if (!arguments.ok()) return false;
  batch->slots = words.data;
  if (words.length / batch->stride < batch->count) arguments.fail("requests", "there are fewer requests than count says");
  return arguments.ok();
}

napi_value outcome(napi_env env, int error, size_t taken) { return makeNumber(env, error * kErrnoUnit + static_cast<double>(taken)); }

// Makes room in the pair's vectors, which then do not move while a chain points into them.
template <class Request>
void makeRoom(VerbsQueuePair* pair, std::vector<Request>* requests, const Batch& batch) {
  const size_t segments = batch.count * ((batch.stride - kSegments) / kSegmentSlots);
  if (requests->size() < batch.count) requests->resize(batch.count);
  if (pair->segments.size() < segments) pair->segments.resize(segments);
}

// How many stand before the one that was refused. Not every provider says which it was; then none was taken.
template <class Request>
size_t takenBefore(const Request* first, const Request* bad, size_t count) {
  return bad >= first && bad < first + count ? static_cast<size_t>(bad - first) : 0;
}

}  // namespace

// One chain of the requests before the first that is refused here.
static int buildSends(VerbsQueuePair* pair, const Batch& batch, size_t* built) {
  makeRoom(pair, &pair->sends, batch);
  const size_t perRequest = (batch.stride - kSegments) / kSegmentSlots;
  for (*built = 0; *built < batch.count; ++*built) {
    const double* request = batch.slots + *built * batch.stride;
    struct ibv_send_wr* wr = &pair->sends[*built];
    memset(wr, 0, sizeof *wr);
    bool ok = true;
    wr->wr_id = idOf(request);
    wr->opcode = static_cast<enum ibv_wr_opcode>(wholeNumber(request[kOpcode], 255, &ok));
    // Of enum ibv_send_flags, which differ from ours by names only.
    const auto flags = static_cast<unsigned>(wholeNumber(request[kFlags], 15, &ok));
    wr->send_flags = flags;
    wr->sg_list = pair->segments.data() + *built * perRequest;
    if (!ok || !takeSegments(batch, request, (flags & IBV_SEND_INLINE) != 0, wr->sg_list, &wr->num_sge)) return EINVAL;
    if (const int error = takeSend(request, wr)) return error;
    if (*built > 0) pair->sends[*built - 1].next = wr;
  }
  return 0;
}

static napi_value PostSend(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* pair = handleOf<VerbsQueuePair>(arguments, 0);
  Batch batch = {};
  if (!takeBatch(arguments, &batch)) return nullptr;
  batch.staging = arguments.bytes(4, "staging");
  if (!arguments.ok()) return nullptr;
  size_t built = 0;
  const int refused = buildSends(pair, batch, &built);
  if (built == 0) return outcome(env, refused, 0);
  pair->sends[built - 1].next = nullptr;
  struct ibv_send_wr* bad = pair->sends.data();
  errno = 0;
  const int error = errnoOf(ibv_post_send(pair->qp, pair->sends.data(), &bad));
  if (error != 0) return outcome(env, error, takenBefore(pair->sends.data(), bad, built));
  return outcome(env, refused, built);
}

static int buildReceives(VerbsQueuePair* pair, const Batch& batch, size_t* built) {
  makeRoom(pair, &pair->receives, batch);
  const size_t perRequest = (batch.stride - kSegments) / kSegmentSlots;
  for (*built = 0; *built < batch.count; ++*built) {
    const double* request = batch.slots + *built * batch.stride;
    struct ibv_recv_wr* wr = &pair->receives[*built];
    memset(wr, 0, sizeof *wr);
    wr->wr_id = idOf(request);
    wr->sg_list = pair->segments.data() + *built * perRequest;
    if (!takeSegments(batch, request, false, wr->sg_list, &wr->num_sge)) return EINVAL;
    if (*built > 0) pair->receives[*built - 1].next = wr;
  }
  return 0;
}

static napi_value PostReceive(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* pair = handleOf<VerbsQueuePair>(arguments, 0);
  Batch batch = {};
  if (!takeBatch(arguments, &batch)) return nullptr;
  size_t built = 0;
  const int refused = buildReceives(pair, batch, &built);
  if (built == 0) return outcome(env, refused, 0);
  pair->receives[built - 1].next = nullptr;
  struct ibv_recv_wr* bad = pair->receives.data();
  errno = 0;
  const int error = errnoOf(ibv_post_recv(pair->qp, pair->receives.data(), &bad));
  if (error != 0) return outcome(env, error, takenBefore(pair->receives.data(), bad, built));
  return outcome(env, refused, built);
}

// The numbers that both sides must mean the same by; src/providers/ibverbs/layout.ts compares them when the provider is loaded.
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
      {"RequestSlot.QueueKey", kQueueKey},
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
  define(env, exports, "layout", Layout);
}

}  // namespace aether
