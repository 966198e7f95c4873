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

/** What a member knows of a shard, as ranks. */
export interface ShardMembers {
  /** Those that are to hold it. */
  readonly holders: readonly number[]
  /** Those that have it. */
  readonly have: readonly number[]
  /** Those that vote; undefined: not known, and -1: one that no one has met. */
  readonly voters: readonly number[] | undefined
}

/**
 * Whether the member `own` is to leave a shard. All that are to hold it have it. Of those that are not, this one has
 * the lowest rank. And no voter has to be replaced: there are as many as there should be, and all have the shard.
 *
 * - If a second one of three voters left before the first one was replaced, the third could not replace them.
 * - If one that follows left while it is made a voter in place of another, two of four would be gone.
 */
export function mayLeave(own: number, { holders, have, voters }: ShardMembers): boolean {
  const surplus = have.filter((rank) => !holders.includes(rank))
  if (!holders.every((rank) => have.includes(rank)) || Math.min(...surplus) !== own) return false
  return voters?.length === holders.length && voters.every((rank) => have.includes(rank))
}
