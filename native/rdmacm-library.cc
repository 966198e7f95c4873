// librdmacm, opened when it is first needed: see verbs-library.cc, which does the same for libibverbs.
#include <dlfcn.h>

#include <mutex>

#include "rdmacm-identifiers.h"

#define FORWARD(result, name, parameters, arguments) \
  static result(*name##_at) parameters;              \
  extern "C" result name parameters {                \
    return name##_at arguments;                      \
  }

FORWARD(struct rdma_event_channel*, rdma_create_event_channel, (void), ())
FORWARD(void, rdma_destroy_event_channel, (struct rdma_event_channel * channel), (channel))
FORWARD(int, rdma_create_id,
        (struct rdma_event_channel * channel, struct rdma_cm_id** id, void* context, enum rdma_port_space space),
        (channel, id, context, space))
FORWARD(int, rdma_destroy_id, (struct rdma_cm_id * id), (id))
FORWARD(int, rdma_bind_addr, (struct rdma_cm_id * id, struct sockaddr* address), (id, address))
FORWARD(int, rdma_resolve_addr,
        (struct rdma_cm_id * id, struct sockaddr* source, struct sockaddr* destination, int timeoutMs),
        (id, source, destination, timeoutMs))
FORWARD(int, rdma_resolve_route, (struct rdma_cm_id * id, int timeoutMs), (id, timeoutMs))
FORWARD(int, rdma_connect, (struct rdma_cm_id * id, struct rdma_conn_param* parameters), (id, parameters))
FORWARD(int, rdma_establish, (struct rdma_cm_id * id), (id))
FORWARD(int, rdma_listen, (struct rdma_cm_id * id, int backlog), (id, backlog))
FORWARD(int, rdma_accept, (struct rdma_cm_id * id, struct rdma_conn_param* parameters), (id, parameters))
FORWARD(int, rdma_reject, (struct rdma_cm_id * id, const void* data, uint8_t length), (id, data, length))
FORWARD(int, rdma_disconnect, (struct rdma_cm_id * id), (id))
FORWARD(int, rdma_join_multicast, (struct rdma_cm_id * id, struct sockaddr* address, void* context),
        (id, address, context))
FORWARD(int, rdma_leave_multicast, (struct rdma_cm_id * id, struct sockaddr* address), (id, address))
FORWARD(int, rdma_get_cm_event, (struct rdma_event_channel * channel, struct rdma_cm_event** event), (channel, event))
FORWARD(int, rdma_ack_cm_event, (struct rdma_cm_event * event), (event))
FORWARD(int, rdma_init_qp_attr, (struct rdma_cm_id * id, struct ibv_qp_attr* attributes, int* mask),
        (id, attributes, mask))

namespace aether {

namespace {

struct Symbol {
  const char* name;
  void** target;
};

#define SYMBOL(name) \
  { #name, reinterpret_cast < void**>(&name##_at) }

const Symbol symbols[] = {
    SYMBOL(rdma_create_event_channel),
    SYMBOL(rdma_destroy_event_channel),
    SYMBOL(rdma_create_id),
    SYMBOL(rdma_destroy_id),
    SYMBOL(rdma_bind_addr),
    SYMBOL(rdma_resolve_addr),
    SYMBOL(rdma_resolve_route),
    SYMBOL(rdma_connect),
    SYMBOL(rdma_establish),
    SYMBOL(rdma_listen),
    SYMBOL(rdma_accept),
    SYMBOL(rdma_reject),
    SYMBOL(rdma_disconnect),
    SYMBOL(rdma_join_multicast),
    SYMBOL(rdma_leave_multicast),
    SYMBOL(rdma_get_cm_event),
    SYMBOL(rdma_ack_cm_event),
    SYMBOL(rdma_init_qp_attr),
};

std::string load() {
  // Its names of devices come from libibverbs, which it opens by itself.
  const std::string reason = loadVerbsLibrary();
  if (!reason.empty()) return reason;
  void* library = dlopen("librdmacm.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return dlerror();
  for (const Symbol& symbol : symbols) {
    *symbol.target = dlsym(library, symbol.name);
    if (*symbol.target == nullptr) return std::string("librdmacm.so.1 has no function ") + symbol.name;
  }
  return "";
}

}  // namespace

std::string loadRdmacmLibrary() {
  static std::once_flag once;
  static std::string reason;
  std::call_once(once, [] { reason = load(); });
  return reason;
}

static napi_value Load(napi_env env, napi_callback_info) {
  const std::string reason = loadRdmacmLibrary();
  napi_value text = nullptr;
  napi_create_string_utf8(env, reason.c_str(), reason.size(), &text);
  return text;
}

static napi_value Layout(napi_env env, napi_callback_info) {
  return describeNumbers(env, {
                                  {"parameter.responderResources", kResponderResources},
                                  {"parameter.initiatorDepth", kInitiatorDepth},
                                  {"parameter.flowControl", kFlowControl},
                                  {"parameter.retryCount", kRetryCountParameter},
                                  {"parameter.rnrRetryCount", kRnrRetryCount},
                                  {"parameter.sharedReceive", kSharedReceive},
                                  {"parameter.queuePairNumber", kQueuePairNumber},
                                  {"parameter.queueKey", kQueueKeyParameter},
                                  {"parameter.addressVector", kParameterVector},
                                  {"parameterWords", kParameterWords},
                                  {"event.type", kEventType},
                                  {"event.status", kEventStatus},
                                  {"event.identifier", kEventIdentifier},
                                  {"event.request", kEventRequest},
                                  {"event.dataBytes", kEventDataBytes},
                                  {"event.parameters", kEventParameters},
                                  {"eventWords", kEventWords},
                                  {"type.connectRequest", RDMA_CM_EVENT_CONNECT_REQUEST},
                                  {"type.established", RDMA_CM_EVENT_ESTABLISHED},
                                  {"type.timewaitExit", RDMA_CM_EVENT_TIMEWAIT_EXIT},
                              });
}

void registerRdmacmLibrary(napi_env env, napi_value exports) {
  define(env, exports, "load", Load);
  define(env, exports, "layout", Layout);
}

}  // namespace aether
