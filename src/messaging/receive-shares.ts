import { ArgumentError, checkOptions, type OptionNames, shown } from '../native/index.ts'
import { ProtocolViolation } from './errors.ts'
import type { ReceiveBudget } from './receive-budget.ts'
import { SIGNAL_ARGUMENT_MAX } from './signal.ts'

/** Receives of each link for signals: one `want`, one `wake`, one `close`, and one `recall` or its answer. */
export const CONTROL_RECEIVES = 4
/** Receives for messages that each link of a shared queue has at any time. */
export const SHARE_MIN = 4
/** What a link takes of the pool when it has only that. */
const LINK_RECEIVES = SHARE_MIN + CONTROL_RECEIVES

/** What the links of one listener share. */
export interface SharedReceiveOptions {
  /** Receives in the pool: at least 8 for each connection; default 16 for each. */
  readonly receives?: number
  /** Connections at a time, 1 to 8192; those beyond are turned away (LinkError `full` at the client). Default 1000. */
  readonly connectionsMax?: number
}

/** The use of a pool. */
export interface SharedReceiveUse {
  readonly connections: number
  readonly connectionsMax: number
  /** Receives beyond those that each connection has at any time. */
  readonly surplus: number
  /** How many of them are lent. */
  readonly lent: number
}

const CONNECTIONS_MAX_DEFAULT = 1000
const RECEIVES_EACH_DEFAULT = 16
const CONNECTIONS_MAX = 8192
const RECEIVES_MAX = 65_536

const sharedReceiveNames: OptionNames<SharedReceiveOptions> = { receives: true, connectionsMax: true }

/** Check the options. @throws ArgumentError for a pool that does not hold every connection's minimum. */
export function checkSharedReceives(options: SharedReceiveOptions): Required<SharedReceiveOptions> {
  checkOptions('a listener', options, sharedReceiveNames, 'sharedReceiveQueue')
  const { connectionsMax = CONNECTIONS_MAX_DEFAULT } = options
  if (!(Number.isInteger(connectionsMax) && connectionsMax >= 1 && connectionsMax <= CONNECTIONS_MAX))
    throw new ArgumentError(
      'sharedReceiveQueue.connectionsMax',
      `connectionsMax must be an integer from 1 to ${CONNECTIONS_MAX}, not ${shown(connectionsMax)}`,
    )
  const least = connectionsMax * LINK_RECEIVES
  const { receives = Math.min(RECEIVES_MAX, connectionsMax * RECEIVES_EACH_DEFAULT) } = options
  if (!(Number.isInteger(receives) && receives >= least && receives <= RECEIVES_MAX))
    throw new ArgumentError(
      'sharedReceiveQueue.receives',
      `${connectionsMax} connections need ${least} to ${RECEIVES_MAX} receives (${LINK_RECEIVES} each), not ${shown(receives)}`,
    )
  return { receives, connectionsMax }
}

/**
 * Shares the receives of a pool among links. Each link has a minimum. The rest is lent, with the credit that a link
 * gets anyway, to links that have used up theirs. It comes back when a link is given one less than it used, or is asked
 * for it. All shares together never exceed the pool, so no message finds it empty.
 *
 * How much a link may borrow is the rule of A. Choudhury and E. Hahne, "Dynamic queue length thresholds for
 * shared-memory packet switches" (IEEE/ACM Transactions on Networking 6(2), 1998, section III). With alpha = 1 it is
 * never more than what is not lent. So a link that takes all it can get has half, two have a third each, and something
 * is left for the next.
 */
export class ReceiveShares {
  readonly connectionsMax: number
  /** Receives beyond the minimum of all links. */
  readonly surplus: number
  readonly #shares = new Set<ReceiveShare>()
  #lent = 0

  constructor({ receives, connectionsMax }: Required<SharedReceiveOptions>) {
    this.connectionsMax = connectionsMax
    this.surplus = receives - connectionsMax * LINK_RECEIVES
  }

  get connections(): number {
    return this.#shares.size
  }

  /** How much of the surplus is lent. */
  get lent(): number {
    return this.#lent
  }

  /** The most that a link can have. */
  get shareMax(): number {
    return Math.min(SIGNAL_ARGUMENT_MAX, SHARE_MIN + (this.surplus >>> 1))
  }

  /** Return the share of another link; undefined if the limit is reached. */
  join(): ReceiveShare | undefined {
    if (this.#shares.size >= this.connectionsMax) return undefined
    const share = new ReceiveShare(this)
    this.#shares.add(share)
    return share
  }

  /** @internal */
  leave(share: ReceiveShare): void {
    if (this.#shares.delete(share)) this.#lent -= share.lent
  }

  /** @internal */
  lend(count: number): void {
    this.#lent += count
  }
}

/** What one link may use and has used. */
export class ReceiveShare implements ReceiveBudget {
  readonly #shares: ReceiveShares
  /** Those that the peer may use, and those that it has used since it was last told of new ones. */
  #held = SHARE_MIN
  #used = 0
  #lacks = false
  #hasLacked = false
  #isRecalled = false

  constructor(shares: ReceiveShares) {
    this.#shares = shares
  }

  /** How much of the surplus it holds. */
  get lent(): number {
    return this.#held - SHARE_MIN
  }

  /** Receives that the peer may still use. */
  get unused(): number {
    return this.#held - this.#used
  }

  use(): void {
    if (this.#used >= this.#held) throw new ProtocolViolation('the peer used more receives than it was granted')
    this.#used += 1
    if (this.#used === this.#held) this.lack()
  }

  lack(): void {
    this.#lacks = true
    this.#hasLacked = true
  }

  get isDue(): boolean {
    return this.#used >= this.#held >>> 1
  }

  get grant(): number {
    const { lent } = this
    const free = this.#shares.surplus - this.#shares.lent
    // After either, what it holds of the surplus is at most what is not lent.
    if (lent > free) return this.#used - Math.min(this.#used, Math.ceil((lent - free) / 2))
    if (!this.#lacks) return this.#used
    return this.#used + Math.min(this.#held, (free - lent) >>> 1, this.#shares.shareMax - this.#held)
  }

  granted(): void {
    const change = this.grant - this.#used
    this.#shares.lend(change)
    this.#held += change
    this.#used = 0
    this.#lacks = false
  }

  /**
   * Take back what the link did not need since the last call: receives that the peer has used are not granted again.
   * Returns true if the link still holds more. Then ask the peer for its unused ones, down to `SHARE_MIN`.
   */
  recall(): boolean {
    const needed = this.#hasLacked
    this.#hasLacked = false
    if (needed || this.#isRecalled) return false
    const taken = Math.min(this.#used, this.lent)
    this.#used -= taken
    this.#held -= taken
    this.#shares.lend(-taken)
    this.#isRecalled = this.lent > 0
    return this.#isRecalled
  }

  returned(count: number): void {
    if (!this.#isRecalled) throw new ProtocolViolation('the peer gave back receives without being asked')
    if (count > this.lent || count > this.unused)
      throw new ProtocolViolation(`the peer gave back ${count} receives and had ${Math.min(this.lent, this.unused)}`)
    this.#isRecalled = false
    this.#held -= count
    this.#shares.lend(-count)
  }

  /** The link has ended, and uses no more. */
  leave(): void {
    this.#shares.leave(this)
  }
}
