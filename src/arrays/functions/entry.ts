import type { Block } from '../blocks/block.ts'
import type { PartOfArray } from '../partitions/runs.ts'
import type { Scalar } from '../types/complex.ts'
import type { DType } from '../types/dtype.ts'

/**
 * A function of the namespace as data. A family of functions is one file in this folder. It has the entries, and for
 * TypeScript the types of the functions by their camelCase names. Each of the two has a line in `table.ts`.
 *
 * ```ts
 * export const statistics: readonly Entry[] = [
 *   {
 *     name: 'cumulative_sum',
 *     parameters: 'x, /, *, axis=None, dtype=None, include_initial=False',
 *     moves: 'exchange',
 *     compute: cumulativeSum, // (x: Block, options?: { axis?: number; includeInitial?: boolean }) => Block
 *   },
 * ]
 *
 * export interface Statistics {
 *   cumulativeSum: typeof cumulativeSum
 * }
 * ```
 *
 * The frame makes `xp.cumulativeSum(x, { axis: 0 })` of it. In its type an array stands for each Block (`Lifted` in
 * `namespace.ts`). What it does with a call:
 *
 * - An array becomes its block, with its elements computed: as an argument, in a list, or as a value of the options.
 * - `x`, `x1`, `x2` and `arrays` in `parameters` may also be scalars, nested lists and typed arrays. A scalar as `x1`
 *   or `x2` takes the data type of the other.
 * - A Block in the result becomes an array: as the result, in a list, or as a value of a record. A block over memory of
 *   an operand is a view of that array. All else is handed out as it is.
 * - If `result` is there, the call returns at once an array of that type and shape, which is computed when its elements
 *   are needed. `result` throws what is wrong with the arguments. Without it the call computes. A function that may
 *   return a view has none: a view shows what is written to the array later.
 */
export interface Entry {
  /** The name in the standard, or else in NumPy. Before it may stand an extension: `linalg.` or `fft.` */
  readonly name: string
  /** The parameters as Python writes them: `x, /, *, axis=None`. */
  readonly parameters: string
  /** What goes between ranks: nothing, some parts, one value of each rank, or all elements to every rank. */
  readonly moves: 'nothing' | 'exchange' | 'reduction' | 'everything'
  /** The function on blocks. It never changes its operands. */
  readonly compute: BlockFunction
  /** The data type and shape of the one block that is the result, from the operands' types and shapes alone. */
  readonly result?: ResultFunction
  /** How a rank makes its part of a new array by itself. Without it, it makes all, and keeps its part. */
  readonly part?: PartFunctions
}

/** Both take the operands of the call. */
interface PartFunctions {
  /** The shape of the whole array; undefined if its parts cannot be made apart. */
  // biome-ignore lint/suspicious/noExplicitAny: as below
  readonly shape: (...operands: any[]) => number | bigint | readonly (number | bigint)[] | undefined
  // biome-ignore lint/suspicious/noExplicitAny: as below
  readonly compute: (part: PartOfArray, ...operands: any[]) => Block
}

/**
 * A function that looks at no element: it makes pending arrays of arrays. Those of element-wise functions are computed
 * in one program with what is made of them.
 */
export interface NodeEntry {
  readonly name: string
  readonly parameters: string
  readonly moves: 'nothing' | 'exchange'
  readonly build: NodeFunction
}

/** Takes arrays as nodes of the graph, scalars, lists and options. */
// biome-ignore lint/suspicious/noExplicitAny: as below
type NodeFunction = (...operands: any[]) => unknown

/** Takes blocks, scalars, lists and options, and returns blocks: any function on blocks is one. */
// biome-ignore lint/suspicious/noExplicitAny: the parameters of a function in a table are contravariant
export type BlockFunction = (...operands: any[]) => unknown

/** Takes the same arguments. It looks only at `dtype` and `shape` of blocks, whose elements may not be there yet. */
// biome-ignore lint/suspicious/noExplicitAny: as above
type ResultFunction = (...operands: any[]) => { readonly dtype: DType; readonly shape: readonly number[] }

/** `cumulative_sum` in camelCase. */
export function camel(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

/** What may stand for an array: one scalar, a typed array, or lists in lists. */
export type ArrayLike = Scalar | ArrayBufferView | readonly ArrayLike[]
