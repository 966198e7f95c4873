import type { Block } from '../blocks/block.ts'
import type { Selection } from '../blocks/slicing.ts'
import type { Steps } from '../exchange/steps.ts'
import type { ElementFinder } from '../partitions/element-finder.ts'
import type { Scalar } from '../types/complex.ts'
import type { DType, Elements } from '../types/dtype.ts'
import { Epoch, Storage } from './storage.ts'

/** An operand as it was when the array that reads it was made. */
export interface Capture {
  readonly node: ArrayNode
  readonly epoch: Epoch
}

/** A scalar as an operand: the same element for every index. */
export interface Constant {
  readonly dtype: DType
  readonly value: Scalar
}

/** How an array that is not computed yet comes to be. */
export type Pending =
  | {
      readonly kind: 'step'
      readonly operation: string
      readonly from: DType
      readonly operands: readonly (Capture | Constant)[]
    }
  | { readonly kind: 'view'; readonly base: ArrayNode; readonly view: (block: Block) => Block }
  | {
      readonly kind: 'call'
      readonly operands: readonly Capture[]
      readonly compute: (blocks: readonly Block[]) => Block
    }
  /** All ranks take part. */
  | {
      readonly kind: 'exchange'
      readonly operands: readonly Capture[]
      readonly steps: (blocks: readonly Block[]) => Steps<Block>
      readonly isReadOnly: boolean
    }

/**
 * How the elements of an array lie over ranks, as far as the graph and the functions look at it. An array without has
 * all its elements at every rank.
 */
export interface Spread {
  /** The shape of the part of this rank, which is the shape of the node's block. */
  readonly shape: readonly number[]
  /** The operands of an element-wise step, which gives this shape, so that the parts of all fit each other. */
  align(
    operands: readonly ArrayNode[],
    shape: readonly number[],
  ): { readonly operands: readonly ArrayNode[]; readonly spread: Spread | undefined }
  /**
   * Calls a function of the namespace, of whose operands at least one has a spread. `isGatherWanted`: may many bytes
   * come to every rank?
   */
  call(name: string, operands: readonly unknown[], isGatherWanted?: boolean): unknown
  /** The array with all its elements at every rank. */
  gathered(node: ArrayNode): ArrayNode
  /** What is selected of an array. */
  select(node: ArrayNode, selections: readonly Selection[]): ArrayNode
  /** What a mask or an array of indices of the first axis picks; undefined where only all elements tell. */
  pick(node: ArrayNode, picker: ArrayNode): ArrayNode | undefined
  /** A view with the axes in another order. */
  permuted(node: ArrayNode, order: readonly number[]): ArrayNode
  /** Writes to what is selected: each rank to its part. The value is broadcast. @throws ArrayError */
  assign(node: ArrayNode, selections: readonly Selection[], value: ArrayNode): void
  /** The array in memory that every rank reaches. */
  copied(node: ArrayNode): ArrayNode
  /** No code of this rank uses the elements any more. */
  drop(node: ArrayNode): void
  /** The parts where other ranks reach them; undefined if they do not. The elements are there. */
  parts(node: ArrayNode): Parts | undefined
  /** Where elements lie. */
  readonly finder: ElementFinder
  /** How many elements a rank's part has. */
  sizeOf(rank: number): number
  /** This rank. */
  readonly rank: number
  /** How it is divided, in words. */
  toString(): string
}

/** Memory of ranks with the elements of an array. */
export interface Parts {
  /** Another rank's part as it lies there: to write to it is to write to the array. Undefined if it is not mapped. */
  blockOf(rank: number): Block | undefined
  /** Copies elements of another rank's part, from number `first` of it on. @throws ArrayError */
  read(rank: number, first: number, target: Elements): Steps<void>
  write(rank: number, first: number, source: Elements): Steps<void>
}

/** An array in the graph: its elements are there, or pending. */
export class ArrayNode {
  readonly dtype: DType
  readonly shape: readonly number[]
  /** @internal */
  readonly spread: Spread | undefined
  /** @internal How many steps are pending to get here, each path counted by itself. */
  readonly weight: number
  /**
   * @internal How many pending arrays were made of it while it was pending, and in how many programs it was a step
   * unseen.
   */
  uses = 0
  /** @internal Told of once no code uses the elements any more. */
  closed: (() => void) | undefined
  #block: Block | undefined
  #storage: Storage | undefined
  #pending: Pending | undefined
  #epoch: Epoch | undefined

  private constructor(of: { dtype: DType; shape: readonly number[] }, spread: Spread | undefined, weight: number) {
    this.dtype = of.dtype
    this.shape = of.shape
    this.spread = spread
    this.weight = weight
  }

  /** @internal An array whose elements are there. With a spread, `shape` is that of the whole array. */
  static of(block: Block, storage: Storage, spread?: Spread, shape: readonly number[] = block.shape): ArrayNode {
    const node = new ArrayNode({ dtype: block.dtype, shape }, spread, 0)
    node.#block = block
    node.#storage = storage
    return node
  }

  /** @internal An array that is to be computed. It counts as a reader of its operands until it is. */
  static pending(type: { dtype: DType; shape: readonly number[] }, pending: Pending, spread?: Spread): ArrayNode {
    let weight = 1
    if (pending.kind === 'view') weight += pending.base.weight
    else
      for (const operand of pending.operands) {
        if (!('node' in operand)) continue
        operand.epoch.readers += 1
        operand.node.uses += 1
        weight += operand.node.weight
      }
    const node = new ArrayNode(type, spread, weight)
    node.#pending = pending
    return node
  }

  /** @internal */
  get block(): Block | undefined {
    return this.#block
  }

  /** @internal */
  get pending(): Pending | undefined {
    return this.#pending
  }

  /** @internal The memory of an array whose elements are there. */
  get storage(): Storage | undefined {
    return this.#storage
  }

  /** @internal Its elements are not there any more. */
  close(): void {
    this.spread?.drop(this)
    this.closed?.()
    this.#block = undefined
    this.#storage = undefined
    this.#pending = undefined
  }

  /** @internal The shape of this rank's part. */
  get localShape(): readonly number[] {
    return this.spread?.shape ?? this.shape
  }

  /** @internal The array as an operand of another that is made now. */
  capture(): Capture {
    return { node: this, epoch: this.#epochNow() }
  }

  #epochNow(): Epoch {
    if (this.#storage !== undefined) return this.#storage.epoch
    if (this.#pending?.kind === 'view') return this.#pending.base.#epochNow()
    this.#epoch ??= new Epoch()
    return this.#epoch
  }

  /**
   * @internal The elements are computed. They lie in the memory of `storage` if they are a view, else in memory of
   * their own.
   */
  settle(block: Block, storage: Storage = new Storage(block.data, { epoch: this.#epoch })): void {
    const pending = this.#pending
    if (pending !== undefined && pending.kind !== 'view')
      for (const operand of pending.operands) if ('node' in operand) operand.epoch.readers -= 1
    this.#block = block
    this.#storage = storage
    this.#pending = undefined
  }
}
