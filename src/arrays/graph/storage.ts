import { keepResultMemory } from '../blocks/result-memory.ts'
import type { Elements } from '../types/dtype.ts'

/**
 * What pending arrays read of one memory since it was last written. Before the next write, if any of them is still
 * pending, the elements are copied here, once for all readers. So an array that is pending keeps the values that its
 * operands had when it was made. No list of readers is needed, and nothing depends on the garbage collector.
 *
 * An operand that is itself pending has an epoch, too, which its memory takes over when it is computed.
 */
export class Epoch {
  /** The copy, if the memory was written to. */
  copy: Elements | undefined
  /** How many pending arrays read it. One that was only ever computed within another still counts. */
  readers = 0
}

/** The memory of an array and all its views. */
export class Storage {
  readonly data: Elements
  #isWritable: boolean
  /** Is the memory in other hands, who may write to it at any time? Then what reads it is computed at once. */
  isShared: boolean
  #epoch: Epoch | undefined

  constructor(data: Elements, { epoch, isShared = false, isWritable = true }: StorageOptions = {}) {
    this.data = data
    this.#epoch = epoch
    this.isShared = isShared
    this.#isWritable = isWritable
  }

  get isWritable(): boolean {
    return this.#isWritable
  }

  /** Every further write is refused. */
  protect(): void {
    this.#isWritable = false
  }

  get epoch(): Epoch {
    this.#epoch ??= new Epoch()
    return this.#epoch
  }

  /** Before a write: what is still pending keeps the elements as they are. */
  startEpoch(): void {
    const epoch = this.#epoch
    if (epoch !== undefined && epoch.readers > 0) epoch.copy = this.data.slice() as Elements
    this.#epoch = undefined
  }

  /** Before the memory is given to someone who may write to it unseen. */
  share(): void {
    this.startEpoch()
    keepResultMemory(this.data)
    this.isShared = true
  }
}

export interface StorageOptions {
  readonly epoch?: Epoch | undefined
  readonly isShared?: boolean
  readonly isWritable?: boolean
}
