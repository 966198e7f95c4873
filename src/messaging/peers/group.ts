import { performance } from 'node:perf_hooks'
import { ArgumentError, mustBe, TimeoutError } from '../../native/index.ts'
import type { AllGatherAlgorithm } from '../collectives/all-gather.ts'
import type { AllReduceAlgorithm } from '../collectives/all-reduce.ts'
import type { AllToAllAlgorithm, AllToAllVAlgorithm } from '../collectives/all-to-all.ts'
import type { BarrierAlgorithm } from '../collectives/barrier.ts'
import type { BroadcastAlgorithm } from '../collectives/broadcast.ts'
import type { CollectiveName } from '../collectives/choose.ts'
import type { ElementArray, ElementOf } from '../collectives/element-kind.ts'
import type { GatherAlgorithm } from '../collectives/gather.ts'
import type { Operation } from '../collectives/operation.ts'
import type { ReduceAlgorithm } from '../collectives/reduce.ts'
import type { ReduceScatterAlgorithm } from '../collectives/reduce-scatter.ts'
import type { ScanAlgorithm } from '../collectives/scan.ts'
import type { ScatterAlgorithm } from '../collectives/scatter.ts'
import type { AgreementCall } from './agreement.ts'
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
import {
  type CollectiveOptions,
  type CountsOptions,
  checkCollective,
  type ReductionOptions,
  type RootOptions,
} from './collective-options.ts'
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

/**
 * Peers that compute together. Every member makes the group from the same list, and calls the same collectives with the
 * same lengths in the same order. Several may be under way at once. Do not change a caller's arrays until the call is
 * over.
 *
 * Once a collective has failed (a member is gone, gave up, or made another call) the group is over. This and every
 * later call reject with the reason at every rank. The remaining members go on in the group from `shrink`, or make
 * another.
 */
export class PeerGroup {
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

  /** Why collectives are no longer possible; undefined while they are. */
  get failure(): Error | undefined {
    return this.#engine.failure
  }

  /** Copy the root's `data` into every rank's `data`. */
  broadcast<A extends ElementArray>(
    data: A,
    options: CollectiveOptions<BroadcastAlgorithm> & RootOptions = {},
  ): Promise<A> {
    return this.#run('broadcast', () => prepareBroadcast(this.#shape, data, options.root ?? 0, options), options, data)
  }

  broadcastSync<A extends ElementArray>(data: A, options: CollectiveOptions<BroadcastAlgorithm> & RootOptions = {}): A {
    return this.#runSync(
      'broadcast',
      () => prepareBroadcast(this.#shape, data, options.root ?? 0, options),
      options,
      data,
    )
  }

  /**
   * Copy part i of the root's `input` into the `output` of rank i. In place at the root: `output` is that part of
   * `input`. Other ranks pass undefined as `input`.
   */
  scatter<A extends ElementArray>(
    input: A | undefined,
    output: A,
    options: CollectiveOptions<ScatterAlgorithm> & RootOptions & CountsOptions = {},
  ): Promise<A> {
    return this.#run(
      'scatter',
      () => prepareScatter(this.#shape, input, output, options.root ?? 0, options),
      options,
      output,
    )
  }

  scatterSync<A extends ElementArray>(
    input: A | undefined,
    output: A,
    options: CollectiveOptions<ScatterAlgorithm> & RootOptions & CountsOptions = {},
  ): A {
    return this.#runSync(
      'scatter',
      () => prepareScatter(this.#shape, input, output, options.root ?? 0, options),
      options,
      output,
    )
  }

  /**
   * Copy the `input` of rank i into part i of the root's `output`. In place at the root: `input` is that part of
   * `output`. Other ranks pass undefined as `output`, and receive undefined.
   */
  gather<A extends ElementArray>(
    input: A,
    output?: A,
    options: CollectiveOptions<GatherAlgorithm> & RootOptions & CountsOptions = {},
  ): Promise<A | undefined> {
    const root = options?.root ?? 0
    const result = this.rank === root ? output : undefined
    return this.#run('gather', () => prepareGather(this.#shape, input, output, root, options), options, result)
  }

  gatherSync<A extends ElementArray>(
    input: A,
    output?: A,
    options: CollectiveOptions<GatherAlgorithm> & RootOptions & CountsOptions = {},
  ): A | undefined {
    const root = options?.root ?? 0
    const result = this.rank === root ? output : undefined
    return this.#runSync('gather', () => prepareGather(this.#shape, input, output, root, options), options, result)
  }

  /**
   * Copy the `input` of rank i into part i of every rank's `output`. In place: `input` is this rank's part of `output`.
   */
  allGather<A extends ElementArray>(
    input: A,
    output: A,
    options: CollectiveOptions<AllGatherAlgorithm> & CountsOptions = {},
  ): Promise<A> {
    return this.#run('allGather', () => prepareAllGather(this.#shape, input, output, options), options, output)
  }

  allGatherSync<A extends ElementArray>(
    input: A,
    output: A,
    options: CollectiveOptions<AllGatherAlgorithm> & CountsOptions = {},
  ): A {
    return this.#runSync('allGather', () => prepareAllGather(this.#shape, input, output, options), options, output)
  }

  /** Combine all inputs, element by element, into the root's `output`; without one, into the root's `input`. */
  reduce<A extends ElementArray>(
    input: A,
    operation: Operation<ElementOf<A>>,
    output?: A,
    options: CollectiveOptions<ReduceAlgorithm> & RootOptions & ReductionOptions = {},
  ): Promise<A | undefined> {
    const root = options?.root ?? 0
    const result = this.rank === root ? (output ?? input) : undefined
    return this.#run(
      'reduce',
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
    const root = options?.root ?? 0
    const result = this.rank === root ? (output ?? input) : undefined
    return this.#runSync(
      'reduce',
      () => prepareReduce(this.#shape, input, output, operation as Operation<never>, root, options),
      options,
      result,
    )
  }

  /** Combine all inputs, element by element, into every rank's `output`; without one, into `input`. */
  allReduce<A extends ElementArray>(
    input: A,
    operation: Operation<ElementOf<A>>,
    output: A = input,
    options: CollectiveOptions<AllReduceAlgorithm> & ReductionOptions = {},
  ): Promise<A> {
    return this.#run(
      'allReduce',
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
      'allReduce',
      () => prepareAllReduce(this.#shape, input, output, operation as Operation<never>, options),
      options,
      output,
    )
  }

  /**
   * Combine all inputs, element by element, and copy part i of the result into the `output` of rank i. In place:
   * `output` is that part of `input`.
   */
  reduceScatter<A extends ElementArray>(
    input: A,
    operation: Operation<ElementOf<A>>,
    output: A,
    options: CollectiveOptions<ReduceScatterAlgorithm> & CountsOptions & ReductionOptions = {},
  ): Promise<A> {
    return this.#run(
      'reduceScatter',
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
      'reduceScatter',
      () => prepareReduceScatter(this.#shape, input, output, operation as Operation<never>, options),
      options,
      output,
    )
  }

  /** Combine the inputs of ranks 0 to r into the `output` of rank r; without one, into `input`. */
  scan<A extends ElementArray>(
    input: A,
    operation: Operation<ElementOf<A>>,
    output: A = input,
    options: CollectiveOptions<ScanAlgorithm> & ReductionOptions = {},
  ): Promise<A> {
    return this.#run(
      'scan',
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
      'scan',
      () => prepareScan(this.#shape, input, output, operation as Operation<never>, false, options),
      options,
      output,
    )
  }

  /** Combine the inputs of ranks 0 to r - 1 into the `output` of rank r. Rank 0's output does not change. */
  exclusiveScan<A extends ElementArray>(
    input: A,
    operation: Operation<ElementOf<A>>,
    output: A = input,
    options: CollectiveOptions<ScanAlgorithm> & ReductionOptions = {},
  ): Promise<A> {
    return this.#run(
      'scan',
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
      'scan',
      () => prepareScan(this.#shape, input, output, operation as Operation<never>, true, options),
      options,
      output,
    )
  }

  /**
   * Copy part j of the `input` of rank i into part i of the `output` of rank j. All parts have the same length. In
   * place, at every rank or none: `output` is `input`.
   */
  allToAll<A extends ElementArray>(
    input: A,
    output: A,
    options: CollectiveOptions<AllToAllAlgorithm> = {},
  ): Promise<A> {
    return this.#run('allToAll', () => prepareAllToAll(this.#shape, input, output, options), options, output)
  }

  allToAllSync<A extends ElementArray>(input: A, output: A, options: CollectiveOptions<AllToAllAlgorithm> = {}): A {
    return this.#runSync('allToAll', () => prepareAllToAll(this.#shape, input, output, options), options, output)
  }

  /**
   * Do {@link allToAll} with parts of any length and place. What rank i sends to rank j is as long as what rank j
   * receives from rank i. `output` may share memory with `input` in any way, at any rank.
   */
  allToAllV<A extends ElementArray>(
    input: A,
    output: A,
    lengths: PartLengths,
    options: CollectiveOptions<AllToAllVAlgorithm> = {},
  ): Promise<A> {
    return this.#run('allToAllV', () => prepareAllToAllV(this.#shape, input, output, lengths, options), options, output)
  }

  allToAllVSync<A extends ElementArray>(
    input: A,
    output: A,
    lengths: PartLengths,
    options: CollectiveOptions<AllToAllVAlgorithm> = {},
  ): A {
    return this.#runSync(
      'allToAllV',
      () => prepareAllToAllV(this.#shape, input, output, lengths, options),
      options,
      output,
    )
  }

  /** Wait until every member has called it. */
  barrier(options: CollectiveOptions<BarrierAlgorithm> = {}): Promise<void> {
    return this.#run('barrier', () => prepareBarrier(this.#shape, options), options, undefined)
  }

  barrierSync(options: CollectiveOptions<BarrierAlgorithm> = {}): void {
    this.#runSync('barrier', () => prepareBarrier(this.#shape, options), options, undefined)
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
    if (this.#shrunk !== undefined)
      return signal === undefined ? this.#shrunk : untilAborted(this.#shrunk, signal, () => {})
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
    const group = new PeerGroup(this.#hub, this.#hub.shrinkSync(this.#engine, call, this.#channels()))
    this.#successor = group
    this.#shrunk = Promise.resolve(group)
    return group
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
    const engine = await this.#hub.shrink(this.#engine, call, signal)
    this.#successor = new PeerGroup(this.#hub, engine)
    return this.#successor
  }

  /** Async, so that whatever goes wrong rejects, arguments too. */
  async #run<T>(call: CollectiveName, prepare: () => PreparedCall, options: CollectiveOptions, result: T): Promise<T> {
    checkCollective(call, options)
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

  #runSync<T>(call: CollectiveName, prepare: () => PreparedCall, options: CollectiveOptions, result: T): T {
    checkCollective(call, options)
    const { plan, memory } = prepare()
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
