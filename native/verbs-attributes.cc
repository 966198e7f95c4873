#include "verbs-attributes.h"

#include "verbs-objects.h"

namespace aether {

static_assert(kVectorWords == 14, "the two vectors of the attributes are this long");

constexpr double k24 = 0xffffff;

bool takeVector(const double* words, struct ibv_ah_attr* a) {
  bool ok = takeGid(words + kGid, &a->grh.dgid);
  a->dlid = static_cast<uint16_t>(wholeNumber(words[kLocalIdentifier], UINT16_MAX, &ok));
  a->grh.sgid_index = static_cast<uint8_t>(wholeNumber(words[kSourceGidIndex], UINT8_MAX, &ok));
  a->grh.hop_limit = static_cast<uint8_t>(wholeNumber(words[kHopLimit], UINT8_MAX, &ok));
  a->sl = static_cast<uint8_t>(wholeNumber(words[kServiceLevel], 15, &ok));
  a->is_global = static_cast<uint8_t>(wholeNumber(words[kIsGlobal], 1, &ok));
  a->grh.flow_label = static_cast<uint32_t>(wholeNumber(words[kFlowLabel], 0xfffff, &ok));
  a->grh.traffic_class = static_cast<uint8_t>(wholeNumber(words[kTrafficClass], UINT8_MAX, &ok));
  a->port_num = static_cast<uint8_t>(wholeNumber(words[kVectorPort], UINT8_MAX, &ok));
  a->src_path_bits = static_cast<uint8_t>(wholeNumber(words[kSourcePathBits], 127, &ok));
  a->static_rate = static_cast<uint8_t>(wholeNumber(words[kStaticRate], UINT8_MAX, &ok));
  return ok;
}

static void putVector(const struct ibv_ah_attr& a, double* words) {
  putGid(words + kGid, a.grh.dgid);
  words[kLocalIdentifier] = a.dlid;
  words[kSourceGidIndex] = a.grh.sgid_index;
  words[kHopLimit] = a.grh.hop_limit;
  words[kServiceLevel] = a.sl;
  words[kIsGlobal] = a.is_global;
  words[kFlowLabel] = a.grh.flow_label;
  words[kTrafficClass] = a.grh.traffic_class;
  words[kVectorPort] = a.port_num;
  words[kSourcePathBits] = a.src_path_bits;
  words[kStaticRate] = a.static_rate;
}

static enum ibv_mtu takeMtu(double bytes, bool* ok) {
  for (int code = IBV_MTU_256; code <= IBV_MTU_4096; code++)
    if (bytes == (128 << code)) return static_cast<enum ibv_mtu>(code);
  *ok = false;
  return IBV_MTU_256;
}

// Fields that are not in the mask are not looked at.
bool takeAttributes(const double* words, unsigned mask, struct ibv_qp_attr* a) {
  bool ok = true;
  const auto take = [&](unsigned bit, size_t word, double most) {
    return (mask & bit) != 0 ? wholeNumber(words[word], most, &ok) : 0;
  };
  a->qp_state = static_cast<enum ibv_qp_state>(take(IBV_QP_STATE, kState, IBV_QPS_ERR));
  a->cur_qp_state = static_cast<enum ibv_qp_state>(take(IBV_QP_CUR_STATE, kCurrentState, IBV_QPS_ERR));
  a->en_sqd_async_notify = static_cast<uint8_t>(take(IBV_QP_EN_SQD_ASYNC_NOTIFY, kSqdNotify, 1));
  a->qp_access_flags = static_cast<unsigned>(take(IBV_QP_ACCESS_FLAGS, kAccess, INT32_MAX));
  a->pkey_index = static_cast<uint16_t>(take(IBV_QP_PKEY_INDEX, kPartitionKeyIndex, UINT16_MAX));
  a->port_num = static_cast<uint8_t>(take(IBV_QP_PORT, kPort, UINT8_MAX));
  a->qkey = static_cast<uint32_t>(take(IBV_QP_QKEY, kQueueKey, UINT32_MAX));
  a->timeout = static_cast<uint8_t>(take(IBV_QP_TIMEOUT, kTimeout, 31));
  a->retry_cnt = static_cast<uint8_t>(take(IBV_QP_RETRY_CNT, kRetryCount, 7));
  a->rnr_retry = static_cast<uint8_t>(take(IBV_QP_RNR_RETRY, kRnrRetry, 7));
  a->rq_psn = static_cast<uint32_t>(take(IBV_QP_RQ_PSN, kReceivePsn, k24));
  a->sq_psn = static_cast<uint32_t>(take(IBV_QP_SQ_PSN, kSendPsn, k24));
  a->max_rd_atomic = static_cast<uint8_t>(take(IBV_QP_MAX_QP_RD_ATOMIC, kMaxReadAtomic, UINT8_MAX));
  a->max_dest_rd_atomic = static_cast<uint8_t>(take(IBV_QP_MAX_DEST_RD_ATOMIC, kMaxDestinationReadAtomic, UINT8_MAX));
  a->min_rnr_timer = static_cast<uint8_t>(take(IBV_QP_MIN_RNR_TIMER, kMinRnrTimer, 31));
  a->dest_qp_num = static_cast<uint32_t>(take(IBV_QP_DEST_QPN, kDestinationQueuePair, k24));
  a->path_mig_state = static_cast<enum ibv_mig_state>(take(IBV_QP_PATH_MIG_STATE, kPathMigrationState, IBV_MIG_ARMED));
  if (mask & IBV_QP_PATH_MTU) a->path_mtu = takeMtu(words[kPathMtu], &ok);
  if (mask & IBV_QP_AV) ok = takeVector(words + kPrimaryVector, &a->ah_attr) && ok;
  if (mask & IBV_QP_ALT_PATH) {
    ok = takeVector(words + kAlternateVector, &a->alt_ah_attr) && ok;
    a->alt_port_num = static_cast<uint8_t>(take(IBV_QP_ALT_PATH, kAlternatePort, UINT8_MAX));
    a->alt_timeout = static_cast<uint8_t>(take(IBV_QP_ALT_PATH, kAlternateTimeout, 31));
    a->alt_pkey_index = static_cast<uint16_t>(take(IBV_QP_ALT_PATH, kAlternatePartitionKeyIndex, UINT16_MAX));
  }
  return ok;
}

void putAttributes(const struct ibv_qp_attr& a, double* words) {
  words[kState] = a.qp_state;
  words[kCurrentState] = a.cur_qp_state;
  words[kSqdNotify] = a.en_sqd_async_notify;
  words[kAccess] = a.qp_access_flags;
  words[kPartitionKeyIndex] = a.pkey_index;
  words[kPort] = a.port_num;
  words[kQueueKey] = a.qkey;
  words[kPathMtu] = a.path_mtu == 0 ? 0 : 128 << a.path_mtu;
  words[kTimeout] = a.timeout;
  words[kRetryCount] = a.retry_cnt;
  words[kRnrRetry] = a.rnr_retry;
  words[kReceivePsn] = a.rq_psn;
  words[kSendPsn] = a.sq_psn;
  words[kMaxReadAtomic] = a.max_rd_atomic;
  words[kMaxDestinationReadAtomic] = a.max_dest_rd_atomic;
  words[kMinRnrTimer] = a.min_rnr_timer;
  words[kDestinationQueuePair] = a.dest_qp_num;
  words[kPathMigrationState] = a.path_mig_state;
  words[kAlternatePort] = a.alt_port_num;
  words[kAlternateTimeout] = a.alt_timeout;
  words[kAlternatePartitionKeyIndex] = a.alt_pkey_index;
  words[kSendQueueDraining] = a.sq_draining;
  putVector(a.ah_attr, words + kPrimaryVector);
  putVector(a.alt_ah_attr, words + kAlternateVector);
}

}  // namespace aether
