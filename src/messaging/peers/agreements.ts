import { ArgumentError } from '../../native/index.ts'
import { Agreement, type AgreementCall, type AgreementFailure } from './agreement.ts'
import { type AgreementMessage, AgreementStep, decodeAgreement, encodeAgreement } from './agreement-message.ts'
import { AgreementError, CollectiveError } from './errors.ts'

/** What agreements need to know of their group. */
export interface AgreeingGroup {
  readonly group: number
  /** Peer numbers by rank. */
  readonly peers: readonly number[]
  readonly rank: number
}

export interface AgreementsOwner {
  send(peer: number, group: number, payload: Uint8Array): void
  now(): number
  /** The others of a group go on without this peer. */
  excluded(group: number, error: AgreementError): void
}

/** The caller, told once: of the ranks that go on, or of the error. */
export interface AgreementWaiter {
  readonly resolve: (ranks: readonly number[]) => void
  readonly reject: (error: Error) => void
}

interface Entry {
  readonly group: AgreeingGroup
  readonly agreement: Agreement
  waiter: AgreementWaiter | undefined
  closed: boolean
}

/** Groups that were closed, of which others may still ask. */
const CLOSED_MAX = 4096

/** The agreements of all groups of a context, each from when its group is made. */
export class Agreements {
  readonly #owner: AgreementsOwner
  readonly #entries = new Map<number, Entry>()
  readonly #closed: number[] = []

  constructor(owner: AgreementsOwner) {
    this.#owner = owner
  }

  get busy(): boolean {
    for (const { agreement } of this.#entries.values()) if (agreement.busy) return true
    return false
  }

  add(group: AgreeingGroup): void {
    const agreement = new Agreement(group.peers.length, group.rank, {
      send: (rank, message) => this.#send(group, rank, message),
      decided: (ranks) => this.#decided(entry, ranks),
      failed: (failure) => this.#settle(entry)?.reject(errorOf(group, failure)),
    })
    const entry: Entry = { group, agreement, waiter: undefined, closed: false }
    this.#entries.set(group.group, entry)
  }

  /** For a new group: a rank cannot be reached, or takes no part. */
  without(group: number, rank: number, isLost: boolean): void {
    const { agreement } = this.#entries.get(group)!
    if (isLost) agreement.lostRank(rank, this.#owner.now())
    else agreement.goneRank(rank, this.#owner.now())
  }

  /** The ranks that go on. Rejects with the error, or the `reason` of the signal. */
  async agree(group: number, call: AgreementCall, signal: AbortSignal | undefined): Promise<readonly number[]> {
    const entry = this.#entries.get(group)!
    signal?.throwIfAborted()
    const abort = (): void => {
      entry.agreement.leave()
      this.#settle(entry)?.reject(signal?.reason)
    }
    signal?.addEventListener('abort', abort, { once: true })
    try {
      return await new Promise((resolve, reject) => this.begin(group, call, { resolve, reject }))
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  /** The same, reported by a call: at once if there is a decision already. @throws ArgumentError */
  begin(group: number, call: AgreementCall, waiter: AgreementWaiter): void {
    const entry = this.#entries.get(group)!
    const { agreement } = entry
    if (agreement.decision !== undefined) {
      waiter.resolve(agreement.decision)
      return
    }
    if (entry.waiter !== undefined) throw new ArgumentError('group', 'the group is being shrunk already; await that')
    entry.waiter = waiter
    agreement.begin(call, this.#owner.now())
  }

  /** Ranks that have said that they take no part, and ranks that cannot be reached. */
  absent(group: number): { readonly lost: ReadonlySet<number>; readonly gone: ReadonlySet<number> } {
    return this.#entries.get(group)!.agreement
  }

  /** This member has closed the group. Members that ask are still told what was agreed on. */
  close(group: number, error: Error): void {
    const entry = this.#entries.get(group)
    if (entry === undefined || entry.closed) return
    entry.closed = true
    entry.agreement.leave()
    this.#settle(entry)?.reject(error)
    this.#closed.push(group)
    if (this.#closed.length > CLOSED_MAX) this.#entries.delete(this.#closed.shift()!)
  }

  lostPeer(peer: number): void {
    for (const { group, agreement } of [...this.#entries.values()]) {
      const rank = group.peers.indexOf(peer)
      if (rank >= 0) agreement.lostRank(rank, this.#owner.now())
    }
  }

  tick(nowMs: number): void {
    for (const { agreement } of [...this.#entries.values()]) if (agreement.busy) agreement.tick(nowMs)
  }

  /** Undefined if the group is unknown, false if the message is invalid. */
  came(peer: number, group: number, payload: Uint8Array): boolean | undefined {
    const entry = this.#entries.get(group)
    if (entry === undefined) return undefined
    const rank = entry.group.peers.indexOf(peer)
    const message = decodeAgreement(payload, entry.group.peers.length)
    if (rank < 0 || rank === entry.group.rank || message === undefined) return false
    const { agreement } = entry
    const asks = message.step < AgreementStep.Decided
    if (entry.closed && agreement.decision === undefined && asks)
      this.#send(entry.group, rank, { ...message, step: AgreementStep.Gone, proposal: undefined, lost: new Set() })
    else agreement.came(rank, message, this.#owner.now())
    return true
  }

  #decided(entry: Entry, ranks: readonly number[]): void {
    const { group } = entry
    const isExcluded = !ranks.includes(group.rank)
    if (isExcluded) this.#owner.excluded(group.group, excludedError(group, ranks))
    this.#settle(entry)?.resolve(ranks)
  }

  #settle(entry: Entry): Entry['waiter'] {
    const { waiter } = entry
    entry.waiter = undefined
    return waiter
  }

  #send({ group, peers }: AgreeingGroup, rank: number, message: AgreementMessage): void {
    this.#owner.send(peers[rank]!, group, encodeAgreement(message, peers.length))
  }
}

export function excludedError({ peers, rank }: AgreeingGroup, ranks: readonly number[]): AgreementError {
  const members = ranks.map((each) => peers[each]!)
  const who = members.length === 1 ? `peer ${members[0]} goes` : `peers ${members.join(', ')} go`
  const message = `${who} on without this one, peer ${peers[rank]}, which could not be reached when the others agreed. Connect again, and make another group with them`
  return new AgreementError('ERR_AETHER_GROUP_EXCLUDED', members, message)
}

function errorOf({ peers }: AgreeingGroup, failure: AgreementFailure): Error {
  if (failure.kind === 'mismatch') {
    const { rank } = failure
    const message = `rank ${rank} shrinks the group with another quorum than this rank; pass the same quorum at every rank`
    return new CollectiveError('ERR_AETHER_COLLECTIVE_MISMATCH', rank, peers[rank]!, message)
  }
  const reached = failure.reached.map((rank) => peers[rank]!)
  const some = `${reached.length} of the ${peers.length} of the group (peers ${reached.join(', ')})`
  if (failure.kind === 'minority') {
    const message = `this side has reached ${some}, which is not a majority: others may go on without it`
    return new AgreementError('ERR_AETHER_GROUP_MINORITY', reached, message)
  }
  const message = `there was no agreement within timeoutMs, although ${some} were reached; call shrink again`
  return new AgreementError('ERR_AETHER_GROUP_UNDECIDED', reached, message)
}
