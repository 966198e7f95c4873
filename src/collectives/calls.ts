import { ArgumentError, checkBoolean, checkOptions, mustBe, type OptionNames } from '../native/index.ts'
import { algorithms, type CollectiveName, rankOrderAlgorithms } from './algorithms.ts'
import {
  checkApart,
  checkDisjoint,
  checkLength,
  checkParts,
  checkRank,
  checkSame,
  partsOf,
  shareBytes,
} from './call-checks.ts'
import { defaultAlgorithm } from './choose.ts'
import type { CollectiveOptions, CountsOptions, ReductionOptions, RootOptions } from './collective-options.ts'
import { type ElementArray, type ElementKind, type ElementOf, elementKind, elementKindOf } from './element-kind.ts'
import { type Kernel, kernelFor, needsRankOrder, type Operation, operationName } from './operation.ts'
import { prefixSums } from './parts.ts'
import { type Plan, planOf } from './plan.ts'
import type { RunMemory } from './run-memory.ts'
import type { Schedule } from './schedule.ts'
import type { Shape } from './shape.ts'

/** A call whose arguments were checked. */
interface PreparedCall {
  readonly plan: Plan
  readonly memory: RunMemory
}

/** The options that choose a schedule. */
interface AnyOptions {
  readonly algorithm?: string
  readonly deterministic?: boolean
}

type CallOptions = CollectiveOptions & ReductionOptions

/** A collective that a rank calls, before its arguments are checked. */
export interface CollectiveCall<T> {
  readonly name: CollectiveName
  readonly options: CollectiveOptions
  /**
   * Check the arguments, and make or look up what a rank does. The text of the plan holds what every rank has to call
   * alike.
   */
  prepare(shape: Shape): PreparedCall
  /** What the caller at this rank receives. */
  result(rank: number): T
}

export function broadcast<A extends ElementArray>(data: A, options: CallOptions & RootOptions): CollectiveCall<A> {
  return {
    name: 'broadcast',
    options,
    result: () => data,
    prepare: (shape) => {
      const { root = 0 } = options
      const kind = elementKindOf(data, 'data')
      checkRank(shape, root)
      const count = data.length
      const plan = draw(
        shape,
        'broadcast',
        kind,
        options,
        count * kind.bytes,
        `from ${root} of ${count}`,
        (table, algorithm) => table[algorithm]({ ...at(shape), root, count }),
      )
      return { plan, memory: { input: data, output: data, kernel: undefined } }
    },
  }
}

export function scatter<A extends ElementArray>(
  input: A | undefined,
  output: A,
  options: CallOptions & RootOptions & CountsOptions,
): CollectiveCall<A> {
  return {
    name: 'scatter',
    options,
    result: () => output,
    prepare: (shape) => {
      const { root = 0 } = options
      const kind = elementKindOf(output, 'output')
      checkRank(shape, root)
      const { counts, total, text } = partsOf(shape, options.counts, output.length)
      checkLength('output', output, counts[shape.rank]!)
      const given = shape.rank === root ? checkSame(input, kind, 'input') : kind.allocate(0)
      if (shape.rank === root) {
        checkLength('input', given, total)
        checkApart(given, output, prefixSums(counts)[root]! * kind.bytes)
      }
      const plan = draw(
        shape,
        'scatter',
        kind,
        options,
        total * kind.bytes,
        `from ${root} of ${text}`,
        (table, algorithm) => table[algorithm]({ ...at(shape), root, counts }),
      )
      return { plan, memory: { input: given, output, kernel: undefined } }
    },
  }
}

export function gather<A extends ElementArray>(
  input: A,
  output: A | undefined,
  options: CallOptions & RootOptions & CountsOptions,
): CollectiveCall<A | undefined> {
  return {
    name: 'gather',
    options,
    result: (rank) => (rank === (options.root ?? 0) ? output : undefined),
    prepare: (shape) => {
      const { root = 0 } = options
      const kind = elementKindOf(input, 'input')
      checkRank(shape, root)
      const { counts, total, text } = partsOf(shape, options.counts, input.length)
      checkLength('input', input, counts[shape.rank]!)
      const result = shape.rank === root ? checkSame(output, kind, 'output') : kind.allocate(0)
      if (shape.rank === root) {
        checkLength('output', result, total)
        checkApart(result, input, prefixSums(counts)[root]! * kind.bytes)
      }
      const plan = draw(
        shape,
        'gather',
        kind,
        options,
        total * kind.bytes,
        `to ${root} of ${text}`,
        (table, algorithm) => table[algorithm]({ ...at(shape), root, counts }),
      )
      return { plan, memory: { input, output: result, kernel: undefined } }
    },
  }
}

export function allGather<A extends ElementArray>(
  input: A,
  output: A,
  options: CallOptions & CountsOptions,
): CollectiveCall<A> {
  return {
    name: 'allGather',
    options,
    result: () => output,
    prepare: (shape) => {
      const kind = elementKindOf(input, 'input')
      const { counts, total, text } = partsOf(shape, options.counts, input.length)
      checkLength('input', input, counts[shape.rank]!)
      checkLength('output', checkSame(output, kind, 'output'), total)
      checkApart(output, input, prefixSums(counts)[shape.rank]! * kind.bytes)
      const plan = draw(shape, 'allGather', kind, options, total * kind.bytes, `of ${text}`, (table, algorithm) =>
        table[algorithm]({ ...at(shape), counts }),
      )
      return { plan, memory: { input, output, kernel: undefined } }
    },
  }
}

export function reduce<A extends ElementArray>(
  input: A,
  operation: Operation<ElementOf<A>>,
  output: A | undefined,
  options: CallOptions & RootOptions,
): CollectiveCall<A | undefined> {
  return {
    name: 'reduce',
    options,
    result: (rank) => (rank === (options.root ?? 0) ? (output ?? input) : undefined),
    prepare: (shape) => {
      const { root = 0 } = options
      const kind = elementKindOf(input, 'input')
      checkRank(shape, root)
      const { kernel, name, ordered } = combination(operation, kind, options)
      const count = input.length
      const result = shape.rank === root ? checkSame(output ?? input, kind, 'output') : kind.allocate(0)
      if (shape.rank === root) {
        checkLength('output', result, count)
        checkApart(result, input, 0)
      }
      const what = `${name} at ${root} of ${count}`
      const plan = draw(shape, 'reduce', kind, ordered, count * kind.bytes, what, (table, algorithm) =>
        table[algorithm]({ ...at(shape), root, count }),
      )
      return { plan, memory: { input, output: result, kernel } }
    },
  }
}

export function allReduce<A extends ElementArray>(
  input: A,
  operation: Operation<ElementOf<A>>,
  output: A,
  options: CallOptions,
): CollectiveCall<A> {
  return {
    name: 'allReduce',
    options,
    result: () => output,
    prepare: (shape) => {
      const kind = elementKindOf(input, 'input')
      const { kernel, name, ordered } = combination(operation, kind, options)
      const count = input.length
      checkLength('output', checkSame(output, kind, 'output'), count)
      checkApart(output, input, 0)
      const what = `${name} of ${count}`
      const plan = draw(shape, 'allReduce', kind, ordered, count * kind.bytes, what, (table, algorithm) =>
        table[algorithm]({ ...at(shape), count }),
      )
      return { plan, memory: { input, output, kernel } }
    },
  }
}

export function reduceScatter<A extends ElementArray>(
  input: A,
  operation: Operation<ElementOf<A>>,
  output: A,
  options: CallOptions & CountsOptions,
): CollectiveCall<A> {
  return {
    name: 'reduceScatter',
    options,
    result: () => output,
    prepare: (shape) => {
      const kind = elementKindOf(input, 'input')
      const { kernel, name, ordered } = combination(operation, kind, options)
      checkSame(output, kind, 'output')
      const { counts, total, text } = partsOf(shape, options.counts, output.length)
      checkLength('input', input, total)
      checkLength('output', output, counts[shape.rank]!)
      checkApart(input, output, prefixSums(counts)[shape.rank]! * kind.bytes)
      const what = `${name} of ${text}`
      const plan = draw(shape, 'reduceScatter', kind, ordered, total * kind.bytes, what, (table, algorithm) =>
        table[algorithm]({ ...at(shape), counts }),
      )
      return { plan, memory: { input, output, kernel } }
    },
  }
}

export function scan<A extends ElementArray>(
  input: A,
  operation: Operation<ElementOf<A>>,
  output: A,
  options: CallOptions,
  exclusive: boolean,
): CollectiveCall<A> {
  return {
    name: 'scan',
    options,
    result: () => output,
    prepare: (shape) => {
      const kind = elementKindOf(input, 'input')
      const { kernel, name, ordered } = combination(operation, kind, options)
      const count = input.length
      checkLength('output', checkSame(output, kind, 'output'), count)
      checkApart(output, input, 0)
      const what = `${exclusive ? 'exclusive ' : ''}${name} of ${count}`
      const plan = draw(shape, 'scan', kind, ordered, count * kind.bytes, what, (table, algorithm) =>
        table[algorithm]({ ...at(shape), count, exclusive }),
      )
      return { plan, memory: { input, output, kernel } }
    },
  }
}

export function allToAll<A extends ElementArray>(input: A, output: A, options: CallOptions): CollectiveCall<A> {
  return {
    name: 'allToAll',
    options,
    result: () => output,
    prepare: (shape) => {
      const kind = elementKindOf(input, 'input')
      const count = input.length / shape.size
      if (!Number.isInteger(count))
        throw new ArgumentError(
          'input',
          `input must have elements for ${shape.size} equal parts, not ${input.length}; use allToAllV for unequal ones`,
        )
      checkLength('output', checkSame(output, kind, 'output'), input.length)
      checkApart(output, input, 0)
      // A rank in place meets the others in another order, so all have to be.
      const inPlace = count > 0 && input.buffer === output.buffer && input.byteOffset === output.byteOffset
      const what = `${inPlace ? 'in place ' : ''}of ${count} each`
      const plan = draw(shape, 'allToAll', kind, options, input.byteLength, what, (table, algorithm) =>
        table[algorithm]({ ...at(shape), count, inPlace }),
      )
      return { plan, memory: { input, output, kernel: undefined } }
    },
  }
}

/** For `allToAllV`: lengths and places of the parts, by rank. */
export interface PartLengths {
  readonly sendCounts: readonly number[]
  readonly receiveCounts: readonly number[]
  /** Default: consecutive. */
  readonly sendOffsets?: readonly number[]
  readonly receiveOffsets?: readonly number[]
}

const lengthNames: OptionNames<PartLengths> = {
  sendCounts: true,
  receiveCounts: true,
  sendOffsets: true,
  receiveOffsets: true,
}

/** Lists of the right kind; what they hold is checked with the arrays. @throws ArgumentError */
function checkLengths(lengths: PartLengths): void {
  if (lengths === undefined) throw mustBe('lengths', 'an object such as { sendCounts, receiveCounts }', lengths)
  checkOptions('allToAllV', lengths, lengthNames, 'lengths')
  const { sendCounts, receiveCounts, sendOffsets = [], receiveOffsets = [] } = lengths
  for (const [name, list] of Object.entries({ sendCounts, receiveCounts, sendOffsets, receiveOffsets }))
    if (!Array.isArray(list)) throw mustBe(`lengths.${name}`, 'an array with a number for each rank', list)
}

export function allToAllV<A extends ElementArray>(
  input: A,
  output: A,
  lengths: PartLengths,
  options: CallOptions,
): CollectiveCall<A> {
  return {
    name: 'allToAllV',
    options,
    result: () => output,
    prepare: (shape) => {
      const kind = elementKindOf(input, 'input')
      checkSame(output, kind, 'output')
      checkLengths(lengths)
      const { sendCounts, receiveCounts } = lengths
      const sendOffsets = lengths.sendOffsets ?? prefixSums(sendCounts)
      const receiveOffsets = lengths.receiveOffsets ?? prefixSums(receiveCounts)
      checkParts(shape, 'send', sendCounts, sendOffsets, input.length)
      checkParts(shape, 'receive', receiveCounts, receiveOffsets, output.length)
      checkDisjoint(receiveCounts, receiveOffsets)
      if (sendCounts[shape.rank] !== receiveCounts[shape.rank])
        throw new ArgumentError(
          'receiveCounts',
          'the part that this rank sends to itself must be as long as the one it receives from itself',
        )
      const algorithm = chooseAlgorithm('allToAllV', options, shape, 0)
      const schedule = algorithms.allToAllV[algorithm]({
        ...at(shape),
        sendCounts,
        sendOffsets,
        receiveCounts,
        receiveOffsets,
        sharing: shareBytes(output, input),
      })
      // Lengths are the business of two ranks at a time: each stream says its own.
      const plan = planOf(`allToAllV of ${kind.name} by ${algorithm}`, kind, schedule, `allToAllV/${algorithm}`)
      return { plan, memory: { input, output, kernel: undefined } }
    },
  }
}

export function barrier(options: CallOptions): CollectiveCall<void> {
  return {
    name: 'barrier',
    options,
    result: () => {},
    prepare: (shape) => {
      const kind = elementKind('uint8')
      const plan = draw(shape, 'barrier', kind, options, 0, '', (table, algorithm) => table[algorithm](at(shape)))
      const none = kind.allocate(0)
      return { plan, memory: { input: none, output: none, kernel: undefined } }
    },
  }
}

// ---- what they share
// -----------------------------------------------------------------------------------------------------------------

function at({ rank, size }: Shape): { readonly rank: number; readonly size: number } {
  return { rank, size }
}

function draw<Name extends CollectiveName>(
  shape: Shape,
  collective: Name,
  kind: ElementKind,
  options: AnyOptions,
  bytes: number,
  what: string,
  schedule: (table: (typeof algorithms)[Name], algorithm: keyof (typeof algorithms)[Name]) => Schedule,
): Plan {
  const algorithm = chooseAlgorithm(collective, options, shape, bytes)
  const call = `${collective} ${what} ${kind.name} by ${String(algorithm)}`
  const name = `${collective}/${String(algorithm)}`
  return shape.plans.get(call, () => planOf(call, kind, schedule(algorithms[collective], algorithm), name))
}

function chooseAlgorithm<Name extends CollectiveName>(
  collective: Name,
  options: AnyOptions,
  { size, oneMachine }: Shape,
  bytes: number,
): keyof (typeof algorithms)[Name] {
  const { algorithm, deterministic: rankOrder = false } = options
  checkBoolean('deterministic', rankOrder)
  if (algorithm === undefined) return defaultAlgorithm(collective, { size, bytes, rankOrder, oneMachine })
  const table = algorithms[collective]
  if (typeof algorithm !== 'string' || !Object.hasOwn(table, algorithm))
    throw mustBe('algorithm', `one of ${Object.keys(table).join(', ')} for ${collective}`, algorithm)
  const ordered: Readonly<Record<string, readonly string[]>> = rankOrderAlgorithms
  if (rankOrder && !ordered[collective]?.includes(algorithm))
    throw new ArgumentError(
      'algorithm',
      `the algorithm ${algorithm} does not combine in the order of ranks; ${ordered[collective]?.join(' and ')} do; pass one of them, or leave it out`,
    )
  return algorithm as keyof (typeof algorithms)[Name]
}

/** What combines the elements, its name, and the options with the order of ranks if it needs that. */
function combination<A extends ElementArray>(
  given: Operation<ElementOf<A>>,
  kind: ElementKind,
  options: CallOptions,
): { readonly kernel: Kernel; readonly name: string; readonly ordered: AnyOptions } {
  const operation = given as Operation<never>
  // Checks it.
  const kernel = kernelFor(operation, kind)
  const ordered = needsRankOrder(operation) ? { ...options, deterministic: true } : options
  return { kernel, name: operationName(operation), ordered }
}
