// Queue pairs: creation, modify, query.
#include <cerrno>
#include <cmath>

#include "tcp-verbs.h"
#include "verbs-attributes.h"
#include "verbs-job.h"
#include "verbs-mlx5.h"

namespace aether {

// What createQueuePair is given beside the objects, and gives back.
enum PairWord : size_t {
  kType,
  kMaxSendRequests,
  kMaxReceiveRequests,
  kMaxSendSegments,
  kMaxReceiveSegments,
  kMaxInlineBytes,
  kSignalAll,
  kTargetKey,  // 64 bits
  kPairWords,
};

static bool takeOptions(const double* words, struct ibv_qp_init_attr* a) {
  bool ok = true;
  // The two ends of the dynamically connected transport share a number.
  a->qp_type =
      words[kType] == kTypeDct ? IBV_QPT_DRIVER : static_cast<enum ibv_qp_type>(wholeNumber(words[kType], 255, &ok));
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

// The types that need an XRC domain or have only half of the queues are made by the extended call.
static struct ibv_qp* create(VerbsQueuePair* made, VerbsDomain* domain, VerbsXrcDomain* xrcDomain,
                             struct ibv_qp_init_attr* a, const double* options) {
#ifdef AETHER_MLX5
  if (a->qp_type == IBV_QPT_RC || a->qp_type == IBV_QPT_DRIVER) {
    struct ibv_qp* qp = createByMlx5(made, domain, *a, options[kType], bitsOf(options, kTargetKey));
    // Where the device is another, or does not have all of it, a reliable connection is an ordinary one.
    if (qp != nullptr || a->qp_type == IBV_QPT_DRIVER) return qp;
  }
#else
  (void)made;
  (void)options;
#endif
  if (a->qp_type != IBV_QPT_XRC_SEND && a->qp_type != IBV_QPT_XRC_RECV) return ibv_create_qp(domain->pd, a);
  struct ibv_qp_init_attr_ex extended = {};
  extended.qp_context = a->qp_context;
  extended.qp_type = a->qp_type;
  extended.cap = a->cap;
  extended.sq_sig_all = a->sq_sig_all;
  extended.send_cq = a->send_cq;
  if (a->qp_type == IBV_QPT_XRC_RECV && xrcDomain != nullptr) {
    extended.comp_mask = IBV_QP_INIT_ATTR_XRCD;
    extended.xrcd = xrcDomain->xrcd;
  } else {
    extended.comp_mask = IBV_QP_INIT_ATTR_PD;
    extended.pd = domain->pd;
  }
  struct ibv_qp* qp = ibv_create_qp_ex(domain->pd->context, &extended);
  a->cap = extended.cap;
  return qp;
}

static napi_value CreateQueuePair(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* domain = handleOf<VerbsDomain>(arguments, 0);
  auto* sendQueue = optionalHandleOf<VerbsCompletionQueue>(arguments, 1);
  auto* receiveQueue = optionalHandleOf<VerbsCompletionQueue>(arguments, 2);
  auto* shared = optionalHandleOf<VerbsSharedReceiveQueue>(arguments, 3);
  auto* xrcDomain = optionalHandleOf<VerbsXrcDomain>(arguments, 4);
  const Doubles options = doublesOf(arguments, 5, "options", kPairWords);
  if (!arguments.ok()) return nullptr;
  struct ibv_qp_init_attr a = {};
  if (!takeOptions(options.data, &a))
    return throwArgument(env, "options", "an option of the queue pair is not a number of its range");
  if ((sendQueue == nullptr || receiveQueue == nullptr) && a.qp_type != IBV_QPT_XRC_SEND &&
      a.qp_type != IBV_QPT_XRC_RECV)
    return throwArgument(env, "completion queue",
                         "a queue pair of this type needs a completion queue for sends and one for receives");
  a.send_cq = sendQueue == nullptr ? nullptr : sendQueue->cq;
  a.recv_cq = receiveQueue == nullptr ? nullptr : receiveQueue->cq;
  a.srq = shared == nullptr ? nullptr : shared->srq;
  auto* pair = createObject<VerbsQueuePair>(
      env, "ibv_create_qp", usesOf({domain, sendQueue, receiveQueue, shared, xrcDomain}), [&](VerbsQueuePair* made) {
        a.qp_context = static_cast<VerbsObject*>(made);
        made->qp = create(made, domain, xrcDomain, &a, options.data);
        return errnoOf(made->qp);
      });
  return pair == nullptr ? nullptr : describe(env, pair, a.cap);
}

static napi_value OpenQueuePair(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* domain = handleOf<VerbsDomain>(arguments, 0);
  auto* xrcDomain = handleOf<VerbsXrcDomain>(arguments, 1);
  const auto number = static_cast<uint32_t>(arguments.integer(2, "number", 0, 0xffffff));
  if (!arguments.ok()) return nullptr;
  auto* pair = createObject<VerbsQueuePair>(env, "ibv_open_qp", {domain, xrcDomain}, [&](VerbsQueuePair* made) {
    struct ibv_qp_open_attr a = {};
    a.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_CONTEXT | IBV_QP_OPEN_ATTR_TYPE;
    a.qp_num = number;
    a.xrcd = xrcDomain->xrcd;
    a.qp_context = static_cast<VerbsObject*>(made);
    a.qp_type = IBV_QPT_XRC_RECV;
    made->qp = ibv_open_qp(domain->pd->context, &a);
    return errnoOf(made->qp);
  });
  return pair == nullptr ? nullptr : describe(env, pair, {});
}

static napi_value ModifyQueuePair(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* pair = handleOf<VerbsQueuePair>(arguments, 0);
  const auto mask = static_cast<unsigned>(arguments.integer(1, "mask", 0, INT32_MAX));
  const Doubles words = doublesOf(arguments, 2, "attributes", kAttributeWords);
  if (!arguments.ok()) return nullptr;
  struct ibv_qp_attr a = {};
  if (!takeAttributes(words.data, mask, &a)) return makeNumber(env, EINVAL);
  // One of the asynchronous form ends first, whatever it brings; its promise is rejected then.
  if (pair->job != nullptr) pair->job->detach();
  errno = 0;
  const int error = errnoOf(ibv_modify_qp(pair->qp, &a, static_cast<int>(mask)));
  if (error == 0 && (mask & IBV_QP_STATE) != 0 && a.qp_state == IBV_QPS_RESET) pair->bytesPerSecond = 0;
  return makeNumber(env, error);
}

// adoptTcpStream(pair, descriptor, isCaller, crc, ird, ord, ready, reply): of the tcp provider's devices. Returns 0 or
// an errno.
static napi_value AdoptTcpStream(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* pair = handleOf<VerbsQueuePair>(arguments, 0);
  const int descriptor = arguments.descriptor(1, "descriptor");
  tcp::Adoption adoption;
  adoption.isCaller = arguments.boolean(2, "isCaller");
  adoption.crc = arguments.boolean(3, "crc");
  adoption.ird = static_cast<uint16_t>(arguments.integer(4, "ird", 0, UINT16_MAX));
  adoption.ord = static_cast<uint16_t>(arguments.integer(5, "ord", 0, UINT16_MAX));
  adoption.ready = static_cast<tcp::Adoption::Ready>(arguments.integer(6, "ready", 0, 3));
  const Bytes reply = arguments.bytes(7, "reply");
  if (!arguments.ok()) return nullptr;
  adoption.reply = reply.data;
  adoption.replyBytes = reply.length;
  if (!tcp::isOurs(pair->qp->context)) return makeNumber(env, EOPNOTSUPP);
  return makeNumber(env, tcp::adoptStream(pair->qp, descriptor, adoption));
}

// Devices count in kilobits.
static int limitRate(struct ibv_qp* qp, double bytesPerSecond) {
  if (tcp::isOurs(qp->context)) return tcp::setRateLimit(qp, static_cast<uint64_t>(bytesPerSecond));
  const double kilobits = std::ceil(bytesPerSecond * 8 / 1000);
  if (kilobits > UINT32_MAX) return EINVAL;
  struct ibv_qp_rate_limit_attr a = {};
  a.rate_limit = static_cast<uint32_t>(kilobits);
  return errnoOf(ibv_modify_qp_rate_limit(qp, &a));
}

// setRateLimit(pair, bytesPerSecond): 0 for no limit. Returns 0 or an errno.
static napi_value SetRateLimit(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* pair = handleOf<VerbsQueuePair>(arguments, 0);
  const auto bytesPerSecond = static_cast<double>(arguments.integer(1, "bytesPerSecond", 0, INT64_C(1) << 53));
  if (!arguments.ok()) return nullptr;
  errno = 0;
  const int error = limitRate(pair->qp, bytesPerSecond);
  if (error == 0) pair->bytesPerSecond = bytesPerSecond;
  return makeNumber(env, error);
}

// queryRateLimit(pair): 0 for no limit. A library does not tell it, so there it is the last that was set.
static napi_value QueryRateLimit(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* pair = handleOf<VerbsQueuePair>(arguments, 0);
  if (!arguments.ok()) return nullptr;
  const bool isOurs = tcp::isOurs(pair->qp->context);
  return makeNumber(env, isOurs ? static_cast<double>(tcp::rateLimit(pair->qp)) : pair->bytesPerSecond);
}

// On the way to RTR the kernel may have to ask the network who has the address.
class Modifying : public VerbsJob {
 public:
  Modifying(struct ibv_qp* qp, const struct ibv_qp_attr& attributes, unsigned mask)
      : qp_(qp), attributes_(attributes), mask_(static_cast<int>(mask)) {
    failed = "ibv_modify_qp";
  }

 protected:
  int run() override { return errnoOf(ibv_modify_qp(qp_, &attributes_, mask_)); }

 private:
  struct ibv_qp* qp_;
  struct ibv_qp_attr attributes_;
  const int mask_;
};

static napi_value ModifyQueuePairAsync(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* pair = handleOf<VerbsQueuePair>(arguments, 0);
  const auto mask = static_cast<unsigned>(arguments.integer(1, "mask", 0, INT32_MAX));
  const Doubles words = doublesOf(arguments, 2, "attributes", kAttributeWords);
  if (!arguments.ok()) return nullptr;
  struct ibv_qp_attr a = {};
  if (!takeAttributes(words.data, mask, &a)) return throwSystem(env, "ibv_modify_qp", EINVAL);
  if (pair->job != nullptr) return throwSystem(env, "ibv_modify_qp", EBUSY);
  return VerbsJob::begin(env, pair, std::make_unique<Modifying>(pair->qp, a, mask));
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
  define(env, exports, "openQueuePair", OpenQueuePair);
  define(env, exports, "modifyQueuePair", ModifyQueuePair);
  define(env, exports, "adoptTcpStream", AdoptTcpStream);
  define(env, exports, "setRateLimit", SetRateLimit);
  define(env, exports, "queryRateLimit", QueryRateLimit);
  define(env, exports, "modifyQueuePairAsync", ModifyQueuePairAsync);
  define(env, exports, "queryQueuePair", QueryQueuePair);
}

}  // namespace aether
