import { performance } from 'node:perf_hooks'
import { ArgumentError, TimeoutError } from '../../native/index.ts'
import type { AllGatherAlgorithm } from '../collectives/all-gather.ts'
import type { AllReduceAlgorithm } from '../collectives/all-reduce.ts'
import type { AllToAllAlgorithm, AllToAllVAlgorithm } from '../collectives/all-to-all.ts'
import type { BarrierAlgorithm } from '../collectives/barrier.ts'
import type { BroadcastAlgorithm } from '../collectives/broadcast.ts'
import type { ElementArray, ElementOf } from '../collectives/element-kind.ts'
import type { GatherAlgorithm } from '../collectives/gather.ts'
import type { Operation } from '../collectives/operation.ts'
import type { ReduceAlgorithm } from '../collectives/reduce.ts'
import type { ReduceScatterAlgorithm } from '../collectives/reduce-scatter.ts'
import type { ScanAlgorithm } from '../collectives/scan.ts'
import type { ScatterAlgorithm } from '../collectives/scatter.ts'
import {
  type PartLengths,
  type PreparedCall,
  prepareAllGather,
  prepareAllReduce,
  prepareAllToAll,
  prepareAllToAllV,
  prepareBarrier,
  prepareBroadcast,
  prepareGather,
  prepareReduce,
  prepareReduceScatter,
  prepareScan,
  prepareScatter,
  type Shape,
} from './calls.ts'
import type { CollectiveRun } from './collective-run.ts'
import { describeCollective, whomItWaitsFor } from './collective-waits.ts'
import { checkNotCombining } from './combining.ts'
import type { GroupEngine } from './group-engine.ts'
import type { Hub } from './hub.ts'
import type { PeerChannel } from './peer-channel.ts'
import { PlanCache } from './plan.ts'
import { agreementCall, type ShrinkOptions } from './shrink-options.ts'
import { untilAborted } from './until-aborted.ts'

/** What a timer counts at most; 24 days. */
const TIMER_MS_MAX = 2 ** 31 - 1

/** Of every collective. */
export interface CollectiveOptions<Algorithm extends string = string> {
  /** Default: chosen by size and number. Every rank names the same. */
  readonly algorithm?: Algorithm
  /** Give up after so long, which ends the group for every rank; default, and beyond 24 days: never. */
  readonly timeoutMs?: number
  /**
   * Give up when it is aborted, which ends the group for every rank. The `…Sync` forms look at it only at the start.
   */
  readonly signal?: AbortSignal
}

export interface RootOptions {
  /** The rank that gives, or gets, all; default 0. */
  readonly root?: number
}

export interface CountsOptions {
  /** Elements of each rank's part, the same list at every rank; default: all parts are as long as this rank's. */
  readonly counts?: readonly number[]
}

export interface ReductionOptions {
  /**
   * Combine as ((x0 op x1) op x2) op … in the order of ranks: the bits of floating-point results depend only on the
   * values and their ranks, not on the algorithm, the length or the timing. A little slower. Default false.
   */
  readonly deterministic?: boolean
}

/**
 * Peers that compute together. Every member makes the group from the same list, and calls the same collectives with the
 * same lengths in the same order; several may be under way at once. What a caller gives must not change until the call
 * is over.
 *
 * Once a collective has failed (a member is gone, gave up, or called something else) the group is over: this and every
 * later call rejects with the reason at every rank, and those that are left go on in the group that `shrink` gives, or
 * make another.
 */
export class PeerGroup {
  /** This process's place among the members. */
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

  /** @internal Made by {@link Peers.group}. */
  constructor(hub: Hub, engine: GroupEngine) {
    this.#hub = hub
    this.#engine = engine
    this.rank = engine.rank
    this.size = engine.peers.length
    this.members = engine.peers
    const oneMachine = hub.sharesMemoryWith(engine.peers)
    this.#shape = { rank: this.rank, size: this.size, oneMachine, plans: new PlanCache() }
  }

  /** Why no collective is possible any more; undefined: they are. */
  get failure(): Error | undefined {
    return this.#engine.failure
  }

  /** The root's `data` into everybody's. */
  broadcast<A extends ElementArray>(
    data: A,
    options: CollectiveOptions<BroadcastAlgorithm> & RootOptions = {},
  ): Promise<A> {
    return this.#run(() => prepareBroadcast(this.#shape, data, options.root ?? 0, options), options, data)
  }

  broadcastSync<A extends ElementArray>(data: A, options: CollectiveOptions<BroadcastAlgorithm> & RootOptions = {}): A {
    return this.#runSync(prepareBroadcast(this.#shape, data, options.root ?? 0, options), options, data)
  }

  /**
   * Part i of the root's `input` into the `output` of rank i. In place at the root: `output` is that part of `input`.
   * Others give undefined.
   */
  scatter<A extends ElementArray>(
    input: A | undefined,
    output: A,
    options: CollectiveOptions<ScatterAlgorithm> & RootOptions & CountsOptions = {},
  ): Promise<A> {
    return this.#run(() => prepareScatter(this.#shape, input, output, options.root ?? 0, options), options, output)
  }

  scatterSync<A extends ElementArray>(
    input: A | undefined,
    output: A,
    options: CollectiveOptions<ScatterAlgorithm> & RootOptions & CountsOptions = {},
  ): A {
    return this.#runSync(prepareScatter(this.#shape, input, output, options.root ?? 0, options), options, output)
  }

  /**
   * The `input` of rank i into part i of the root's `output`. In place at the root: `input` is that part of `output`.
   * Others give undefined, and get it.
   */
  gather<A extends ElementArray>(
    input: A,
    output?: A,
    options: CollectiveOptions<GatherAlgorithm> & RootOptions & CountsOptions = {},
  ): Promise<A | undefined> {
    const { root = 0 } = options
    const result = this.rank === root ? output : undefined
    return this.#run(() => prepareGather(this.#shape, input, output, root, options), options, result)
  }

  gatherSync<A extends ElementArray>(
    input: A,
    output?: A,
    options: CollectiveOptions<GatherAlgorithm> & RootOptions & CountsOptions = {},
  ): A | undefined {
    const { root = 0 } = options
    const result = this.rank === root ? output : undefined
    return this.#runSync(prepareGather(this.#shape, input, output, root, options), options, result)
  }

  /** The `input` of rank i into part i of everybody's `output`. In place: `input` is this rank's part of `output`. */
  allGather<A extends ElementArray>(
    input: A,
    output: A,
    options: CollectiveOptions<AllGatherAlgorithm> & CountsOptions = {},
  ): Promise<A> {
    return this.#run(() => prepareAllGather(this.#shape, input, output, options), options, output)
  }

  allGatherSync<A extends ElementArray>(
    input: A,
    output: A,
    options: CollectiveOptions<AllGatherAlgorithm> & CountsOptions = {},
  ): A {
    return this.#runSync(prepareAllGather(this.#shape, input, output, options), options, output)
  }

  /** All inputs combined, element by element, into the root's `output`; without one, into the root's `input`. */
  reduce<A extends ElementArray>(
    input: A,
    operation: Operation<ElementOf<A>>,
    output?: A,
    options: CollectiveOptions<ReduceAlgorithm> & RootOptions & ReductionOptions = {},
  ): Promise<A | undefined> {
    const { root = 0 } = options
    const result = this.rank === root ? (output ?? input) : undefined
    return this.#run(
      () => prepareReduce(this.#shape, input, output, operation as Operation<never>, root, options),
      options,
      result,
    )
  }

  reduceSync<A extends ElementArray>(
    input: A,
    operation: Operation<ElementOf<A>>,
    output?: A,
    options: CollectiveOptions<ReduceAlgorithm> & RootOptions & ReductionOptions = {},
  ): A | undefined {
    const { root = 0 } = options
    const result = this.rank === root ? (output ?? input) : undefined
    return this.#runSync(
      prepareReduce(this.#shape, input, output, operation as Operation<never>, root, options),
      options,
      result,
    )
  }

  /** All inputs combined, element by element, into everybody's `output`; without one, into `input`. */
  allReduce<A extends ElementArray>(
    input: A,
    operation: Operation<ElementOf<A>>,
    output: A = input,
    options: CollectiveOptions<AllReduceAlgorithm> & ReductionOptions = {},
  ): Promise<A> {
    return this.#run(
      () => prepareAllReduce(this.#shape, input, output, operation as Operation<never>, options),
      options,
      output,
    )
  }

  allReduceSync<A extends ElementArray>(
    input: A,
    operation: Operation<ElementOf<A>>,
    output: A = input,
    options: CollectiveOptions<AllReduceAlgorithm> & ReductionOptions = {},
  ): A {
    return this.#runSync(
      prepareAllReduce(this.#shape, input, output, operation as Operation<never>, options),
      options,
      output,
    )
  }

  /**
   * All inputs combined, element by element; part i of that into the `output` of rank i. In place: `output` is that
   * part of `input`.
   */
  reduceScatter<A extends ElementArray>(
    input: A,
    operation: Operation<ElementOf<A>>,
    output: A,
    options: CollectiveOptions<ReduceScatterAlgorithm> & CountsOptions & ReductionOptions = {},
  ): Promise<A> {
    return this.#run(
      () => prepareReduceScatter(this.#shape, input, output, operation as Operation<never>, options),
      options,
      output,
    )
  }

  reduceScatterSync<A extends ElementArray>(
    input: A,
    operation: Operation<ElementOf<A>>,
    output: A,
    options: CollectiveOptions<ReduceScatterAlgorithm> & CountsOptions & ReductionOptions = {},
  ): A {
    return this.#runSync(
      prepareReduceScatter(this.#shape, input, output, operation as Operation<never>, options),
      options,
      output,
    )
  }

  /** The inputs of ranks 0 to r combined into the `output` of rank r; without one, into `input`. */
  scan<A extends ElementArray>(
    input: A,
    operation: Operation<ElementOf<A>>,
    output: A = input,
    options: CollectiveOptions<ScanAlgorithm> & ReductionOptions = {},
  ): Promise<A> {
    return this.#run(
      () => prepareScan(this.#shape, input, output, operation as Operation<never>, false, options),
      options,
      output,
    )
  }

  scanSync<A extends ElementArray>(
    input: A,
    operation: Operation<ElementOf<A>>,
    output: A = input,
    options: CollectiveOptions<ScanAlgorithm> & ReductionOptions = {},
  ): A {
    return this.#runSync(
      prepareScan(this.#shape, input, output, operation as Operation<never>, false, options),
      options,
      output,
    )
  }

  /** The inputs of ranks 0 to r - 1 combined into the `output` of rank r; that of rank 0 stays as it is. */
  exclusiveScan<A extends ElementArray>(
    input: A,
    operation: Operation<ElementOf<A>>,
    output: A = input,
    options: CollectiveOptions<ScanAlgorithm> & ReductionOptions = {},
  ): Promise<A> {
    return this.#run(
      () => prepareScan(this.#shape, input, output, operation as Operation<never>, true, options),
      options,
      output,
    )
  }

  exclusiveScanSync<A extends ElementArray>(
    input: A,
    operation: Operation<ElementOf<A>>,
    output: A = input,
    options: CollectiveOptions<ScanAlgorithm> & ReductionOptions = {},
  ): A {
    return this.#runSync(
      prepareScan(this.#shape, input, output, operation as Operation<never>, true, options),
      options,
      output,
    )
  }

  /**
   * Part j of the `input` of rank i into part i of the `output` of rank j; all parts have the same length. In place, at
   * every rank or none: `output` is `input`.
   */
  allToAll<A extends ElementArray>(
    input: A,
    output: A,
    options: CollectiveOptions<AllToAllAlgorithm> = {},
  ): Promise<A> {
    return this.#run(() => prepareAllToAll(this.#shape, input, output, options), options, output)
  }

  allToAllSync<A extends ElementArray>(input: A, output: A, options: CollectiveOptions<AllToAllAlgorithm> = {}): A {
    return this.#runSync(prepareAllToAll(this.#shape, input, output, options), options, output)
  }

  /**
   * The same with parts of any length and place; what rank i sends to rank j is as long as what rank j receives from
   * rank i. `output` may share memory with `input` in any way, at any rank.
   */
  allToAllV<A extends ElementArray>(
    input: A,
    output: A,
    lengths: PartLengths,
    options: CollectiveOptions<AllToAllVAlgorithm> = {},
  ): Promise<A> {
    return this.#run(() => prepareAllToAllV(this.#shape, input, output, lengths, options), options, output)
  }

  allToAllVSync<A extends ElementArray>(
    input: A,
    output: A,
    lengths: PartLengths,
    options: CollectiveOptions<AllToAllVAlgorithm> = {},
  ): A {
    return this.#runSync(prepareAllToAllV(this.#shape, input, output, lengths, options), options, output)
  }

  /** Over when every member has called it. */
  barrier(options: CollectiveOptions<BarrierAlgorithm> = {}): Promise<void> {
    return this.#run(() => prepareBarrier(this.#shape, options), options, undefined)
  }

  barrierSync(options: CollectiveOptions<BarrierAlgorithm> = {}): void {
    this.#runSync(prepareBarrier(this.#shape, options), options, undefined)
  }

  /**
   * The group of those that are left: every member that still runs calls it after a collective has failed, and each
   * that gets a group gets the same one. Ends this group for all, where it has not failed. Called again it gives the
   * same group, or, where it was not agreed on, tries again; called while it is under way it waits for that one, and of
   * its options only `signal` counts, which ends its own wait alone.
   *
   * Each member of the new group had been reached by the one that led the agreement, and answered; but for one case:
   * where the leader itself dies at that very moment, what it may have decided stands, and names it and who else died
   * since. Then, as whenever a member dies later, the new group's collectives tell of the loss, and it can be shrunk in
   * turn. A member that gave up meanwhile (`signal`, `timeoutMs`) may be in the new group, too, where it had accepted
   * before; it gets that group when it calls again. See MPI_Comm_shrink (Bland et al., "Post-failure recovery of MPI
   * communication capability", 2013) for the use.
   * @throws AgreementError: this side is no majority, the others go on without this process, or nothing was agreed on
   * in time; CollectiveError where ranks give another `quorum`; ClosedError; the signal's reason.
   */
  shrink(options: ShrinkOptions = {}): Promise<PeerGroup> {
    const { signal } = options
    if (this.#shrunk !== undefined)
      return signal === undefined ? this.#shrunk : untilAborted(this.#shrunk, signal, () => {})
    this.#shrunk = this.#shrink(options).catch((error: unknown) => {
      this.#shrunk = undefined
      throw error
    })
    return this.#shrunk
  }

  /**
   * The same, spinning. `signal` is looked at only at the start. Gives the group that {@link shrink} gave, where it
   * did.
   * @throws ArgumentError too: while a `shrink` of this member is under way, which needs the event loop; from within
   * what combines.
   */
  shrinkSync(options: ShrinkOptions = {}): PeerGroup {
    if (this.#successor !== undefined) return this.#successor
    if (this.#shrunk !== undefined) throw new ArgumentError('group', 'it is being shrunk already; await that')
    const call = agreementCall(options)
    options.signal?.throwIfAborted()
    const group = new PeerGroup(this.#hub, this.#hub.shrinkSync(this.#engine, call, this.#channels()))
    this.#successor = group
    this.#shrunk = Promise.resolve(group)
    return group
  }

  /** Take no further part. Others can finish what was called before; who calls more is told. Idempotent. */
  close(): void {
    this.#engine.close()
    this.#hub.dropGroup(this.#engine)
  }

  [Symbol.dispose](): void {
    this.close()
  }

  async #shrink(options: ShrinkOptions): Promise<PeerGroup> {
    const engine = await this.#hub.shrink(this.#engine, agreementCall(options), options.signal)
    this.#successor = new PeerGroup(this.#hub, engine)
    return this.#successor
  }

  /** Async, so that whatever goes wrong rejects, arguments too. */
  async #run<T>(prepare: () => PreparedCall, options: CollectiveOptions, result: T): Promise<T> {
    const { plan, memory } = prepare()
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
    return result
  }

  #runSync<T>({ plan, memory }: PreparedCall, options: CollectiveOptions, result: T): T {
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
    return result
  }

  #channels(): PeerChannel[] {
    return this.members.flatMap((member) => this.#hub.get(member)?.channel ?? [])
  }

  #timeout(run: CollectiveRun, timeoutMs: number): TimeoutError {
    const parts = [`${run.plan.call} was not done within ${timeoutMs} ms`, whomItWaitsFor(run)]
    const others = this.members.filter((peer) => this.#hub.hasBegunOther(peer))
    if (others.length > 0)
      parts.push(
        `peer ${others.join(', ')} has begun a group that is not made here; all members make one from the same list`,
      )
    return new TimeoutError(parts.filter((part) => part !== '').join('; '))
  }
}

/** Infinity: never. @throws ArgumentError */
function checkedTimeout({ timeoutMs = Number.POSITIVE_INFINITY }: CollectiveOptions): number {
  if (timeoutMs >= 0) return timeoutMs
  throw new ArgumentError('timeoutMs', `timeoutMs is a number of milliseconds from 0 on, not ${timeoutMs}`)
}
