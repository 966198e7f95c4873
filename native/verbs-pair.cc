// Queue pairs: creation, modify, query.
#include "verbs-attributes.h"
#include "verbs-objects.h"

#include <cerrno>

namespace aether {

// What createQueuePair is given beside the objects, and gives back.
enum PairWord : size_t { kType, kMaxSendRequests, kMaxReceiveRequests, kMaxSendSegments, kMaxReceiveSegments, kMaxInlineBytes, kSignalAll, kPairWords };

static bool takeOptions(const double* words, struct ibv_qp_init_attr* a) {
  bool ok = true;
  a->qp_type = static_cast<enum ibv_qp_type>(wholeNumber(words[kType], 255, &ok));
  a->cap.max_send_wr = static_cast<uint32_t>(wholeNumber(words[kMaxSendRequests], UINT32_MAX, &ok));
  a->cap.max_recv_wr = static_cast<uint32_t>(wholeNumber(words[kMaxReceiveRequests], UINT32_MAX, &ok));
  a->cap.max_send_sge = static_cast<uint32_t>(wholeNumber(words[kMaxSendSegments], UINT32_MAX, &ok));
  a->cap.max_recv_sge = static_cast<uint32_t>(wholeNumber(words[kMaxReceiveSegments], UINT32_MAX, &ok));
  a->cap.max_inline_data = static_cast<uint32_t>(wholeNumber(words[kMaxInlineBytes], UINT32_MAX, &ok));
  a->sq_sig_all = static_cast<int>(wholeNumber(words[kSignalAll], 1, &ok));
  return ok;
}

static napi_value describe(napi_env env, const VerbsQueuePair* pair, const struct ibv_qp_cap& cap) {
  return describeNumbers(env, {{"handle", pair->token},
                               {"number", pair->qp->qp_num},
                               {"maxSendRequests", cap.max_send_wr},
                               {"maxReceiveRequests", cap.max_recv_wr},
                               {"maxSendSegments", cap.max_send_sge},
                               {"maxReceiveSegments", cap.max_recv_sge},
                               {"maxInlineBytes", cap.max_inline_data}});
}

static napi_value CreateQueuePair(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* domain = handleOf<VerbsDomain>(arguments, 0);
  auto* sendQueue = handleOf<VerbsCompletionQueue>(arguments, 1);
  auto* receiveQueue = handleOf<VerbsCompletionQueue>(arguments, 2);
  const Doubles options = doublesOf(arguments, 3, "options", kPairWords);
  if (!arguments.ok()) return nullptr;
  struct ibv_qp_init_attr a = {};
  if (!takeOptions(options.data, &a)) return throwArgument(env, "options", "an option of the queue pair is not a number of its range");
  a.send_cq = sendQueue->cq;
  a.recv_cq = receiveQueue->cq;
  auto* pair = createObject<VerbsQueuePair>(env, "ibv_create_qp", {domain, sendQueue, receiveQueue}, [&](VerbsQueuePair* made) {
    a.qp_context = static_cast<VerbsObject*>(made);
    made->qp = ibv_create_qp(domain->pd, &a);
    return errnoOf(made->qp);
  });
  return pair == nullptr ? nullptr : describe(env, pair, a.cap);
}

static napi_value ModifyQueuePair(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* pair = handleOf<VerbsQueuePair>(arguments, 0);
  const auto mask = static_cast<unsigned>(arguments.integer(1, "mask", 0, INT32_MAX));
  const Doubles words = doublesOf(arguments, 2, "attributes", kAttributeWords);
  if (!arguments.ok()) return nullptr;
  struct ibv_qp_attr a = {};
  if (!takeAttributes(words.data, mask, &a)) return makeNumber(env, EINVAL);
  errno = 0;
  return makeNumber(env, errnoOf(ibv_modify_qp(pair->qp, &a, static_cast<int>(mask))));
}

static napi_value QueryQueuePair(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* pair = handleOf<VerbsQueuePair>(arguments, 0);
  const auto mask = static_cast<int>(arguments.integer(1, "mask", 0, INT32_MAX));
  const Doubles words = doublesOf(arguments, 2, "attributes", kAttributeWords);
  if (!arguments.ok()) return nullptr;
  struct ibv_qp_attr a = {};
  struct ibv_qp_init_attr initial = {};
  errno = 0;
  const int error = errnoOf(ibv_query_qp(pair->qp, &a, mask, &initial));
  if (error == 0) putAttributes(a, words.data);
  return makeNumber(env, error);
}

void registerVerbsPairs(napi_env env, napi_value exports) {
  define(env, exports, "createQueuePair", CreateQueuePair);
  define(env, exports, "modifyQueuePair", ModifyQueuePair);
  define(env, exports, "queryQueuePair", QueryQueuePair);
}

}  // namespace aether
