// Connecting, accepting, rejecting, disconnecting, multicast groups.
#include <cerrno>

#include "rdmacm-address.h"
#include "rdmacm-identifiers.h"
#include "verbs-attributes.h"

namespace aether {

// What connect and accept say of this end. The private data is copied by the call that it is handed to.
static bool parametersOf(Arguments& arguments, size_t index, struct rdma_conn_param* p) {
  const Doubles words = doublesOf(arguments, index, "parameters", kParameterWords);
  const Bytes data = arguments.bytes(index + 1, "privateData");
  if (!arguments.ok()) return false;
  bool ok = data.length <= UINT8_MAX;
  const auto byte = [&](size_t word, double most) {
    return static_cast<uint8_t>(wholeNumber(words.data[word], most, &ok));
  };
  p->private_data = data.length == 0 ? nullptr : data.data;
  p->private_data_len = static_cast<uint8_t>(data.length);
  p->responder_resources = byte(kResponderResources, UINT8_MAX);
  p->initiator_depth = byte(kInitiatorDepth, UINT8_MAX);
  p->flow_control = byte(kFlowControl, 1);
  p->retry_count = byte(kRetryCountParameter, 7);
  p->rnr_retry_count = byte(kRnrRetryCount, 7);
  p->srq = byte(kSharedReceive, 1);
  p->qp_num = static_cast<uint32_t>(wholeNumber(words.data[kQueuePairNumber], 0xffffff, &ok));
  if (!ok) arguments.fail("parameters", "a parameter of the connection is not in the range of its field");
  return ok;
}

static napi_value withParameters(napi_env env, napi_callback_info info, const char* name,
                                 int (*call)(struct rdma_cm_id*, struct rdma_conn_param*)) {
  Arguments arguments(env, info);
  struct rdma_cm_id* id = identifierOf(arguments, 0);
  struct rdma_conn_param parameters = {};
  if (!arguments.ok() || !parametersOf(arguments, 1, &parameters)) return nullptr;
  if (call(id, &parameters) != 0) return throwSystem(env, name, errno);
  return makeUndefined(env);
}

static napi_value Connect(napi_env env, napi_callback_info info) {
  return withParameters(env, info, "rdma_connect", rdma_connect);
}

static napi_value Accept(napi_env env, napi_callback_info info) {
  return withParameters(env, info, "rdma_accept", rdma_accept);
}

static napi_value Reject(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  struct rdma_cm_id* id = identifierOf(arguments, 0);
  const Bytes data = arguments.bytes(1, "privateData");
  if (arguments.ok() && data.length > UINT8_MAX) arguments.fail("privateData", "private data has at most 255 bytes");
  if (!arguments.ok()) return nullptr;
  if (rdma_reject(id, data.length == 0 ? nullptr : data.data, static_cast<uint8_t>(data.length)) != 0)
    return throwSystem(env, "rdma_reject", errno);
  return makeUndefined(env);
}

static napi_value simple(napi_env env, napi_callback_info info, const char* name, int (*call)(struct rdma_cm_id*)) {
  Arguments arguments(env, info);
  struct rdma_cm_id* id = identifierOf(arguments, 0);
  if (!arguments.ok()) return nullptr;
  if (call(id) != 0) return throwSystem(env, name, errno);
  return makeUndefined(env);
}

static napi_value Establish(napi_env env, napi_callback_info info) {
  return simple(env, info, "rdma_establish", rdma_establish);
}

static napi_value Disconnect(napi_env env, napi_callback_info info) {
  return simple(env, info, "rdma_disconnect", rdma_disconnect);
}

// Writes the attributes that lead a queue pair to `state`, and returns their mask.
static napi_value QueuePairAttributes(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  struct rdma_cm_id* id = identifierOf(arguments, 0);
  const auto state = static_cast<int>(arguments.integer(1, "state", IBV_QPS_RESET, IBV_QPS_ERR));
  const Doubles words = doublesOf(arguments, 2, "attributes", kAttributeWords);
  if (!arguments.ok()) return nullptr;
  struct ibv_qp_attr attributes = {};
  int mask = 0;
  attributes.qp_state = static_cast<enum ibv_qp_state>(state);
  if (rdma_init_qp_attr(id, &attributes, &mask) != 0) return throwSystem(env, "rdma_init_qp_attr", errno);
  putAttributes(attributes, words.data);
  return makeNumber(env, mask);
}

static napi_value JoinMulticast(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  struct rdma_cm_id* id = identifierOf(arguments, 0);
  SocketAddress group;
  if (!addressOf(arguments, 1, "group", &group)) return nullptr;
  if (rdma_join_multicast(id, group.get(), nullptr) != 0) return throwSystem(env, "rdma_join_multicast", errno);
  return makeUndefined(env);
}

static napi_value LeaveMulticast(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  struct rdma_cm_id* id = identifierOf(arguments, 0);
  SocketAddress group;
  if (!addressOf(arguments, 1, "group", &group)) return nullptr;
  if (rdma_leave_multicast(id, group.get()) != 0) return throwSystem(env, "rdma_leave_multicast", errno);
  return makeUndefined(env);
}

void registerRdmacmConnecting(napi_env env, napi_value exports) {
  define(env, exports, "connect", Connect);
  define(env, exports, "accept", Accept);
  define(env, exports, "reject", Reject);
  define(env, exports, "establish", Establish);
  define(env, exports, "disconnect", Disconnect);
  define(env, exports, "queuePairAttributes", QueuePairAttributes);
  define(env, exports, "joinMulticast", JoinMulticast);
  define(env, exports, "leaveMulticast", LeaveMulticast);
}

}  // namespace aether
