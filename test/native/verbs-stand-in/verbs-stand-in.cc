// A library that stands in for libibverbs in tests, on machines without any RDMA: it records what it is asked, hands
// out objects that hold nothing, and completes every signaled send at once with success. It is no device: nothing is
// moved.
//
// Two devices: standin0, an Ethernet port with a table of gids, and standin1, two InfiniBand ports with local
// identifiers 7 and 9.
#include <infiniband/verbs.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <map>
#include <string>

#include "recording.h"

#undef ibv_get_device_list
#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

struct ibv_device devices[2];

struct Channel {
  struct ibv_comp_channel channel;
  int writeEnd;
};

struct Queue {
  struct ibv_cq cq;
  std::deque<struct ibv_wc> rows;
  bool armed;
};

struct Pair {
  union {
    struct ibv_qp qp;
    struct ibv_qp_ex extended;
  };
  struct ibv_qp_attr attributes;
  struct ibv_qp_cap cap;
  int outstanding;
};

struct SharedQueue {
  struct ibv_srq srq;
  struct ibv_srq_attr attributes;
};

// What MLNX_OFED 4 puts in front of a context (AETHER_STAND_IN_EXPERIMENTAL): its last calls, in its order, and the
// length.
struct ExperimentalRegistration {
  struct ibv_pd* pd;
  void* address;
  size_t length;
  uint64_t access;
  uint32_t mask;
  uint32_t flags;
};
struct ExperimentalCalls {
  void (*driverRegister)();
  struct ibv_mr* (*registerMemory)(ExperimentalRegistration*);
  void (*createAddress)(), (*queryValues)(), (*createQueue)(), (*pollQueue)(), (*getLegacyXrc)(), (*setLegacyXrc)(),
      (*driverRegisterShared)();
  void (*registerShared)(), (*driverModifyPair)(), (*modifyPair)(), (*driverPostTask)(), (*postTask)(),
      (*driverModifyQueue)(), (*modifyQueue)();
  void (*driverDestroyFlow)(), (*destroyFlow)(), (*driverCreateFlow)(), (*createFlow)(), (*driverQueryPort)(),
      (*queryPort)();
  void (*createTarget)(), (*destroyTarget)(), (*queryTarget)(), (*driverQueryDevice)(), (*queryDevice)(),
      (*driverCreatePair)(), (*createPair)();
  size_t bytes;
};

struct Context {
  int asyncWriteEnd;
  ExperimentalCalls experimental;
  struct verbs_context verbs;
};
static_assert(offsetof(Context, verbs) == offsetof(Context, experimental) + sizeof(ExperimentalCalls),
              "the table lies directly in front");

struct DeviceMemory {
  struct ibv_dm dm;
  unsigned char* bytes;
};

std::atomic<uint32_t> nextNumber{0x100};

Context* contextOf(struct ibv_context* context) {
  return reinterpret_cast<Context*>(reinterpret_cast<char*>(context) - offsetof(Context, verbs) -
                                    offsetof(struct verbs_context, context));
}

std::string segmentsOf(const struct ibv_sge* list, int count) {
  std::string text = "[";
  for (int index = 0; index < count; index++) {
    char each[96];
    snprintf(each, sizeof each, "%s%#lx+%u:%#x", index == 0 ? "" : " ", static_cast<unsigned long>(list[index].addr),
             list[index].length, list[index].lkey);
    text += each;
  }
  return text + "]";
}

std::string bytesOf(const struct ibv_sge* list, int count) {
  std::string text;
  for (int index = 0; index < count; index++)
    for (uint32_t at = 0; at < list[index].length; at++) {
      char digits[3];
      snprintf(digits, sizeof digits, "%02x", reinterpret_cast<const unsigned char*>(list[index].addr)[at]);
      text += digits;
    }
  return text;
}

void raise(struct ibv_context* context, enum ibv_event_type type, void* element) {
  struct ibv_async_event event = {};
  event.event_type = type;
  event.element.qp = static_cast<struct ibv_qp*>(element);
  if (::write(contextOf(context)->asyncWriteEnd, &event, sizeof event) < 0) abort();
}

void push(Queue* queue, const struct ibv_wc& wc) {
  if (queue->rows.size() >= static_cast<size_t>(queue->cq.cqe)) {
    raise(queue->cq.context, IBV_EVENT_CQ_ERR, queue);
    return;
  }
  queue->rows.push_back(wc);
  if (!queue->armed || queue->cq.channel == nullptr) return;
  queue->armed = false;
  struct ibv_cq* cq = &queue->cq;
  if (::write(reinterpret_cast<Channel*>(queue->cq.channel)->writeEnd, &cq, sizeof cq) < 0) abort();
}

enum ibv_wc_opcode completionOf(enum ibv_wr_opcode opcode) {
  switch (opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return IBV_WC_RDMA_WRITE;
    case IBV_WR_RDMA_READ:
      return IBV_WC_RDMA_READ;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      return IBV_WC_COMP_SWAP;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return IBV_WC_FETCH_ADD;
    case IBV_WR_BIND_MW:
      return IBV_WC_BIND_MW;
    case IBV_WR_LOCAL_INV:
      return IBV_WC_LOCAL_INV;
    default:
      return IBV_WC_SEND;
  }
}

void recordSend(const struct ibv_send_wr& wr, enum ibv_qp_type type) {
#ifdef AETHER_STAND_IN_SILENT
  (void)wr;
  (void)type;
  return;
#endif
  record("wr id=%ld opcode=%d flags=%u segments=%s", static_cast<long>(wr.wr_id), wr.opcode, wr.send_flags,
         wr.opcode == IBV_WR_BIND_MW ? "" : segmentsOf(wr.sg_list, wr.num_sge).c_str());
  if (wr.send_flags & IBV_SEND_INLINE) record("  inline=%s", bytesOf(wr.sg_list, wr.num_sge).c_str());
  if (type == IBV_QPT_UD) record("  ud qpn=%#x qkey=%#x", wr.wr.ud.remote_qpn, wr.wr.ud.remote_qkey);
  if (type == IBV_QPT_XRC_SEND) record("  xrc srqn=%#x", wr.qp_type.xrc.remote_srqn);
  switch (wr.opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
    case IBV_WR_RDMA_READ:
      record("  rdma remote=%#lx rkey=%#x imm=%#x", static_cast<unsigned long>(wr.wr.rdma.remote_addr), wr.wr.rdma.rkey,
             be32toh(wr.imm_data));
      break;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      record("  atomic remote=%#lx rkey=%#x compareAdd=%#lx swap=%#lx",
             static_cast<unsigned long>(wr.wr.atomic.remote_addr), wr.wr.atomic.rkey,
             static_cast<unsigned long>(wr.wr.atomic.compare_add), static_cast<unsigned long>(wr.wr.atomic.swap));
      break;
    case IBV_WR_SEND_WITH_INV:
    case IBV_WR_LOCAL_INV:
      record("  invalidate rkey=%#x", wr.invalidate_rkey);
      break;
    case IBV_WR_SEND_WITH_IMM:
      record("  imm=%#x", be32toh(wr.imm_data));
      break;
    case IBV_WR_BIND_MW:
      record("  bind rkey=%#x addr=%#lx length=%lu access=%#x mr=%#x", wr.bind_mw.rkey,
             static_cast<unsigned long>(wr.bind_mw.bind_info.addr),
             static_cast<unsigned long>(wr.bind_mw.bind_info.length), wr.bind_mw.bind_info.mw_access_flags,
             wr.bind_mw.bind_info.mr->lkey);
      break;
    default:
      break;
  }
}

int postSend(struct ibv_qp* qp, struct ibv_send_wr* wr, struct ibv_send_wr** bad) {
  auto* pair = reinterpret_cast<Pair*>(qp);
  for (; wr != nullptr; wr = wr->next) {
    *bad = wr;
    if (pair->attributes.qp_state != IBV_QPS_RTS) return EINVAL;
    if (pair->outstanding >= static_cast<int>(pair->cap.max_send_wr)) return ENOMEM;
    FAULT_ERRNO("ibv_post_send")
    recordSend(*wr, qp->qp_type);
    // Whose slots are free again is not followed, so that there is no limit where that would matter.
#ifndef AETHER_STAND_IN_SILENT
    pair->outstanding++;
#endif
    if (!(wr->send_flags & IBV_SEND_SIGNALED)) continue;
    struct ibv_wc wc = {};
    wc.wr_id = wr->wr_id;
    wc.opcode = completionOf(wr->opcode);
    wc.qp_num = qp->qp_num;
    push(reinterpret_cast<Queue*>(qp->send_cq), wc);
  }
  return 0;
}

int postReceive(struct ibv_qp* qp, struct ibv_recv_wr* wr, struct ibv_recv_wr** bad) {
  for (; wr != nullptr; wr = wr->next) {
    *bad = wr;
    if (reinterpret_cast<Pair*>(qp)->attributes.qp_state == IBV_QPS_RESET) return EINVAL;
    FAULT_ERRNO("ibv_post_recv")
    record("receive id=%ld segments=%s", static_cast<long>(wr->wr_id), segmentsOf(wr->sg_list, wr->num_sge).c_str());
  }
  return 0;
}

int postSharedReceive(struct ibv_srq*, struct ibv_recv_wr* wr, struct ibv_recv_wr** bad) {
  for (; wr != nullptr; wr = wr->next) {
    *bad = wr;
    FAULT_ERRNO("ibv_post_srq_recv")
    record("shared receive id=%ld segments=%s", static_cast<long>(wr->wr_id),
           segmentsOf(wr->sg_list, wr->num_sge).c_str());
  }
  return 0;
}

int pollQueue(struct ibv_cq* cq, int count, struct ibv_wc* wc) {
  auto* queue = reinterpret_cast<Queue*>(cq);
  int taken = 0;
  for (; taken < count && !queue->rows.empty(); taken++) {
    wc[taken] = queue->rows.front();
    queue->rows.pop_front();
  }
  return taken;
}

int armQueue(struct ibv_cq* cq, int) {
  reinterpret_cast<Queue*>(cq)->armed = true;
  return 0;
}

struct ibv_mw* allocateWindow(struct ibv_pd* pd, enum ibv_mw_type type) {
  FAULT_NULL("ibv_alloc_mw")
  auto* mw = new struct ibv_mw();
  mw->context = pd->context;
  mw->pd = pd;
  mw->type = type;
  mw->rkey = nextNumber++ << 8;
  record("ibv_alloc_mw type=%d", type);
  return mw;
}

int bindWindow(struct ibv_qp*, struct ibv_mw* mw, struct ibv_mw_bind* bind) {
  FAULT_ERRNO("ibv_bind_mw")
  mw->rkey = (mw->rkey & ~0xffu) | ((mw->rkey + 1) & 0xff);
  record("ibv_bind_mw id=%ld length=%lu access=%#x", static_cast<long>(bind->wr_id),
         static_cast<unsigned long>(bind->bind_info.length), bind->bind_info.mw_access_flags);
  return 0;
}

int freeWindow(struct ibv_mw* mw) {
  delete mw;
  return 0;
}

struct ibv_srq* makeShared(struct ibv_context* context, void* user, const struct ibv_srq_attr& attributes) {
  auto* made = new SharedQueue();
  made->srq.context = context;
  made->srq.srq_context = user;
  made->attributes = attributes;
  return &made->srq;
}

struct ibv_srq* createSharedEx(struct ibv_context* context, struct ibv_srq_init_attr_ex* a) {
  FAULT_NULL("ibv_create_srq_ex")
  record("ibv_create_srq_ex type=%d mask=%#x maxRequests=%u", a->srq_type, a->comp_mask, a->attr.max_wr);
  return makeShared(context, a->srq_context, a->attr);
}

int sharedNumber(struct ibv_srq*, uint32_t* number) {
  *number = 0x5a;
  return 0;
}

struct ibv_xrcd* openXrc(struct ibv_context* context, struct ibv_xrcd_init_attr* a) {
  FAULT_NULL("ibv_open_xrcd")
  record("ibv_open_xrcd hasFile=%d flags=%#x", a->fd >= 0, a->oflags);
  auto* xrcd = new struct ibv_xrcd();
  xrcd->context = context;
  return xrcd;
}

int closeXrc(struct ibv_xrcd* xrcd) {
  delete xrcd;
  return 0;
}

struct ibv_td* allocateThread(struct ibv_context* context, struct ibv_td_init_attr*) {
  FAULT_NULL("ibv_alloc_td")
  auto* td = new struct ibv_td();
  td->context = context;
  record("ibv_alloc_td");
  return td;
}

int freeThread(struct ibv_td* td) {
  delete td;
  return 0;
}

struct ibv_pd* allocateParent(struct ibv_context* context, struct ibv_parent_domain_init_attr* a) {
  FAULT_NULL("ibv_alloc_parent_domain")
  record("ibv_alloc_parent_domain hasThread=%d", a->td != nullptr);
  auto* pd = new struct ibv_pd();
  pd->context = context;
  return pd;
}

int limitRate(struct ibv_qp*, struct ibv_qp_rate_limit_attr* a) {
  FAULT_ERRNO("ibv_modify_qp_rate_limit")
  record("ibv_modify_qp_rate_limit kilobits=%u burst=%u packet=%u", a->rate_limit, a->max_burst_sz, a->typical_pkt_sz);
  return 0;
}

int copyTo(struct ibv_dm* dm, uint64_t offset, const void* from, size_t length) {
  memcpy(reinterpret_cast<DeviceMemory*>(dm)->bytes + offset, from, length);
  return 0;
}

int copyFrom(void* to, struct ibv_dm* dm, uint64_t offset, size_t length) {
  memcpy(to, reinterpret_cast<DeviceMemory*>(dm)->bytes + offset, length);
  return 0;
}

struct ibv_dm* allocateDevice(struct ibv_context* context, struct ibv_alloc_dm_attr* a) {
  FAULT_NULL("ibv_alloc_dm")
  if (a->length > 1 << 20) {
    errno = ENOMEM;
    return nullptr;
  }
  record("ibv_alloc_dm length=%zu alignment=%u", a->length, a->log_align_req);
  auto* memory = new DeviceMemory();
  memory->dm.context = context;
  memory->dm.memcpy_to_dm = copyTo;
  memory->dm.memcpy_from_dm = copyFrom;
  memory->bytes = new unsigned char[a->length]();
  return &memory->dm;
}

int freeDevice(struct ibv_dm* dm) {
  auto* memory = reinterpret_cast<DeviceMemory*>(dm);
  delete[] memory->bytes;
  delete memory;
  return 0;
}

struct ibv_mr* makeMemory(struct ibv_pd* pd, void* address, size_t length) {
  auto* mr = new struct ibv_mr();
  mr->context = pd->context;
  mr->pd = pd;
  mr->addr = address;
  mr->length = length;
  mr->lkey = nextNumber++;
  mr->rkey = mr->lkey | 0x10000;
  return mr;
}

struct ibv_mr* registerExperimental(ExperimentalRegistration* in) {
  FAULT_NULL("ibv_exp_reg_mr")
  record("ibv_exp_reg_mr address=%p length=%zu access=%#lx mask=%#x", in->address, in->length,
         static_cast<unsigned long>(in->access), in->mask);
  return makeMemory(in->pd, nullptr, 0);
}

struct ibv_mr* registerDevice(struct ibv_pd* pd, struct ibv_dm*, uint64_t offset, size_t length, unsigned access) {
  FAULT_NULL("ibv_reg_dm_mr")
  record("ibv_reg_dm_mr offset=%lu length=%zu access=%#x", static_cast<unsigned long>(offset), length, access);
  return makeMemory(pd, nullptr, length);
}

int advise(struct ibv_pd*, enum ibv_advise_mr_advice advice, uint32_t flags, struct ibv_sge* list, uint32_t count) {
  FAULT_ERRNO("ibv_advise_mr")
  record("ibv_advise_mr advice=%d flags=%u ranges=%s", advice, flags,
         segmentsOf(list, static_cast<int>(count)).c_str());
  return 0;
}

struct ibv_qp* makePair(struct ibv_context* context, void* user, enum ibv_qp_type type, struct ibv_cq* send,
                        struct ibv_cq* receive, const struct ibv_qp_cap& cap) {
  auto* pair = new Pair();
  pair->qp.context = context;
  pair->qp.qp_context = user;
  pair->qp.qp_type = type;
  pair->qp.send_cq = send;
  pair->qp.recv_cq = receive;
  pair->qp.qp_num = nextNumber++;
  pair->cap = cap;
  return &pair->qp;
}

struct ibv_qp* createPairEx(struct ibv_context* context, struct ibv_qp_init_attr_ex* a) {
  FAULT_NULL("ibv_create_qp_ex")
  record("ibv_create_qp_ex type=%d mask=%#x", a->qp_type, a->comp_mask);
  return makePair(context, a->qp_context, a->qp_type, a->send_cq, a->recv_cq, a->cap);
}

struct ibv_qp* openPair(struct ibv_context* context, struct ibv_qp_open_attr* a) {
  FAULT_NULL("ibv_open_qp")
  record("ibv_open_qp number=%#x mask=%#x type=%d", a->qp_num, a->comp_mask, a->qp_type);
  return makePair(context, a->qp_context, a->qp_type, nullptr, nullptr, {});
}

int queryDeviceEx(struct ibv_context* context, const struct ibv_query_device_ex_input*, struct ibv_device_attr_ex* a,
                  size_t size) {
  FAULT_ERRNO("ibv_query_device_ex")
  memset(a, 0, size);
  a->max_dm_size = 1 << 20;
  return ibv_query_device(context, &a->orig_attr);
}

bool isInfiniBand(struct ibv_context* context) {
  return context->device == &devices[1];
}

int portsOf(struct ibv_context* context) {
  return isInfiniBand(context) ? 2 : 1;
}

// What fits into the send queue's elements of this device.
constexpr uint32_t kMostInlineBytes = 220;

int queryPort(struct ibv_context* context, uint8_t port, struct ibv_port_attr* a, size_t) {
  FAULT_ERRNO("ibv_query_port")
  if (port < 1 || port > portsOf(context)) return EINVAL;
  memset(a, 0, sizeof *a);
  a->state = IBV_PORT_ACTIVE;
  a->max_mtu = IBV_MTU_4096;
  a->active_mtu = IBV_MTU_1024;
  a->gid_tbl_len = 8;
  a->max_msg_sz = 1u << 30;
  a->pkey_tbl_len = 1;
  a->lid = isInfiniBand(context) ? 5 + 2 * port : 0;
  a->active_width = 2;
  a->active_speed = 32;
  a->phys_state = 5;
  a->link_layer = isInfiniBand(context) ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET;
  return 0;
}

struct GidRow {
  uint32_t index;
  enum ibv_gid_type type;
  uint64_t high;
  uint64_t low;
};

// Index 2 is empty. 5 is the one to be chosen for IPv4, 3 for IPv6.
const GidRow ethernetGids[] = {
    {0, IBV_GID_TYPE_ROCE_V1, 0xfe80000000000000, 0x5054000000000001},
    {1, IBV_GID_TYPE_ROCE_V2, 0xfe80000000000000, 0x5054000000000001},
    {3, IBV_GID_TYPE_ROCE_V2, 0xfd00000000000000, 0x1},
    {4, IBV_GID_TYPE_ROCE_V1, 0, 0xffff0a000001},
    {5, IBV_GID_TYPE_ROCE_V2, 0, 0xffff0a000001},
    {6, IBV_GID_TYPE_ROCE_V2, 0, 0xffffa9fe0001},
};
const GidRow infinibandGids[] = {{0, IBV_GID_TYPE_IB, 0xfe80000000000000, 0x2c90300000001},
                                 {0, IBV_GID_TYPE_IB, 0xfe80000000000000, 0x2c90300000002}};

}  // namespace

EXPORT struct ibv_device** ibv_get_device_list(int* count) {
  strcpy(devices[0].name, "standin0");
  strcpy(devices[1].name, "standin1");
  FAULT_NULL("ibv_get_device_list")
  *count = getenv("AETHER_STAND_IN_EMPTY") == nullptr ? 2 : 0;
  return new struct ibv_device* [3] { &devices[0], &devices[1], nullptr };
}

EXPORT void ibv_free_device_list(struct ibv_device** list) {
  delete[] list;
}
EXPORT const char* ibv_get_device_name(struct ibv_device* device) {
  return device->name;
}
EXPORT __be64 ibv_get_device_guid(struct ibv_device*) {
  return htobe64(0x5054000000000001);
}
EXPORT int ibv_fork_init() {
  record("ibv_fork_init");
  return 0;
}

EXPORT struct ibv_context* ibv_open_device(struct ibv_device* device) {
  FAULT_NULL("ibv_open_device")
  record("ibv_open_device %s", device->name);
  auto* made = new Context();
  int ends[2];
  if (pipe(ends) != 0) return nullptr;
  made->asyncWriteEnd = ends[1];
  struct verbs_context& v = made->verbs;
  v.sz = sizeof v;
  if (const char* bytes = getenv("AETHER_STAND_IN_EXPERIMENTAL")) {
    v._ABI_placeholder3 = 1ULL << 62;
    made->experimental.bytes = strcmp(bytes, "all") == 0 ? sizeof made->experimental : strtoul(bytes, nullptr, 10);
    made->experimental.registerMemory = registerExperimental;
  }
  v.query_port = queryPort;
  v.modify_qp_rate_limit = limitRate;
  v.advise_mr = advise;
  v.reg_dm_mr = registerDevice;
  v.alloc_dm = allocateDevice;
  v.free_dm = freeDevice;
  v.alloc_td = allocateThread;
  v.dealloc_td = freeThread;
  v.alloc_parent_domain = allocateParent;
  v.query_device_ex = queryDeviceEx;
  v.open_qp = openPair;
  v.create_qp_ex = createPairEx;
  v.get_srq_num = sharedNumber;
  v.create_srq_ex = createSharedEx;
  v.open_xrcd = openXrc;
  v.close_xrcd = closeXrc;
  struct ibv_context& c = v.context;
  c.device = device;
  c.async_fd = ends[0];
  c.num_comp_vectors = 2;
  c.abi_compat = __VERBS_ABI_IS_EXTENDED;
  c.ops.poll_cq = pollQueue;
  c.ops.req_notify_cq = armQueue;
  c.ops.post_send = postSend;
  c.ops.post_recv = postReceive;
  c.ops.post_srq_recv = postSharedReceive;
  c.ops.alloc_mw = allocateWindow;
  c.ops.bind_mw = bindWindow;
  c.ops.dealloc_mw = freeWindow;
  return &c;
}

EXPORT int ibv_close_device(struct ibv_context* context) {
  record("ibv_close_device");
  close(context->async_fd);
  close(contextOf(context)->asyncWriteEnd);
  delete contextOf(context);
  return 0;
}

EXPORT int ibv_query_device(struct ibv_context* context, struct ibv_device_attr* a) {
  memset(a, 0, sizeof *a);
  strcpy(a->fw_ver, "1.2.3");
  a->node_guid = htobe64(0x5054000000000001);
  a->max_mr_size = UINT64_MAX;
  a->max_qp = 64;
  a->max_qp_wr = 1024;
  a->max_sge = 16;
  a->max_cq = 64;
  a->max_cqe = 4096;
  a->max_mr = 64;
  a->max_pd = 64;
  a->max_qp_rd_atom = 16;
  a->max_qp_init_rd_atom = 8;
  a->atomic_cap = IBV_ATOMIC_HCA;
  a->max_mw = 64;
  a->max_srq = 64;
  a->max_srq_wr = 1024;
  a->max_srq_sge = 16;
  a->phys_port_cnt = static_cast<uint8_t>(portsOf(context));
  return 0;
}

EXPORT int ibv_query_port(struct ibv_context*, uint8_t, struct _compat_ibv_port_attr*) {
  return ENOSYS;
}

EXPORT ssize_t _ibv_query_gid_table(struct ibv_context* context, struct ibv_gid_entry* entries, size_t most, uint32_t,
                                    size_t) {
  const GidRow* rows = isInfiniBand(context) ? infinibandGids : ethernetGids;
  const size_t count =
      isInfiniBand(context) ? sizeof infinibandGids / sizeof *rows : sizeof ethernetGids / sizeof *rows;
  for (size_t index = 0; index < count && index < most; index++) {
    entries[index] = {};
    entries[index].gid_index = rows[index].index;
    entries[index].port_num = isInfiniBand(context) ? static_cast<uint32_t>(index) + 1 : 1;
    entries[index].gid_type = rows[index].type;
    entries[index].gid.global.subnet_prefix = htobe64(rows[index].high);
    entries[index].gid.global.interface_id = htobe64(rows[index].low);
  }
  return static_cast<ssize_t>(count);
}

EXPORT int ibv_query_gid(struct ibv_context*, uint8_t, int, union ibv_gid*) {
  return EINVAL;
}
EXPORT int ibv_query_pkey(struct ibv_context*, uint8_t, int, __be16*) {
  return EINVAL;
}

EXPORT struct ibv_pd* ibv_alloc_pd(struct ibv_context* context) {
  FAULT_NULL("ibv_alloc_pd")
  auto* pd = new struct ibv_pd();
  pd->context = context;
  return pd;
}

EXPORT int ibv_dealloc_pd(struct ibv_pd* pd) {
  FAULT_ERRNO("ibv_dealloc_pd")
  delete pd;
  return 0;
}

EXPORT struct ibv_mr* ibv_reg_mr(struct ibv_pd* pd, void* address, size_t length, int access) {
  holdHere("ibv_reg_mr");
  FAULT_NULL("ibv_reg_mr")
  record("ibv_reg_mr length=%zu access=%#x aligned=%d", length, access,
         reinterpret_cast<uintptr_t>(address) % 4096 == 0);
  return makeMemory(pd, address, length);
}

EXPORT struct ibv_mr* ibv_reg_mr_iova2(struct ibv_pd* pd, void* address, size_t length, uint64_t, unsigned access) {
  return ibv_reg_mr(pd, address, length, static_cast<int>(access));
}

EXPORT int ibv_rereg_mr(struct ibv_mr* mr, int flags, struct ibv_pd* pd, void* address, size_t length, int access) {
  if (const int fault = faultOf("ibv_rereg_mr")) {
    errno = fault;
    return IBV_REREG_MR_ERR_CMD;
  }
  record("ibv_rereg_mr flags=%#x hasDomain=%d hasAddress=%d length=%zu access=%#x", flags, pd != nullptr,
         address != nullptr, length, access);
  mr->lkey = nextNumber++;
  mr->rkey = mr->lkey | 0x10000;
  return 0;
}

EXPORT int ibv_dereg_mr(struct ibv_mr* mr) {
  FAULT_ERRNO("ibv_dereg_mr")
  record("ibv_dereg_mr");
  delete mr;
  return 0;
}

EXPORT struct ibv_comp_channel* ibv_create_comp_channel(struct ibv_context* context) {
  FAULT_NULL("ibv_create_comp_channel")
  auto* made = new Channel();
  int ends[2];
  if (pipe(ends) != 0) return nullptr;
  made->channel.context = context;
  made->channel.fd = ends[0];
  made->writeEnd = ends[1];
  return &made->channel;
}

EXPORT int ibv_destroy_comp_channel(struct ibv_comp_channel* channel) {
  close(channel->fd);
  close(reinterpret_cast<Channel*>(channel)->writeEnd);
  delete reinterpret_cast<Channel*>(channel);
  return 0;
}

EXPORT struct ibv_cq* ibv_create_cq(struct ibv_context* context, int depth, void* user,
                                    struct ibv_comp_channel* channel, int vector) {
  FAULT_NULL("ibv_create_cq")
  record("ibv_create_cq depth=%d vector=%d", depth, vector);
  auto* queue = new Queue();
  queue->cq.context = context;
  queue->cq.cq_context = user;
  queue->cq.channel = channel;
  queue->cq.cqe = depth;
  return &queue->cq;
}

EXPORT int ibv_resize_cq(struct ibv_cq* cq, int depth) {
  FAULT_ERRNO("ibv_resize_cq")
  cq->cqe = depth;
  return 0;
}

EXPORT int ibv_destroy_cq(struct ibv_cq* cq) {
  record("ibv_destroy_cq acknowledged=%u", cq->comp_events_completed);
  delete reinterpret_cast<Queue*>(cq);
  return 0;
}

EXPORT int ibv_get_cq_event(struct ibv_comp_channel* channel, struct ibv_cq** cq, void** user) {
  if (read(channel->fd, cq, sizeof *cq) != sizeof *cq) return -1;
  *user = (*cq)->cq_context;
  return 0;
}

EXPORT void ibv_ack_cq_events(struct ibv_cq* cq, unsigned count) {
  cq->comp_events_completed += count;
}

EXPORT int ibv_get_async_event(struct ibv_context* context, struct ibv_async_event* event) {
  return read(context->async_fd, event, sizeof *event) == sizeof *event ? 0 : -1;
}

EXPORT void ibv_ack_async_event(struct ibv_async_event* event) {
  record("ibv_ack_async_event type=%d", event->event_type);
}

EXPORT struct ibv_qp* ibv_create_qp(struct ibv_pd* pd, struct ibv_qp_init_attr* a) {
  FAULT_NULL("ibv_create_qp")
  record("ibv_create_qp type=%d send=%u receive=%u sendSegments=%u receiveSegments=%u inline=%u signalAll=%d shared=%d",
         a->qp_type, a->cap.max_send_wr, a->cap.max_recv_wr, a->cap.max_send_sge, a->cap.max_recv_sge,
         a->cap.max_inline_data, a->sq_sig_all, a->srq != nullptr);
  if (a->cap.max_inline_data > kMostInlineBytes) {
    errno = EINVAL;
    return nullptr;
  }
  return makePair(pd->context, a->qp_context, a->qp_type, a->send_cq, a->recv_cq, a->cap);
}

EXPORT int ibv_modify_qp(struct ibv_qp* qp, struct ibv_qp_attr* a, int mask) {
  record("ibv_modify_qp mask=%#x state=%d port=%d", mask, mask & IBV_QP_STATE ? a->qp_state : -1,
         mask & IBV_QP_PORT ? a->port_num : -1);
  if (mask & IBV_QP_AV)
    record("  vector global=%d lid=%u gid=%016lx%016lx sgid=%u hops=%u port=%u", a->ah_attr.is_global, a->ah_attr.dlid,
           static_cast<unsigned long>(be64toh(a->ah_attr.grh.dgid.global.subnet_prefix)),
           static_cast<unsigned long>(be64toh(a->ah_attr.grh.dgid.global.interface_id)), a->ah_attr.grh.sgid_index,
           a->ah_attr.grh.hop_limit, a->ah_attr.port_num);
  holdHere("ibv_modify_qp");
  FAULT_ERRNO("ibv_modify_qp")
  auto* pair = reinterpret_cast<Pair*>(qp);
  if (mask & IBV_QP_STATE) pair->attributes.qp_state = a->qp_state;
  if ((mask & IBV_QP_STATE) && a->qp_state == IBV_QPS_SQD) raise(qp->context, IBV_EVENT_SQ_DRAINED, qp);
  if (mask & IBV_QP_PATH_MTU) pair->attributes.path_mtu = a->path_mtu;
  return 0;
}

EXPORT int ibv_query_qp(struct ibv_qp* qp, struct ibv_qp_attr* a, int, struct ibv_qp_init_attr*) {
  FAULT_ERRNO("ibv_query_qp")
  *a = reinterpret_cast<Pair*>(qp)->attributes;
  return 0;
}

EXPORT int ibv_destroy_qp(struct ibv_qp* qp) {
  FAULT_ERRNO("ibv_destroy_qp")
  record("ibv_destroy_qp");
  delete reinterpret_cast<Pair*>(qp);
  return 0;
}

EXPORT struct ibv_srq* ibv_create_srq(struct ibv_pd* pd, struct ibv_srq_init_attr* a) {
  FAULT_NULL("ibv_create_srq")
  record("ibv_create_srq maxRequests=%u maxSegments=%u", a->attr.max_wr, a->attr.max_sge);
  return makeShared(pd->context, a->srq_context, a->attr);
}

EXPORT int ibv_modify_srq(struct ibv_srq* srq, struct ibv_srq_attr* a, int mask) {
  FAULT_ERRNO("ibv_modify_srq")
  record("ibv_modify_srq mask=%#x maxRequests=%u limit=%u", mask, a->max_wr, a->srq_limit);
  if (mask & IBV_SRQ_LIMIT) raise(srq->context, IBV_EVENT_SRQ_LIMIT_REACHED, srq);
  return 0;
}

EXPORT int ibv_query_srq(struct ibv_srq* srq, struct ibv_srq_attr* a) {
  FAULT_ERRNO("ibv_query_srq")
  *a = reinterpret_cast<SharedQueue*>(srq)->attributes;
  return 0;
}

EXPORT int ibv_destroy_srq(struct ibv_srq* srq) {
  delete reinterpret_cast<SharedQueue*>(srq);
  return 0;
}

EXPORT struct ibv_ah* ibv_create_ah(struct ibv_pd* pd, struct ibv_ah_attr* a) {
  FAULT_NULL("ibv_create_ah")
  record("ibv_create_ah global=%d lid=%u sgid=%u sl=%u", a->is_global, a->dlid, a->grh.sgid_index, a->sl);
  auto* ah = new struct ibv_ah();
  ah->context = pd->context;
  ah->pd = pd;
  return ah;
}

EXPORT int ibv_destroy_ah(struct ibv_ah* ah) {
  delete ah;
  return 0;
}

EXPORT int ibv_attach_mcast(struct ibv_qp*, const union ibv_gid* gid, uint16_t lid) {
  FAULT_ERRNO("ibv_attach_mcast")
  record("ibv_attach_mcast first=%#x lid=%u", gid->raw[0], lid);
  return 0;
}

EXPORT int ibv_detach_mcast(struct ibv_qp*, const union ibv_gid*, uint16_t) {
  FAULT_ERRNO("ibv_detach_mcast")
  return 0;
}
