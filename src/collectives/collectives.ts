import type { AllGatherAlgorithm } from './all-gather.ts'
import type { AllReduceAlgorithm } from './all-reduce.ts'
import type { AllToAllAlgorithm, AllToAllVAlgorithm } from './all-to-all.ts'
import type { BroadcastAlgorithm } from './broadcast.ts'
import {
  allGather,
  allReduce,
  allToAll,
  allToAllV,
  broadcast,
  type CollectiveCall,
  gather,
  type PartLengths,
  reduce,
  reduceScatter,
  scan,
  scatter,
} from './calls.ts'
import type { CollectiveOptions, CountsOptions, ReductionOptions, RootOptions } from './collective-options.ts'
import type { ElementArray, ElementOf } from './element-kind.ts'
import type { GatherAlgorithm } from './gather.ts'
import type { Operation } from './operation.ts'
import type { ReduceAlgorithm } from './reduce.ts'
import type { ReduceScatterAlgorithm } from './reduce-scatter.ts'
import type { ScanAlgorithm } from './scan.ts'
import type { ScatterAlgorithm } from './scatter.ts'

/**
 * What ranks compute together. Every rank calls the same collectives with the same lengths in the same order. Several
 * may be under way at once. Do not change a caller's arrays until the call is over.
 */
export abstract class Collectives {
  /** Copy the root's `data` into every rank's `data`. */
  broadcast<A extends ElementArray>(
    data: A,
    options: CollectiveOptions<BroadcastAlgorithm> & RootOptions = {},
  ): Promise<A> {
    return this.carryOut(broadcast(data, options))
  }

  broadcastSync<A extends ElementArray>(data: A, options: CollectiveOptions<BroadcastAlgorithm> & RootOptions = {}): A {
    return this.carryOutSync(broadcast(data, options))
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
    return this.carryOut(scatter(input, output, options))
  }

  scatterSync<A extends ElementArray>(
    input: A | undefined,
    output: A,
    options: CollectiveOptions<ScatterAlgorithm> & RootOptions & CountsOptions = {},
  ): A {
    return this.carryOutSync(scatter(input, output, options))
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
    return this.carryOut(gather(input, output, options))
  }

  gatherSync<A extends ElementArray>(
    input: A,
    output?: A,
    options: CollectiveOptions<GatherAlgorithm> & RootOptions & CountsOptions = {},
  ): A | undefined {
    return this.carryOutSync(gather(input, output, options))
  }

  /**
   * Copy the `input` of rank i into part i of every rank's `output`. In place: `input` is this rank's part of `output`.
   */
  allGather<A extends ElementArray>(
    input: A,
    output: A,
    options: CollectiveOptions<AllGatherAlgorithm> & CountsOptions = {},
  ): Promise<A> {
    return this.carryOut(allGather(input, output, options))
  }

  allGatherSync<A extends ElementArray>(
    input: A,
    output: A,
    options: CollectiveOptions<AllGatherAlgorithm> & CountsOptions = {},
  ): A {
    return this.carryOutSync(allGather(input, output, options))
  }

  /** Combine all inputs, element by element, into the root's `output`; without one, into the root's `input`. */
  reduce<A extends ElementArray>(
    input: A,
    operation: Operation<ElementOf<A>>,
    output?: A,
    options: CollectiveOptions<ReduceAlgorithm> & RootOptions & ReductionOptions = {},
  ): Promise<A | undefined> {
    return this.carryOut(reduce(input, operation, output, options))
  }

  reduceSync<A extends ElementArray>(
    input: A,
    operation: Operation<ElementOf<A>>,
    output?: A,
    options: CollectiveOptions<ReduceAlgorithm> & RootOptions & ReductionOptions = {},
  ): A | undefined {
    return this.carryOutSync(reduce(input, operation, output, options))
  }

  /** Combine all inputs, element by element, into every rank's `output`; without one, into `input`. */
  allReduce<A extends ElementArray>(
    input: A,
    operation: Operation<ElementOf<A>>,
    output: A = input,
    options: CollectiveOptions<AllReduceAlgorithm> & ReductionOptions = {},
  ): Promise<A> {
    return this.carryOut(allReduce(input, operation, output, options))
  }

  allReduceSync<A extends ElementArray>(
    input: A,
    operation: Operation<ElementOf<A>>,
    output: A = input,
    options: CollectiveOptions<AllReduceAlgorithm> & ReductionOptions = {},
  ): A {
    return this.carryOutSync(allReduce(input, operation, output, options))
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
    return this.carryOut(reduceScatter(input, operation, output, options))
  }

  reduceScatterSync<A extends ElementArray>(
    input: A,
    operation: Operation<ElementOf<A>>,
    output: A,
    options: CollectiveOptions<ReduceScatterAlgorithm> & CountsOptions & ReductionOptions = {},
  ): A {
    return this.carryOutSync(reduceScatter(input, operation, output, options))
  }

  /** Combine the inputs of ranks 0 to r into the `output` of rank r; without one, into `input`. */
  scan<A extends ElementArray>(
    input: A,
    operation: Operation<ElementOf<A>>,
    output: A = input,
    options: CollectiveOptions<ScanAlgorithm> & ReductionOptions = {},
  ): Promise<A> {
    return this.carryOut(scan(input, operation, output, options, false))
  }

  scanSync<A extends ElementArray>(
    input: A,
    operation: Operation<ElementOf<A>>,
    output: A = input,
    options: CollectiveOptions<ScanAlgorithm> & ReductionOptions = {},
  ): A {
    return this.carryOutSync(scan(input, operation, output, options, false))
  }

  /** Combine the inputs of ranks 0 to r - 1 into the `output` of rank r. Rank 0's output does not change. */
  exclusiveScan<A extends ElementArray>(
    input: A,
    operation: Operation<ElementOf<A>>,
    output: A = input,
    options: CollectiveOptions<ScanAlgorithm> & ReductionOptions = {},
  ): Promise<A> {
    return this.carryOut(scan(input, operation, output, options, true))
  }

  exclusiveScanSync<A extends ElementArray>(
    input: A,
    operation: Operation<ElementOf<A>>,
    output: A = input,
    options: CollectiveOptions<ScanAlgorithm> & ReductionOptions = {},
  ): A {
    return this.carryOutSync(scan(input, operation, output, options, true))
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
    return this.carryOut(allToAll(input, output, options))
  }

  allToAllSync<A extends ElementArray>(input: A, output: A, options: CollectiveOptions<AllToAllAlgorithm> = {}): A {
    return this.carryOutSync(allToAll(input, output, options))
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
    return this.carryOut(allToAllV(input, output, lengths, options))
  }

  allToAllVSync<A extends ElementArray>(
    input: A,
    output: A,
    lengths: PartLengths,
    options: CollectiveOptions<AllToAllVAlgorithm> = {},
  ): A {
    return this.carryOutSync(allToAllV(input, output, lengths, options))
  }

  /** @internal */
  protected abstract carryOut<T>(call: CollectiveCall<T>): Promise<T>

  /** @internal The same, blocking the thread. */
  protected abstract carryOutSync<T>(call: CollectiveCall<T>): T
}
