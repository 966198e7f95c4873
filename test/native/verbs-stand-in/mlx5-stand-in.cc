// The same for libmlx5's direct verbs and the extended interface by which they are posted: one translation unit with
// the other stand-in, under both names.
#include <infiniband/mlx5dv.h>

#include "verbs-stand-in.cc"

namespace {

// What is set between two posts of the extended interface is recorded as it is called.
void start(struct ibv_qp_ex*) {
  record("ibv_wr_start");
}
void stop(struct ibv_qp_ex*) {
  record("ibv_wr_abort");
}

int complete(struct ibv_qp_ex* qp) {
  FAULT_ERRNO("ibv_wr_complete")
  record("ibv_wr_complete");
  if ((qp->wr_flags & IBV_SEND_SIGNALED) == 0) return 0;
  struct ibv_wc wc = {};
  wc.wr_id = qp->wr_id;
  wc.qp_num = qp->qp_base.qp_num;
  wc.opcode = IBV_WC_DRIVER1;
  push(reinterpret_cast<Queue*>(qp->qp_base.send_cq), wc);
  return 0;
}

void write(struct ibv_qp_ex* qp, uint32_t key, uint64_t address) {
  record("ibv_wr_rdma_write id=%ld flags=%u rkey=%#x remote=%#lx", static_cast<long>(qp->wr_id), qp->wr_flags, key,
         static_cast<unsigned long>(address));
}

void setSegments(struct ibv_qp_ex*, size_t count, const struct ibv_sge* list) {
  record("  sge=%s", segmentsOf(list, static_cast<int>(count)).c_str());
}

void setTarget(struct mlx5dv_qp_ex*, struct ibv_ah*, uint32_t number, uint64_t key) {
  record("  dc target=%#x key=%#lx", number, static_cast<unsigned long>(key));
}

void list(struct mlx5dv_qp_ex*, struct mlx5dv_mkey* key, uint32_t access, uint16_t count, struct ibv_sge* pieces) {
  record("mlx5dv_wr_mr_list key=%#x access=%#x pieces=%s", key->lkey, access, segmentsOf(pieces, count).c_str());
}

void interleaved(struct mlx5dv_qp_ex*, struct mlx5dv_mkey* key, uint32_t access, uint32_t repeat, uint16_t count,
                 struct mlx5dv_mr_interleaved* pieces) {
  record("mlx5dv_wr_mr_interleaved key=%#x access=%#x repeat=%u count=%u first=%#lx+%u skip=%u last=%#lx+%u skip=%u",
         key->lkey, access, repeat, count, static_cast<unsigned long>(pieces[0].addr), pieces[0].bytes_count,
         pieces[0].bytes_skip, static_cast<unsigned long>(pieces[count - 1].addr), pieces[count - 1].bytes_count,
         pieces[count - 1].bytes_skip);
}

// The length in sixteenths of a kilobit is in the control segment itself.
void raw(struct mlx5dv_qp_ex*, const void* element) {
  const auto* bytes = static_cast<const unsigned char*>(element);
  const size_t length = 16 * static_cast<size_t>(bytes[7] & 0x3f);
  std::string text;
  for (size_t index = 0; index < length; index++) {
    char digits[4];
    snprintf(digits, sizeof digits, "%s%02x", index % 8 == 0 && index > 0 ? " " : "", bytes[index]);
    text += digits;
  }
  record("mlx5dv_wr_raw_wqe %s", text.c_str());
}

struct mlx5dv_qp_ex direct;

}  // namespace

EXPORT bool mlx5dv_is_supported(struct ibv_device* device) {
  return device == &devices[1];
}

EXPORT struct ibv_qp* mlx5dv_create_qp(struct ibv_context* context, struct ibv_qp_init_attr_ex* a,
                                       struct mlx5dv_qp_init_attr* m) {
  FAULT_NULL("mlx5dv_create_qp")
  record("mlx5dv_create_qp type=%#x mask=%#x operations=%#lx own mask=%#lx operations=%#lx", a->qp_type, a->comp_mask,
         static_cast<unsigned long>(a->send_ops_flags), static_cast<unsigned long>(m->comp_mask),
         static_cast<unsigned long>(m->send_ops_flags));
  if (m->comp_mask & MLX5DV_QP_INIT_ATTR_MASK_DC)
    record(
        "  dc type=%d key=%#lx shared=%d queues=%d", m->dc_init_attr.dc_type,
        static_cast<unsigned long>(m->dc_init_attr.dc_type == MLX5DV_DCTYPE_DCT ? m->dc_init_attr.dct_access_key : 0),
        a->srq != nullptr, (a->send_cq != nullptr) + (a->recv_cq != nullptr));
  return makePair(context, a->qp_context, a->qp_type, a->send_cq, a->recv_cq, a->cap);
}

EXPORT struct ibv_qp_ex* ibv_qp_to_qp_ex(struct ibv_qp* qp) {
  auto* ex = reinterpret_cast<struct ibv_qp_ex*>(qp);
  ex->wr_start = start;
  ex->wr_complete = complete;
  ex->wr_abort = stop;
  ex->wr_rdma_write = write;
  ex->wr_set_sge_list = setSegments;
  return ex;
}

EXPORT struct mlx5dv_qp_ex* mlx5dv_qp_ex_from_ibv_qp_ex(struct ibv_qp_ex*) {
  direct.wr_set_dc_addr = setTarget;
  direct.wr_mr_list = list;
  direct.wr_mr_interleaved = interleaved;
  direct.wr_raw_wqe = raw;
  return &direct;
}

EXPORT struct mlx5dv_mkey* mlx5dv_create_mkey(struct mlx5dv_mkey_init_attr* a) {
  FAULT_NULL("mlx5dv_create_mkey")
  record("mlx5dv_create_mkey flags=%#x entries=%u", a->create_flags, a->max_entries);
  auto* key = new struct mlx5dv_mkey();
  key->lkey = 0x5500;
  key->rkey = 0x5500;
  return key;
}

EXPORT int mlx5dv_destroy_mkey(struct mlx5dv_mkey* key) {
  FAULT_ERRNO("mlx5dv_destroy_mkey")
  record("mlx5dv_destroy_mkey");
  delete key;
  return 0;
}
