// The verbs of the tcp device, as verbs-library.cc calls them: the functions of <infiniband/verbs.h> by the same names
// in another spelling. What a context has as `ops` is not listed.
#pragma once
#include <infiniband/verbs.h>

#include <string>
#include <vector>

#include "tcp-wire.h"

namespace aether::tcp {

bool isOurs(const ibv_context* context);

// The devices: one for each interface that is up and has an address, and tcp0, the best of them.
std::vector<std::string> deviceNames();
// Null, and errno: ENODEV where there is no such device. Without a key only this machine's own processes connect. It
// listens at ports from the first to the last; 0 and 0 take any.
ibv_context* openDevice(const std::string& name, const MacKey* key, uint16_t firstPort, uint16_t lastPort);
int closeDevice(ibv_context* context);
int queryDevice(ibv_context* context, ibv_device_attr* attributes);
int queryPort(ibv_context* context, uint8_t port, ibv_port_attr* attributes);
int queryGid(ibv_context* context, uint8_t port, int index, ibv_gid* gid);
int getAsyncEvent(ibv_context* context, ibv_async_event* event);

ibv_pd* allocPd(ibv_context* context);
int deallocPd(ibv_pd* pd);
ibv_mr* regMr(ibv_pd* pd, void* address, size_t length, unsigned access);
int deregMr(ibv_mr* mr);
int reregMr(ibv_mr* mr, int flags, ibv_pd* pd, void* address, size_t length, int access);
ibv_mw* allocMw(ibv_pd* pd, ibv_mw_type type);
int deallocMw(ibv_mw* mw);
int bindMw(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* bind);

ibv_comp_channel* createCompChannel(ibv_context* context);
int destroyCompChannel(ibv_comp_channel* channel);
ibv_cq* createCq(ibv_context* context, int depth, void* user, ibv_comp_channel* channel, int vector);
int resizeCq(ibv_cq* cq, int depth);
int destroyCq(ibv_cq* cq);
int getCqEvent(ibv_comp_channel* channel, ibv_cq** cq, void** user);
int pollCq(ibv_cq* cq, int count, ibv_wc* wc);
int reqNotifyCq(ibv_cq* cq, int solicitedOnly);

ibv_srq* createSrq(ibv_pd* pd, ibv_srq_init_attr* attributes);
int modifySrq(ibv_srq* srq, ibv_srq_attr* attributes, int mask);
int querySrq(ibv_srq* srq, ibv_srq_attr* attributes);
int destroySrq(ibv_srq* srq);
int postSrqRecv(ibv_srq* srq, ibv_recv_wr* wr, ibv_recv_wr** bad);

ibv_qp* createQp(ibv_pd* pd, ibv_qp_init_attr* attributes);
int modifyQp(ibv_qp* qp, ibv_qp_attr* attributes, int mask);
int queryQp(ibv_qp* qp, ibv_qp_attr* attributes, int mask, ibv_qp_init_attr* initial);
int destroyQp(ibv_qp* qp);
// What MPA's handshake came to.
struct Adoption {
  bool isCaller = false;
  bool crc = false;
  uint16_t ird = 0, ord = 0;
  // What they agreed that the caller sends first.
  enum class Ready : uint8_t { None, Write, Read, Send } ready = Ready::None;
  const uint8_t* reply = nullptr;  // the responder's reply, which is sent first
  size_t replyBytes = 0;
};
// Leads a queue pair from INIT to RTS over a TCP connection with a peer that is no Aether. It takes a duplicate.
int adoptStream(ibv_qp* qp, int descriptor, const Adoption& adoption);
// The most bytes a second that it sends, in RTS; 0 for no limit. EOPNOTSUPP where it sends datagrams.
int setRateLimit(ibv_qp* qp, uint64_t bytesPerSecond);
uint64_t rateLimit(ibv_qp* qp);
int postSend(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad);
int postRecv(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad);

ibv_ah* createAh(ibv_pd* pd, ibv_ah_attr* attributes);
int destroyAh(ibv_ah* ah);

}  // namespace aether::tcp
