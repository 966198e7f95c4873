import { AetherError } from '../../native/index.ts'

/**
 * A collective, or its group, cannot go on. The group is then over for every rank; the remaining ones can form a new
 * one.
 *
 * - `ERR_AETHER_PEER_LOST`: the process at `rank` is gone, or cannot be reached.
 * - `ERR_AETHER_COLLECTIVE_MISMATCH`: the ranks called different collectives.
 * - `ERR_AETHER_COLLECTIVE_ABANDONED`: `rank` gave up or has closed the group.
 */
export class CollectiveError extends AetherError {
  override readonly name = 'CollectiveError'
  /** The rank of the group that caused the failure. */
  readonly rank: number
  /** The peer number of that rank. */
  readonly peer: number

  constructor(
    code: 'ERR_AETHER_PEER_LOST' | 'ERR_AETHER_COLLECTIVE_MISMATCH' | 'ERR_AETHER_COLLECTIVE_ABANDONED',
    rank: number,
    peer: number,
    message: string,
    options?: ErrorOptions,
  ) {
    super(code, message, options)
    this.rank = rank
    this.peer = peer
  }
}

/** A peer of a context cannot be used: it was never there, has gone, or sent invalid data. */
export class PeerError extends AetherError {
  override readonly name = 'PeerError'
  /** The peer's number; -1 if it never said one. */
  readonly peer: number

  constructor(
    code: 'ERR_AETHER_PEER_UNKNOWN' | 'ERR_AETHER_PEER_LOST' | 'ERR_AETHER_PEER_PROTOCOL' | 'ERR_AETHER_PEERS_LIMIT',
    peer: number,
    message: string,
    options?: ErrorOptions,
  ) {
    super(code, message, options)
    this.peer = peer
  }
}

/** The connection to the peer was closed. */
export function disconnectedError(peer: number, isByThisEnd: boolean): PeerError {
  const what = isByThisEnd ? 'was disconnected by this end' : 'has disconnected'
  return new PeerError('ERR_AETHER_PEER_LOST', peer, `peer ${peer} ${what}`)
}

/**
 * The remaining members of a group have not agreed, or have agreed without this process.
 *
 * - `ERR_AETHER_GROUP_MINORITY`: this side reached no majority.
 * - `ERR_AETHER_GROUP_EXCLUDED`: the others go on without this process.
 * - `ERR_AETHER_GROUP_UNDECIDED`: a majority was reached, but there was no agreement in time.
 */
export class AgreementError extends AetherError {
  override readonly name = 'AgreementError'
  /**
   * Peer numbers. If this process is excluded, those that go on; otherwise those that were reached, this one included.
   */
  readonly members: readonly number[]

  constructor(
    code: 'ERR_AETHER_GROUP_MINORITY' | 'ERR_AETHER_GROUP_EXCLUDED' | 'ERR_AETHER_GROUP_UNDECIDED',
    members: readonly number[],
    message: string,
  ) {
    super(code, message)
    this.members = members
  }
}
