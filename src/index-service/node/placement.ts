import { hashWords } from '../../codecs/index.ts'

/**
 * The ranks that hold a shard: the first `count` of the members by a hash of shard and rank. So if a member comes or
 * goes, only its own shards move. This is rendezvous hashing (Thaler and Ravishankar, "Using name-based mappings to
 * increase hit rates", IEEE/ACM Transactions on Networking 6(1), 1998).
 */
export function holdersOf(shard: number, members: readonly number[], count: number): readonly number[] {
  if (members.length <= count) return members
  const weighed = members.map((rank) => ({ rank, weight: hashWords(Int32Array.of(shard, rank), 8, 0) }))
  weighed.sort((one, other) => other.weight - one.weight || one.rank - other.rank)
  return weighed.slice(0, count).map(({ rank }) => rank)
}

/** The rank that is to lead a shard, so that each holder leads as many as the others: where one is free to choose. */
export function leaderWanted(shard: number, holders: readonly number[]): number {
  const inOrder = [...holders].sort((one, other) => one - other)
  return inOrder[shard % inOrder.length]!
}
