import { AetherError } from '../../native/index.ts'

/**
 * A collective, or its group, cannot go on: `ERR_AETHER_PEER_LOST`, the process at `rank` or the way to it is gone;
 * `ERR_AETHER_COLLECTIVE_MISMATCH`, the ranks called different things; `ERR_AETHER_COLLECTIVE_ABANDONED`, `rank` gave
 * up or has closed the group. The group is over for every rank then; those that are left can form a new one.
 */
export class CollectiveError extends AetherError {
  override readonly name = 'CollectiveError'
  /** Whose fault it is: a rank of the group. */
  readonly rank: number
  /** The same as a peer of the context: its number. */
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

/** A peer of a context cannot be used: it was never there, has gone, or sent what makes no sense. */
export class PeerError extends AetherError {
  override readonly name = 'PeerError'
  /** The peer's number; -1 where it never said one. */
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

/** The connection to it ended in order. */
export function disconnectedError(peer: number, isByThisEnd: boolean): PeerError {
  const what = isByThisEnd ? 'was disconnected by this end' : 'has disconnected'
  return new PeerError('ERR_AETHER_PEER_LOST', peer, `peer ${peer} ${what}`)
}

/**
 * Those that are left of a group have not agreed, or not with this process: `ERR_AETHER_GROUP_MINORITY`, this side
 * reached no majority; `ERR_AETHER_GROUP_EXCLUDED`, the others go on without this process;
 * `ERR_AETHER_GROUP_UNDECIDED`, a majority was reached, but nothing was agreed on in time.
 */
export class AgreementError extends AetherError {
  override readonly name = 'AgreementError'
  /**
   * Peer numbers: those that go on where this one is excluded, otherwise those that were reached, this one among them.
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
