// What only mlx5 devices have, by libmlx5's direct verbs: dynamically connected queue pairs, keys made of others,
// masked atomics. They are posted through the library's extended interface, which batches by itself: all requests of a
// call are taken, or none.
//
// Never run on hardware by us: tests see what the libraries would be asked, by stand-ins that record it.
#include <dlfcn.h>
#include <infiniband/mlx5dv.h>

#include <cerrno>
#include <cstring>
#include <mutex>

#include "verbs-objects.h"
#include "verbs-post.h"

#define FORWARD(result, name, parameters, arguments) \
  static result(*name##_at) parameters;              \
  extern "C" result name parameters {                \
    return name##_at arguments;                      \
  }

FORWARD(bool, mlx5dv_is_supported, (struct ibv_device * device), (device))
FORWARD(struct ibv_qp*, mlx5dv_create_qp,
        (struct ibv_context * context, struct ibv_qp_init_attr_ex* a, struct mlx5dv_qp_init_attr* m), (context, a, m))
FORWARD(struct mlx5dv_mkey*, mlx5dv_create_mkey, (struct mlx5dv_mkey_init_attr * a), (a))
FORWARD(int, mlx5dv_destroy_mkey, (struct mlx5dv_mkey * key), (key))
FORWARD(struct mlx5dv_qp_ex*, mlx5dv_qp_ex_from_ibv_qp_ex, (struct ibv_qp_ex * qp), (qp))
FORWARD(struct ibv_qp_ex*, ibv_qp_to_qp_ex, (struct ibv_qp * qp), (qp))

namespace aether {

struct VerbsIndirectKey : VerbsObject {
  static constexpr const char* kKind = "indirect key";
  struct mlx5dv_mkey* key = nullptr;
  int release() override { return errnoOf(mlx5dv_destroy_mkey(key)); }
};

namespace {

// Request slots of these opcodes; src/providers/encoded-request.ts.
constexpr size_t kIndirectKey = 12, kRepeatCount = 13, kPieceAccess = 15, kCompareMask = 12, kSwapMask = 13,
                 kAccessKey = 14;

std::string load() {
  void* mlx5 = dlopen("libmlx5.so.1", RTLD_NOW | RTLD_LOCAL);
  if (mlx5 == nullptr) return dlerror();
  void* verbs = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
  const struct {
    void* library;
    const char* name;
    void** target;
  } symbols[] = {
      {mlx5, "mlx5dv_is_supported", reinterpret_cast<void**>(&mlx5dv_is_supported_at)},
      {mlx5, "mlx5dv_create_qp", reinterpret_cast<void**>(&mlx5dv_create_qp_at)},
      {mlx5, "mlx5dv_create_mkey", reinterpret_cast<void**>(&mlx5dv_create_mkey_at)},
      {mlx5, "mlx5dv_destroy_mkey", reinterpret_cast<void**>(&mlx5dv_destroy_mkey_at)},
      {mlx5, "mlx5dv_qp_ex_from_ibv_qp_ex", reinterpret_cast<void**>(&mlx5dv_qp_ex_from_ibv_qp_ex_at)},
      {verbs, "ibv_qp_to_qp_ex", reinterpret_cast<void**>(&ibv_qp_to_qp_ex_at)},
  };
  for (const auto& symbol : symbols) {
    *symbol.target = symbol.library == nullptr ? nullptr : dlsym(symbol.library, symbol.name);
    if (*symbol.target == nullptr) return std::string("the library has no function ") + symbol.name;
  }
  return "";
}

const std::string& reason() {
  static std::once_flag once;
  static std::string text;
  std::call_once(once, [] { text = load(); });
  return text;
}

bool isMlx5(const VerbsDevice* device) {
  return reason().empty() && mlx5dv_is_supported(device->context->device);
}

// ---- queue pairs
// ---------------------------------------------------------------------------------------------------------------------

constexpr uint64_t kOperations = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND |
                                 IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |
                                 IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
constexpr uint64_t kConnectedOperations =
    kOperations | IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_SEND_WITH_INV;
constexpr uint64_t kMlx5Operations =
    MLX5DV_QP_EX_WITH_MR_LIST | MLX5DV_QP_EX_WITH_MR_INTERLEAVED | MLX5DV_QP_EX_WITH_RAW_WQE;

enum class Role { Connected, Initiator, Target };

struct ibv_qp* create(VerbsDomain* domain, const struct ibv_qp_init_attr& plain, Role role, uint64_t accessKey) {
  struct ibv_qp_init_attr_ex a = {};
  struct mlx5dv_qp_init_attr m = {};
  a.qp_context = plain.qp_context;
  a.send_cq = plain.send_cq;
  a.recv_cq = plain.recv_cq;
  a.srq = plain.srq;
  a.cap = plain.cap;
  a.sq_sig_all = plain.sq_sig_all;
  a.pd = domain->pd;
  a.comp_mask = IBV_QP_INIT_ATTR_PD;
  a.qp_type = role == Role::Connected ? IBV_QPT_RC : IBV_QPT_DRIVER;
  if (role != Role::Target) {
    a.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    a.send_ops_flags = role == Role::Connected ? kConnectedOperations : kOperations;
  }
  if (role == Role::Connected) {
    m.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS;
    m.send_ops_flags = kMlx5Operations;
  } else {
    m.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC;
    m.dc_init_attr.dc_type = role == Role::Target ? MLX5DV_DCTYPE_DCT : MLX5DV_DCTYPE_DCI;
    if (role == Role::Target) m.dc_init_attr.dct_access_key = accessKey;
  }
  return mlx5dv_create_qp(domain->pd->context, &a, &m);
}

// ---- posting
// ---------------------------------------------------------------------------------------------------------------------

// The operation modifier of 8-byte operands.
constexpr uint8_t kEightBytes = 0x08;

// The work queue element of a masked atomic, which has no verb: control, remote address, operands, and where the old
// value goes.
void postMasked(struct mlx5dv_qp_ex* mqp, uint32_t number, const struct ibv_send_wr& wr, const double* request) {
  const bool isSwap = request[kOpcode] == kMaskedCompareSwap;
  alignas(64) unsigned char element[128] = {};
  auto* control = reinterpret_cast<struct mlx5_wqe_ctrl_seg*>(element);
  auto* remote = reinterpret_cast<struct mlx5_wqe_raddr_seg*>(element + 16);
  remote->raddr = htobe64(wr.wr.atomic.remote_addr);
  remote->rkey = htobe32(wr.wr.atomic.rkey);
  uint64_t operands[4] = {};
  size_t count = 2;
  if (isSwap) {
    operands[0] = wr.wr.atomic.swap;
    operands[1] = wr.wr.atomic.compare_add;
    operands[2] = bitsOf(request, kSwapMask);
    operands[3] = bitsOf(request, kCompareMask);
    count = 4;
  } else {
    operands[0] = wr.wr.atomic.compare_add;
    operands[1] = bitsOf(request, kCompareMask);
  }
  auto* out = reinterpret_cast<uint64_t*>(element + 32);
  for (size_t index = 0; index < count; index++) out[index] = htobe64(operands[index]);
  auto* local = reinterpret_cast<struct mlx5_wqe_data_seg*>(element + 32 + 8 * count);
  mlx5dv_set_data_seg(local, wr.sg_list[0].length, wr.sg_list[0].lkey, wr.sg_list[0].addr);
  const auto sixteenths = static_cast<uint8_t>((32 + 8 * count + sizeof *local) / 16);
  uint8_t flags = 0;
  if (wr.send_flags & IBV_SEND_SIGNALED) flags |= MLX5_WQE_CTRL_CQ_UPDATE;
  if (wr.send_flags & IBV_SEND_FENCE) flags |= MLX5_WQE_CTRL_FENCE;
  mlx5dv_set_ctrl_seg(control, 0, isSwap ? MLX5_OPCODE_ATOMIC_MASKED_CS : MLX5_OPCODE_ATOMIC_MASKED_FA, kEightBytes,
                      number, flags, sixteenths, 0, 0);
  mlx5dv_wr_raw_wqe(mqp, element);
}

// Pieces are the segments; the bytes to skip of interleaved ones follow them, a slot each.
int postLayout(napi_env env, struct mlx5dv_qp_ex* mqp, const struct ibv_send_wr& wr, const double* request,
               size_t stride) {
  bool ok = true;
  auto* key = liveOf<VerbsIndirectKey>(env, request[kIndirectKey]);
  const auto access = static_cast<uint32_t>(wholeNumber(request[kPieceAccess], INT32_MAX, &ok));
  const auto repeat = static_cast<uint32_t>(wholeNumber(request[kRepeatCount], UINT32_MAX, &ok));
  const auto count = static_cast<uint16_t>(wr.num_sge);
  if (!ok || key == nullptr) return EINVAL;
  if (repeat == 0) {
    mlx5dv_wr_mr_list(mqp, key->key, access, count, wr.sg_list);
    return 0;
  }
  const size_t skips = kSegments + kSegmentSlots * count;
  if (skips + count > stride) return EINVAL;
  std::vector<struct mlx5dv_mr_interleaved> pieces(count);
  for (size_t index = 0; index < count; index++) {
    const struct ibv_sge& segment = wr.sg_list[index];
    const auto skip = static_cast<uint32_t>(wholeNumber(request[skips + index], UINT32_MAX, &ok));
    pieces[index] = {segment.addr, segment.length, skip, segment.lkey};
  }
  if (!ok) return EINVAL;
  mlx5dv_wr_mr_interleaved(mqp, key->key, access, repeat, count, pieces.data());
  return 0;
}

void setLocal(struct ibv_qp_ex* qp, const struct ibv_send_wr& wr, std::vector<struct ibv_data_buf>* buffers) {
  const auto count = static_cast<size_t>(wr.num_sge);
  if ((wr.send_flags & IBV_SEND_INLINE) == 0) {
    ibv_wr_set_sge_list(qp, count, wr.sg_list);
    return;
  }
  buffers->resize(count);
  for (size_t index = 0; index < count; index++)
    (*buffers)[index] = {reinterpret_cast<void*>(wr.sg_list[index].addr), wr.sg_list[index].length};
  ibv_wr_set_inline_data_list(qp, count, buffers->data());
}

// 0, or the errno with which the batch is refused.
int postOne(napi_env env, VerbsQueuePair* pair, struct ibv_qp_ex* qp, struct mlx5dv_qp_ex* mqp,
            const struct ibv_send_wr& wr, const double* request, size_t stride) {
  const double opcode = request[kOpcode];
  qp->wr_id = wr.wr_id;
  qp->wr_flags = wr.send_flags;
  // The driver copies the layout into the request, and insists on being told so.
  if (opcode == kConfigureIndirectKey) qp->wr_flags |= IBV_SEND_INLINE;
  if (opcode == kConfigureIndirectKey) return postLayout(env, mqp, wr, request, stride);
  if (opcode == kMaskedCompareSwap || opcode == kMaskedFetchAdd) {
    if (wr.num_sge != 1) return EINVAL;
    postMasked(mqp, pair->qp->qp_num, wr, request);
    return 0;
  }
  switch (wr.opcode) {
    case IBV_WR_RDMA_WRITE:
      ibv_wr_rdma_write(qp, wr.wr.rdma.rkey, wr.wr.rdma.remote_addr);
      break;
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      ibv_wr_rdma_write_imm(qp, wr.wr.rdma.rkey, wr.wr.rdma.remote_addr, wr.imm_data);
      break;
    case IBV_WR_RDMA_READ:
      ibv_wr_rdma_read(qp, wr.wr.rdma.rkey, wr.wr.rdma.remote_addr);
      break;
    case IBV_WR_SEND:
      ibv_wr_send(qp);
      break;
    case IBV_WR_SEND_WITH_IMM:
      ibv_wr_send_imm(qp, wr.imm_data);
      break;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      ibv_wr_atomic_cmp_swp(qp, wr.wr.atomic.rkey, wr.wr.atomic.remote_addr, wr.wr.atomic.compare_add,
                            wr.wr.atomic.swap);
      break;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      ibv_wr_atomic_fetch_add(qp, wr.wr.atomic.rkey, wr.wr.atomic.remote_addr, wr.wr.atomic.compare_add);
      break;
    default:
      return EOPNOTSUPP;
  }
  if (pair->isInitiator) {
    auto* handle = liveOf<VerbsAddressHandle>(env, request[kAddressHandle]);
    bool ok = true;
    const auto number = static_cast<uint32_t>(wholeNumber(request[kRemoteQueuePair], 0xffffff, &ok));
    if (handle == nullptr || !ok) return EINVAL;
    mlx5dv_wr_set_dc_addr(mqp, handle->ah, number, bitsOf(request, kAccessKey));
  }
  std::vector<struct ibv_data_buf> buffers;
  setLocal(qp, wr, &buffers);
  return 0;
}

}  // namespace

bool needsMlx5(const VerbsQueuePair* pair, double opcode) {
  return pair->extended && (pair->isInitiator || opcode == kConfigureIndirectKey || opcode == kMaskedCompareSwap ||
                            opcode == kMaskedFetchAdd);
}

int postByMlx5(napi_env env, VerbsQueuePair* pair, const double* slots, size_t count, size_t stride) {
  struct ibv_qp_ex* qp = ibv_qp_to_qp_ex(pair->qp);
  struct mlx5dv_qp_ex* mqp = mlx5dv_qp_ex_from_ibv_qp_ex(qp);
  ibv_wr_start(qp);
  for (size_t index = 0; index < count; index++) {
    if (const int error = postOne(env, pair, qp, mqp, pair->chain.sends[index], slots + index * stride, stride)) {
      ibv_wr_abort(qp);
      return error;
    }
  }
  return errnoOf(ibv_wr_complete(qp));
}

struct ibv_qp* createByMlx5(VerbsQueuePair* made, VerbsDomain* domain, const struct ibv_qp_init_attr& a, double type,
                            uint64_t accessKey) {
  if (!isMlx5(deviceOf(domain))) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  const Role role = type == kTypeDci ? Role::Initiator : type == kTypeDct ? Role::Target : Role::Connected;
  struct ibv_qp* qp = create(domain, a, role, accessKey);
  made->extended = qp != nullptr && role != Role::Target;
  made->isInitiator = role == Role::Initiator;
  return qp;
}

static napi_value CreateIndirectKey(napi_env env, napi_callback_info info) {
  Arguments arguments(env, info);
  auto* domain = handleOf<VerbsDomain>(arguments, 0);
  const auto pieces = static_cast<uint16_t>(arguments.integer(1, "maxPieces", 1, UINT16_MAX));
  if (!arguments.ok()) return nullptr;
  auto* key = createObject<VerbsIndirectKey>(env, "mlx5dv_create_mkey", {domain}, [&](VerbsIndirectKey* made) {
    if (!isMlx5(deviceOf(domain))) return EOPNOTSUPP;
    struct mlx5dv_mkey_init_attr a = {};
    a.pd = domain->pd;
    a.create_flags = MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT;
    a.max_entries = pieces;
    made->key = mlx5dv_create_mkey(&a);
    return errnoOf(made->key);
  });
  if (key == nullptr) return nullptr;
  return describeNumbers(env, {{"handle", key->token}, {"localKey", key->key->lkey}, {"remoteKey", key->key->rkey}});
}

void registerMlx5(napi_env env, napi_value exports) {
  define(env, exports, "createIndirectKey", CreateIndirectKey);
}

}  // namespace aether
