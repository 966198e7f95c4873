// Events of the channel, one by one, each acknowledged as soon as it is copied: an identifier whose events are not can
// never be destroyed.
#include <cerrno>
#include <cstring>

#include "rdmacm-identifiers.h"
#include "verbs-attributes.h"

namespace aether {

static void putConnection(const struct rdma_conn_param& p, double* words) {
  words[kResponderResources] = p.responder_resources;
  words[kInitiatorDepth] = p.initiator_depth;
  words[kFlowControl] = p.flow_control;
  words[kRetryCountParameter] = p.retry_count;
  words[kRnrRetryCount] = p.rnr_retry_count;
  words[kSharedReceive] = p.srq;
  words[kQueuePairNumber] = p.qp_num;
}

static void putDatagram(const struct rdma_ud_param& p, double* words) {
  words[kQueuePairNumber] = p.qp_num;
  words[kQueueKeyParameter] = p.qkey;
  struct ibv_qp_attr attributes = {};
  attributes.ah_attr = p.ah_attr;
  double all[kAttributeWords] = {};
  putAttributes(attributes, all);
  std::memcpy(words + kParameterVector, all + kPrimaryVector, kVectorWords * sizeof(double));
}

static size_t putData(const void* data, size_t length, const Bytes& out) {
  const size_t copied = data == nullptr ? 0 : length < out.length ? length : out.length;
  if (copied > 0) std::memcpy(out.data, data, copied);
  return copied;
}

static bool isMulticast(enum rdma_cm_event_type type) {
  return type == RDMA_CM_EVENT_MULTICAST_JOIN || type == RDMA_CM_EVENT_MULTICAST_ERROR;
}

// Which member of the event's union holds anything depends on the port space; events that bring nothing have it zeroed.
static void putEvent(const struct rdma_cm_event& event, double* words, const Bytes& data) {
  words[kEventType] = event.event;
  words[kEventStatus] = event.status;
  words[kEventIdentifier] = tokenOf(event.id);
  double* parameters = words + kEventParameters;
  if (event.id->ps == RDMA_PS_UDP || isMulticast(event.event)) {
    putDatagram(event.param.ud, parameters);
    words[kEventDataBytes] =
        static_cast<double>(putData(event.param.ud.private_data, event.param.ud.private_data_len, data));
  } else {
    putConnection(event.param.conn, parameters);
    words[kEventDataBytes] =
        static_cast<double>(putData(event.param.conn.private_data, event.param.conn.private_data_len, data));
  }
}

// True where there was one. Never blocks: the descriptor does not.
static napi_value NextEvent(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  const Doubles words = doublesOf(arguments, 0, "words", kEventWords);
  const Bytes data = arguments.bytes(1, "privateData");
  if (!arguments.ok()) return nullptr;
  RdmacmTable* table = RdmacmTable::of(env);
  struct rdma_cm_event* event = nullptr;
  if (table->channel() == nullptr) return makeBoolean(env, false);
  errno = 0;
  if (rdma_get_cm_event(table->channel(), &event) != 0) {
    if (errno == EAGAIN || errno == EINTR) return makeBoolean(env, false);
    return throwSystem(env, "rdma_get_cm_event", errno);
  }
  std::memset(words.data, 0, kEventWords * sizeof(double));
  // A request comes with an identifier of its own, which the library made with the listener's context.
  const bool isRequest = event->event == RDMA_CM_EVENT_CONNECT_REQUEST;
  if (isRequest) {
    const double listener = tokenOf(event->listen_id);
    const double request = table->add(event->id);
    putEvent(*event, words.data, data);
    words.data[kEventIdentifier] = listener;
    words.data[kEventRequest] = request;
  } else {
    putEvent(*event, words.data, data);
  }
  rdma_ack_cm_event(event);
  return makeBoolean(env, true);
}

void registerRdmacmEvents(napi_env env, napi_value exports) {
  define(env, exports, "nextEvent", NextEvent);
}

}  // namespace aether
