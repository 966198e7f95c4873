import { performance } from 'node:perf_hooks'
import {
  type BarrierAlgorithm,
  barrier,
  type CollectiveCall,
  type CollectiveOptions,
  Collectives,
  checkCollective,
  PlanCache,
  type Shape,
} from '../../collectives/index.ts'
import { ArgumentError, mustBe, TIMER_MS_MAX, TimeoutError } from '../../native/index.ts'
import { untilAborted } from '../../runtime/index.ts'
import type { AgreementCall } from './agreement.ts'
import type { CollectiveRun } from './collective-run.ts'
import { describeCollective, whomItWaitsFor } from './collective-waits.ts'
import { checkNotCombining } from './combining.ts'
import type { GroupEngine } from './group-engine.ts'
import type { Hub } from './hub.ts'
import type { PeerChannel } from './peer-channel.ts'
import { agreementCall, type ShrinkOptions } from './shrink-options.ts'

/** @internal Knows who of a group goes on, and makes the group of these. */
export interface Survivors {
  /** @throws AgreementError, CollectiveError, ClosedError, the signal's reason. */
  shrink(group: GroupEngine, call: AgreementCall, signal?: AbortSignal): Promise<GroupEngine>
  /** The same, spinning over these channels. */
  shrinkSync(group: GroupEngine, call: AgreementCall, channels: readonly PeerChannel[]): GroupEngine
}

/**
 * Peers that compute together. Every member makes the group from the same list, and calls the same collectives with the
 * same lengths in the same order. Several may be under way at once. Do not change a caller's arrays until the call is
 * over.
 *
 * Once a collective has failed (a member is gone, gave up, or made another call) the group is over. This and every
 * later call reject with the reason at every rank. The remaining members go on in the group from `shrink`, or make
 * another.
 */
export class PeerGroup extends Collectives {
  /** This process's position among the members. */
  readonly rank: number
  readonly size: number
  /** Peer numbers by rank. */
  readonly members: readonly number[]
  readonly #hub: Hub
  readonly #engine: GroupEngine
  readonly #shape: Shape
  #shrunk: Promise<PeerGroup> | undefined
  /** What that gave. */
  #successor: PeerGroup | undefined

  readonly #survivors: Survivors

  /** @internal Made by {@link Peers.group}. */
  constructor(hub: Hub, engine: GroupEngine, survivors: Survivors = hub) {
    super()
    this.#hub = hub
    this.#engine = engine
    this.#survivors = survivors
    this.rank = engine.rank
    this.size = engine.peers.length
    this.members = engine.peers
    const oneMachine = hub.sharesMemoryWith(engine.peers)
    this.#shape = { rank: this.rank, size: this.size, oneMachine, plans: new PlanCache() }
  }

  /** Why collectives are no longer possible; undefined while they are. */
  get failure(): Error | undefined {
    return this.#engine.failure
  }

  /** Wait until every member has called it. */
  barrier(options: CollectiveOptions<BarrierAlgorithm> = {}): Promise<void> {
    return this.carryOut(barrier(options))
  }

  barrierSync(options: CollectiveOptions<BarrierAlgorithm> = {}): void {
    this.carryOutSync(barrier(options))
  }

  /**
   * Return the group of the remaining members. After a collective has failed, every member that still runs calls it,
   * and all that get a group get the same one. If this group has not failed yet, it ends for all.
   *
   * - A second call returns the same group or, if there was no agreement, tries again.
   * - A call while another is under way waits for that one. Of its options only `signal` counts, which ends its own
   *   wait alone.
   * - The leader of the agreement had reached each member of the new group, and each had answered. One exception: if
   *   the leader dies at that very moment, what it may have decided stands, and names it and others that died since.
   * - If a member dies later, the new group's collectives report the loss, and it can be shrunk in turn.
   * - A member that gave up in the meantime (`signal`, `timeoutMs`) may be in the new group if it had accepted before.
   *   It gets that group when it calls again.
   *
   * For the use, see MPI_Comm_shrink (Bland et al., "Post-failure recovery of MPI communication capability", 2013).
   * @throws AgreementError: this side is not a majority, the others go on without this process, or there was no
   * agreement in time.
   * @throws CollectiveError if ranks pass different values of `quorum`; ClosedError; the signal's reason.
   */
  async shrink(options: ShrinkOptions = {}): Promise<PeerGroup> {
    const call = agreementCall(options)
    const { signal } = options
    if (this.#shrunk !== undefined) return untilAborted(this.#shrunk, signal)
    this.#shrunk = this.#shrink(call, signal).catch((error: unknown) => {
      this.#shrunk = undefined
      throw error
    })
    return this.#shrunk
  }

  /**
   * Do {@link shrink}, spinning. `signal` is checked only at the start. Returns the group that {@link shrink} gave, if
   * it did.
   * @throws ArgumentError, too: while a `shrink` of this member is under way, which needs the event loop, and from
   * within an operation that combines.
   */
  shrinkSync(options: ShrinkOptions = {}): PeerGroup {
    if (this.#successor !== undefined) return this.#successor
    if (this.#shrunk !== undefined)
      throw new ArgumentError('group', 'the group is being shrunk already; await that call')
    const call = agreementCall(options)
    options.signal?.throwIfAborted()
    const engine = this.#survivors.shrinkSync(this.#engine, call, this.#channels())
    const group = new PeerGroup(this.#hub, engine, this.#survivors)
    this.#successor = group
    this.#shrunk = Promise.resolve(group)
    return group
  }

  /** @internal End the group for every rank, which is told why. */
  giveUp(error: unknown): void {
    this.#engine.giveUp(error)
  }

  /**
   * Take no further part. Others can finish what was called before; ranks that make further calls are told. Idempotent.
   */
  close(): void {
    this.#engine.close()
    this.#hub.dropGroup(this.#engine)
  }

  [Symbol.dispose](): void {
    this.close()
  }

  async #shrink(call: AgreementCall, signal: AbortSignal | undefined): Promise<PeerGroup> {
    const engine = await this.#survivors.shrink(this.#engine, call, signal)
    this.#successor = new PeerGroup(this.#hub, engine, this.#survivors)
    return this.#successor
  }

  /** @internal Async, so that whatever goes wrong rejects, arguments too. */
  async carryOut<T>(call: CollectiveCall<T>): Promise<T> {
    const { options } = call
    checkCollective(call.name, options)
    const { plan, memory } = call.prepare(this.#shape)
    const { signal } = options
    const timeoutMs = checkedTimeout(options)
    signal?.throwIfAborted()
    const engine = this.#engine
    let timer: NodeJS.Timeout | undefined
    let abort = (): void => {}
    try {
      await new Promise<void>((resolve, reject) => {
        const run = engine.begin(plan, memory, performance.now(), resolve, reject)
        if (run.over) return
        this.#hub.watch()
        // It may be done already, and who awaits it not have been told yet.
        const giveUp = (why: unknown): void => {
          if (!run.over) engine.giveUp(why)
        }
        abort = () => giveUp(signal?.reason)
        if (timeoutMs <= TIMER_MS_MAX) timer = setTimeout(() => giveUp(this.#timeout(run, timeoutMs)), timeoutMs)
        signal?.addEventListener('abort', abort, { once: true })
        // By what combines, while the call began.
        if (signal?.aborted === true) abort()
      })
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
    return call.result(this.rank)
  }

  /** @internal */
  carryOutSync<T>(call: CollectiveCall<T>): T {
    const { options } = call
    checkCollective(call.name, options)
    const { plan, memory } = call.prepare(this.#shape)
    checkNotCombining()
    const { signal } = options
    const timeoutMs = checkedTimeout(options)
    signal?.throwIfAborted()
    // A function of the program may throw anything, `undefined` too.
    let failure: { readonly error: unknown } | undefined
    const fail = (error: unknown): void => {
      failure = { error }
    }
    const run = this.#engine.begin(plan, memory, performance.now(), () => {}, fail)
    if (!run.over) {
      try {
        this.#hub.spin(
          () => run.over,
          this.#channels(),
          timeoutMs,
          () => plan.call,
          () => describeCollective(this.#engine, run),
        )
      } catch (error) {
        if (!(error instanceof TimeoutError)) throw error
        this.#engine.giveUp(this.#timeout(run, timeoutMs))
      }
    }
    this.#hub.flush()
    if (failure !== undefined) throw (failure as { readonly error: unknown }).error
    return call.result(this.rank)
  }

  #channels(): PeerChannel[] {
    return this.members.flatMap((member) => this.#hub.get(member)?.channel ?? [])
  }

  #timeout(run: CollectiveRun, timeoutMs: number): TimeoutError {
    const parts = [`${run.plan.call} did not finish within ${timeoutMs} ms`, whomItWaitsFor(run)]
    const others = this.members.filter((peer) => this.#hub.hasBegunOther(peer))
    if (others.length > 0)
      parts.push(
        `peer ${others.join(', ')} has begun a group that is not made here; make it from the same list at every member`,
      )
    return new TimeoutError(parts.filter((part) => part !== '').join('; '))
  }
}

/** Infinity: never. @throws ArgumentError */
function checkedTimeout({ timeoutMs = Number.POSITIVE_INFINITY }: CollectiveOptions): number {
  if (typeof timeoutMs === 'number' && timeoutMs >= 0) return timeoutMs
  throw mustBe('timeoutMs', 'a number of milliseconds of at least 0', timeoutMs)
}
