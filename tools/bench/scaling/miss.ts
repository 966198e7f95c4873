import { Random } from 'aether-dsm/internal/runtime'
import type { AccessCost, CountedCluster } from './counted-cluster.ts'

/** An access that misses, and what it costs in a cluster of a given size. */
export interface Miss {
  readonly name: string
  /** The fewest ranks that it needs. */
  readonly ranks: number
  /** Its cost (the mean, where it is many). */
  readonly cost: (cluster: CountedCluster) => AccessCost
}

/** Rank 0 accesses page 1, whose home is rank 1, after what `before` does. */
function single(write: boolean, before: (cluster: CountedCluster) => void): (cluster: CountedCluster) => AccessCost {
  return (cluster) => {
    before(cluster)
    const cost = cluster.access(0, 1, write)
    if (cost === undefined) throw new Error('that was a hit')
    return cost
  }
}

const load = (...ranks: number[]): ((cluster: CountedCluster) => void) => {
  return (cluster) => {
    for (const rank of ranks) cluster.access(rank, 1, false)
  }
}

/** Ranks that use one page in the mixed workload, and pages for each rank of the cluster. */
const SHARING = 4
const PAGES_A_RANK = 4
const ACCESSES_A_PAGE = 32
const SEED = 1

/** Each page is used by four ranks drawn at random, half of the accesses are stores: the mean over all misses. */
function mixed(cluster: CountedCluster): AccessCost {
  const random = new Random(SEED)
  const total = { messages: 0, bytes: 0, hops: 0 }
  let misses = 0
  for (let page = 0; page < PAGES_A_RANK * cluster.ranks; page += 1) {
    const users = Array.from({ length: SHARING }, () => random.below(cluster.ranks))
    for (let count = 0; count < ACCESSES_A_PAGE; count += 1) {
      const cost = cluster.access(users[random.below(SHARING)]!, page, random.below(2) === 0)
      if (cost === undefined) continue
      misses += 1
      total.messages += cost.messages
      total.bytes += cost.bytes
      total.hops += cost.hops
    }
  }
  return { messages: total.messages / misses, bytes: total.bytes / misses, hops: total.hops / misses }
}

export const misses: readonly Miss[] = [
  { name: 'read, no rank has it', ranks: 2, cost: single(false, () => {}) },
  {
    name: 'read, a third rank wrote it',
    ranks: 3,
    cost: single(false, (cluster) => void cluster.access(2, 1, true)),
  },
  { name: 'write, no rank has it', ranks: 2, cost: single(true, () => {}) },
  {
    name: 'write, a third rank wrote it',
    ranks: 3,
    cost: single(true, (cluster) => void cluster.access(2, 1, true)),
  },
  { name: 'upgrade, one other reader', ranks: 3, cost: single(true, load(2, 0)) },
  {
    name: 'upgrade, every rank reads',
    ranks: 2,
    cost: single(true, (cluster) => load(...Array.from({ length: cluster.ranks }, (_, rank) => rank))(cluster)),
  },
  { name: `mixed, ${SHARING} ranks a page`, ranks: 2, cost: mixed },
]
