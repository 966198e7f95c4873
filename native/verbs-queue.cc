// Completion channels and completion queues.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "verbs-objects.h"

namespace aether {

static napi_value CreateChannel(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* device = handleOf<VerbsDevice>(arguments, 0);
  if (!arguments.ok()) return nullptr;
  auto* channel = createObject<VerbsChannel>(env, "ibv_create_comp_channel", {device}, [&](VerbsChannel* made) {
    made->channel = ibv_create_comp_channel(device->context);
    return errnoOf(made->channel);
  });
  if (channel == nullptr) return nullptr;
  const int descriptor = channel->channel->fd;
  fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
  return describeNumbers(env, {{"handle", channel->token}, {"descriptor", descriptor}});
}

// Takes and acknowledges what waits, and writes the token of each event's queue. Never blocks: the descriptor does not.
static napi_value DrainChannel(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* channel = handleOf<VerbsChannel>(arguments, 0);
  const Doubles out = doublesOf(arguments, 1, "out", 1);
  if (!arguments.ok()) return nullptr;
  size_t count = 0;
  while (count < out.length) {
    struct ibv_cq* cq = nullptr;
    void* context = nullptr;
    if (ibv_get_cq_event(channel->channel, &cq, &context) != 0) break;
    ibv_ack_cq_events(cq, 1);
    out.data[count++] = static_cast<const VerbsObject*>(context)->token;
  }
  return makeNumber(env, static_cast<double>(count));
}

static napi_value CreateCompletionQueue(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* device = handleOf<VerbsDevice>(arguments, 0);
  const auto depth = static_cast<int>(arguments.integer(1, "depth", 1, INT32_MAX));
  const bool hasChannel = arguments.integer(2, "channel", 0, kSafeIntegerMax) != 0;
  auto* channel = hasChannel ? handleOf<VerbsChannel>(arguments, 2) : nullptr;
  const auto vector = static_cast<int>(arguments.integer(3, "vector", 0, INT32_MAX));
  if (!arguments.ok()) return nullptr;
  std::vector<VerbsObject*> uses = {device};
  if (channel != nullptr) uses.push_back(channel);
  auto* queue =
      createObject<VerbsCompletionQueue>(env, "ibv_create_cq", std::move(uses), [&](VerbsCompletionQueue* made) {
        made->cq = ibv_create_cq(device->context, depth, static_cast<VerbsObject*>(made),
                                 channel == nullptr ? nullptr : channel->channel, vector);
        return errnoOf(made->cq);
      });
  if (queue == nullptr) return nullptr;
  return describeNumbers(env, {{"handle", queue->token}, {"depth", queue->cq->cqe}});
}

static napi_value ResizeCompletionQueue(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* queue = handleOf<VerbsCompletionQueue>(arguments, 0);
  const auto depth = static_cast<int>(arguments.integer(1, "depth", 1, INT32_MAX));
  if (!arguments.ok()) return nullptr;
  errno = 0;
  if (const int error = errnoOf(ibv_resize_cq(queue->cq, depth))) return throwSystem(env, "ibv_resize_cq", error);
  return makeNumber(env, queue->cq->cqe);
}

static napi_value ArmCompletionQueue(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* queue = handleOf<VerbsCompletionQueue>(arguments, 0);
  const bool solicitedOnly = arguments.boolean(1, "solicitedOnly");
  if (!arguments.ok()) return nullptr;
  errno = 0;
  return makeNumber(env, errnoOf(ibv_req_notify_cq(queue->cq, solicitedOnly ? 1 : 0)));
}

// The columns of a CompletionBatch, as src/providers/completion-batch.ts lays them out.
struct Columns {
  double* id;
  double* byteLength;
  uint32_t* immediate;
  uint32_t* queuePairNumber;
  uint32_t* sourceQueuePair;
  uint32_t* vendorError;
  uint8_t* status;
  uint8_t* opcode;
  uint8_t* flags;

  static constexpr size_t kRowBytes = 2 * 8 + 4 * 4 + 3;

  Columns(uint8_t* data, size_t capacity) {
    id = reinterpret_cast<double*>(data);
    byteLength = id + capacity;
    immediate = reinterpret_cast<uint32_t*>(byteLength + capacity);
    queuePairNumber = immediate + capacity;
    sourceQueuePair = queuePairNumber + capacity;
    vendorError = sourceQueuePair + capacity;
    status = reinterpret_cast<uint8_t*>(vendorError + capacity);
    opcode = status + capacity;
    flags = opcode + capacity;
  }

  void put(size_t row, const struct ibv_wc& wc) {
    id[row] = static_cast<double>(static_cast<int64_t>(wc.wr_id));
    status[row] = static_cast<uint8_t>(wc.status);
    queuePairNumber[row] = wc.qp_num;
    vendorError[row] = wc.vendor_err;
    // The other fields of a failed completion are whatever was there.
    const bool succeeded = wc.status == IBV_WC_SUCCESS;
    const unsigned wcFlags = succeeded ? wc.wc_flags : 0;
    byteLength[row] = succeeded ? wc.byte_len : 0;
    opcode[row] = static_cast<uint8_t>(wc.opcode);
    flags[row] = static_cast<uint8_t>(wcFlags);
    sourceQueuePair[row] = succeeded ? wc.src_qp : 0;
    if (wcFlags & IBV_WC_WITH_IMM)
      immediate[row] = be32toh(wc.imm_data);
    else
      immediate[row] = wcFlags & IBV_WC_WITH_INV ? wc.invalidated_rkey : 0;
  }
};

constexpr size_t kTakenAtOnce = 64;

static napi_value PollCompletions(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* queue = handleOf<VerbsCompletionQueue>(arguments, 0);
  if (!arguments.ok()) return nullptr;
  void* data = nullptr;
  size_t length = 0;
  if (napi_get_arraybuffer_info(env, arguments.at(1), &data, &length) != napi_ok || length < Columns::kRowBytes)
    return throwArgument(env, "batch", "batch must be the ArrayBuffer of a CompletionBatch");
  const size_t capacity = length / Columns::kRowBytes;
  Columns columns(static_cast<uint8_t*>(data), capacity);
  struct ibv_wc taken[kTakenAtOnce];
  size_t rows = 0;
  while (rows < capacity) {
    const auto wanted = static_cast<int>(std::min(capacity - rows, kTakenAtOnce));
    const int count = ibv_poll_cq(queue->cq, wanted, taken);
    if (count < 0) return rows > 0 ? makeSmall(env, static_cast<int32_t>(rows)) : makeSmall(env, -EIO);
    for (int index = 0; index < count; index++) columns.put(rows++, taken[index]);
    if (count < wanted) break;
  }
  return makeSmall(env, static_cast<int32_t>(rows));
}

void registerVerbsQueues(napi_env env, napi_value exports) {
  define(env, exports, "createChannel", CreateChannel);
  define(env, exports, "drainChannel", DrainChannel);
  define(env, exports, "createCompletionQueue", CreateCompletionQueue);
  define(env, exports, "resizeCompletionQueue", ResizeCompletionQueue);
  define(env, exports, "armCompletionQueue", ArmCompletionQueue);
  define(env, exports, "pollCompletions", PollCompletions);
}

}  // namespace aether
