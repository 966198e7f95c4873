// The connection identifiers of one JavaScript environment: one event channel, and numbers (tokens) by which JavaScript
// names identifiers. A token is never used twice, so one of an identifier that was destroyed is an error and never
// another identifier.
#pragma once
#include <rdma/rdma_cma.h>

#include <map>

#include "verbs-attributes.h"
#include "verbs-objects.h"

namespace aether {

class RdmacmTable {
 public:
  static RdmacmTable* of(napi_env env);
  ~RdmacmTable();

  // 0 or an errno. The descriptor of the channel does not block.
  int open();
  struct rdma_event_channel* channel() const {
    return channel_;
  }

  // Takes an identifier; it knows its token as its context.
  double add(struct rdma_cm_id* id);
  struct rdma_cm_id* find(double token) const;
  void destroy(double token);

 private:
  struct rdma_event_channel* channel_ = nullptr;
  std::map<uint32_t, struct rdma_cm_id*> identifiers_;
  uint32_t next_ = 1;
};

inline double tokenOf(const struct rdma_cm_id* id) {
  return static_cast<double>(reinterpret_cast<uintptr_t>(id->context));
}

// The live identifier that an argument names; leaves an exception pending where there is none.
struct rdma_cm_id* identifierOf(Arguments& arguments, size_t index);

// Words of what an end says of itself (struct rdma_conn_param, struct rdma_ud_param); src/native/rdmacm-addon.ts names
// the same numbers.
enum ParameterWord : size_t {
  kResponderResources,
  kInitiatorDepth,
  kFlowControl,
  kRetryCountParameter,
  kRnrRetryCount,
  kSharedReceive,
  kQueuePairNumber,
  kQueueKeyParameter,
  kParameterVector,
  kParameterWords = kParameterVector + kVectorWords,
};

enum EventWord : size_t {
  kEventType,
  kEventStatus,
  kEventIdentifier,
  kEventRequest,  // the identifier that the event brought, or 0
  kEventDataBytes,
  kEventParameters,
  kEventWords = kEventParameters + kParameterWords,
};

std::string loadRdmacmLibrary();

void registerRdmacmLibrary(napi_env env, napi_value exports);
void registerRdmacmIdentifiers(napi_env env, napi_value exports);
void registerRdmacmConnecting(napi_env env, napi_value exports);
void registerRdmacmEvents(napi_env env, napi_value exports);

}  // namespace aether
