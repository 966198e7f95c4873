import { JoinError, MemberEndedError, type MembershipView, type ProgramsHost, ranksInWords } from '../cluster/index.ts'
import { type CollectiveCall, checkCollective } from '../collectives/index.ts'
import { agreementCall, PeerGroup, type ShrinkOptions } from '../messaging/index.ts'
import { ClosedError, TIMER_MS_MAX, TimeoutError } from '../native/index.ts'
import type { RankLinks } from './rank-links.ts'

/** A collective that was called before all ranks were connected. */
interface Early {
  begin(group: PeerGroup): void
  readonly fail: (error: Error) => void
}

/**
 * Collectives of all ranks of a group. The connections are made with the first.
 *
 * A barrier of the group is counted by the agents, and is one of the calls that all ranks make in the same order. A
 * rank that waits in a collective says so. If another waits in a barrier that this one has not entered, then the two
 * have made different calls. One that has entered it is past it, and the release has not come to the other yet.
 */
export class RankCollectives {
  readonly #links: RankLinks
  readonly #host: ProgramsHost
  readonly #ranks: readonly number[]
  readonly #others: readonly number[]
  /** All ranks, once they are connected; or why they are not. */
  #all: PeerGroup | undefined
  #failure: Error | undefined
  #connecting: Promise<void> | undefined
  /** In the order of calls. */
  readonly #early: Early[] = []
  /** Those that are left, where not all ranks were ever connected. */
  #remaining: Promise<PeerGroup | undefined> | undefined

  constructor(links: RankLinks, host: ProgramsHost) {
    this.#links = links
    this.#host = host
    const { view } = host
    this.#ranks = view === undefined ? Array.from({ length: host.size }, (_, rank) => rank) : membersIn(view)
    if (view === 'none') this.#failure = new JoinError(NO_BARRIER)
    this.#others = this.#ranks.filter((rank) => rank !== host.rank)
  }

  /** Why there are no more collectives of all ranks. */
  get failure(): Error | undefined {
    return this.#failure ?? this.#all?.failure
  }

  carryOut<T>(call: CollectiveCall<T>): Promise<T> {
    if (this.#all !== undefined) return this.#all.carryOut(call)
    return new Promise((resolve, reject) => {
      this.#check(call)
      const beganMs = performance.now()
      this.#wait(call, (group) => group.carryOut(since(beganMs, call)).then(resolve, reject), reject)
      void this.#connect()
    })
  }

  carryOutSync<T>(call: CollectiveCall<T>): T {
    if (this.#all === undefined) {
      this.#check(call)
      const beganMs = performance.now()
      const { timeoutMs = Number.POSITIVE_INFINITY } = call.options
      try {
        this.#links.connectSync(this.#others, timeoutMs)
      } catch (error) {
        if (error instanceof TimeoutError) this.#giveUp(notBegun(call, error.message))
        throw error instanceof TimeoutError ? notBegun(call, error.message) : error
      }
      this.#settled()
      return this.#connected().carryOutSync(since(beganMs, call))
    }
    return this.#all.carryOutSync(call)
  }

  /** See `Group.shrink`. */
  async shrink(options: ShrinkOptions = {}): Promise<PeerGroup> {
    const call = agreementCall(options)
    if (this.#all === undefined) {
      this.#remaining ??= this.#links
        .settle(this.#ranks, undefined, call, options.signal)
        .then((ranks) => this.#without(ranks))
      try {
        await this.#remaining
      } catch (error) {
        this.#remaining = undefined
        throw error
      }
    }
    const left = await (this.#all?.shrink(options) ?? this.#remaining)
    return left!
  }

  shrinkSync(options: ShrinkOptions = {}): PeerGroup {
    const call = agreementCall(options)
    if (this.#all === undefined) {
      const ranks = this.#links.settleSync(this.#ranks, undefined, call)
      const group = this.#without(ranks)
      if (group !== undefined) {
        this.#remaining = Promise.resolve(group)
        return group
      }
    }
    return this.#connected().shrinkSync(options)
  }

  /** Others have begun to connect: do so as well. */
  connect(): void {
    void this.#connect()
    if (this.#links.areSettled(this.#others)) this.#settled()
  }

  /** Other members carry out collectives from now on. */
  end(): void {
    this.#fail(new ClosedError('the collectives of the members before the last barrier'))
    this.#all?.close()
  }

  close(): void {
    this.#fail(new ClosedError('the group'))
  }

  #check({ name, options }: CollectiveCall<unknown>): void {
    checkCollective(name, options)
    options.signal?.throwIfAborted()
    if (this.#failure !== undefined) throw this.#failure
  }

  /** Begin once all are connected, unless the time is over before, or the caller aborts. */
  #wait(call: CollectiveCall<unknown>, begin: (group: PeerGroup) => void, fail: (error: unknown) => void): void {
    const { timeoutMs = Number.POSITIVE_INFINITY, signal } = call.options
    const stop = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
    const early: Early = {
      begin: (group) => {
        stop()
        begin(group)
      },
      fail: (error) => {
        stop()
        fail(error)
      },
    }
    const giveUp = (error: unknown): void => {
      stop()
      early.begin = (group) => group.giveUp(error)
      fail(error)
    }
    const abort = (): void => giveUp(signal?.reason)
    const late = (): void => giveUp(notBegun(call, this.#links.whomItWaitsFor(this.#others)))
    const timer = timeoutMs <= TIMER_MS_MAX ? setTimeout(late, timeoutMs) : undefined
    signal?.addEventListener('abort', abort, { once: true })
    this.#early.push(early)
  }

  /** The others are told once they are connected. */
  #giveUp(error: Error): void {
    this.#early.push({ begin: (group) => group.giveUp(error), fail: () => {} })
    void this.#connect()
  }

  #connect(): Promise<void> {
    this.#connecting ??= this.#links.connect(this.#others).then(
      () => this.#settled(),
      (error) => this.#fail(error),
    )
    return this.#connecting
  }

  /** Each rank is connected, or cannot be. */
  #settled(): void {
    if (this.#all !== undefined || this.#failure !== undefined) return
    const absent = this.#others.filter((rank) => !this.#links.isMember(rank) || !this.#links.isConnected(rank))
    const refusal = absent.map((rank) => this.#links.refusal(rank)).find((error) => error !== undefined)
    if (absent.some((rank) => !this.#links.isMember(rank))) {
      const what = `${ranksInWords(absent)} ended or left before all ranks were connected; call shrink() to go on without`
      this.#fail(new MemberEndedError(absent, what))
    } else if (refusal !== undefined) this.#fail(refusal)
    else {
      this.#all = this.#of(this.#ranks)
      for (const early of this.#early.splice(0)) early.begin(this.#all)
    }
  }

  /** The group of those that are left. Undefined if all are there: then that of all has begun. */
  #without(ranks: readonly number[]): PeerGroup | undefined {
    if (ranks.length === this.#ranks.length) this.#settled()
    return this.#all === undefined ? this.#of(ranks) : undefined
  }

  #connected(): PeerGroup {
    if (this.#all === undefined) throw this.#failure
    return this.#all
  }

  #of(ranks: readonly number[]): PeerGroup {
    const { hub } = this.#links.peers
    const { view } = this.#host
    const engine = hub.group(ranks, typeof view === 'object' ? `epoch ${view.epoch}` : undefined)
    engine.elsewhere = (rank) => (this.#host.isMissingFromBarrier(rank) ? 'barrier' : undefined)
    return new PeerGroup(hub, engine, this.#links)
  }

  #fail(error: Error): void {
    this.#failure ??= error
    for (const { fail } of this.#early.splice(0)) fail(this.#failure)
  }
}

const NO_BARRIER =
  'a rank that has joined a group takes part in collectives after its first barrier: call group.barrier()'

const membersIn = (view: MembershipView | 'none'): readonly number[] => (view === 'none' ? [] : view.members)

function notBegun({ name, options }: CollectiveCall<unknown>, why: string): TimeoutError {
  return new TimeoutError(`${name} did not begin within ${options.timeoutMs} ms: ${why}`)
}

/** The call with what is left of its time. */
function since<T>(beganMs: number, call: CollectiveCall<T>): CollectiveCall<T> {
  const { timeoutMs } = call.options
  // Anything else is refused where the call begins.
  if (typeof timeoutMs !== 'number') return call
  const leftMs = timeoutMs > 0 ? Math.max(0, timeoutMs - (performance.now() - beganMs)) : timeoutMs
  return { ...call, options: { ...call.options, timeoutMs: leftMs } }
}
