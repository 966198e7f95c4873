// The words in which attributes of queue pairs and address vectors cross into JavaScript; src/native/verbs-addon.ts
// names the same numbers.
#pragma once
#include <infiniband/verbs.h>

#include <cstddef>

namespace aether {

enum AttributeWord : size_t {
  kState,
  kCurrentState,
  kSqdNotify,
  kAccess,
  kPartitionKeyIndex,
  kPort,
  kQueueKey,
  kPathMtu,  // bytes
  kTimeout,
  kRetryCount,
  kRnrRetry,
  kReceivePsn,
  kSendPsn,
  kMaxReadAtomic,
  kMaxDestinationReadAtomic,
  kMinRnrTimer,
  kDestinationQueuePair,
  kPathMigrationState,
  kAlternatePort,
  kAlternateTimeout,
  kAlternatePartitionKeyIndex,
  kPrimaryVector,
  kAlternateVector = kPrimaryVector + 14,
  kSendQueueDraining = kAlternateVector + 14,  // of a query only
  kAttributeWords,
};

enum VectorWord : size_t {
  kGid,  // four words, most significant first
  kLocalIdentifier = 4,
  kSourceGidIndex,
  kHopLimit,
  kServiceLevel,
  kIsGlobal,
  kFlowLabel,
  kTrafficClass,
  kVectorPort,
  kSourcePathBits,
  kStaticRate,
  kVectorWords,
};

// False where a word is not of its field's range.
bool takeVector(const double* words, struct ibv_ah_attr* attributes);
bool takeAttributes(const double* words, unsigned mask, struct ibv_qp_attr* attributes);
void putAttributes(const struct ibv_qp_attr& attributes, double* words);

}  // namespace aether
