import type { Step } from '../exchange/steps.ts'
import type { DType, Elements } from '../types/dtype.ts'

/** Where other ranks find a piece. */
export interface Place {
  readonly address: number
  readonly key: number
}

/** Memory of this rank that other ranks reach by its place. */
export interface OwnPiece {
  readonly place: Place
  readonly bytes: Uint8Array
  /** It may be taken again. Only once no rank reads it any more. */
  giveBack(): void
}

/** Memory in which the parts of arrays lie, so that other ranks read and write them without the owner's processor. */
export interface PartMemory {
  /** @throws ArrayError if there is not enough; then nothing was taken. */
  take(lengthBytes: number): OwnPiece
  /**
   * Elements of a piece of another rank: the memory itself, not a copy. `length` counts numbers, as typed arrays do.
   * Undefined where ranks do not map the memory of others.
   */
  mapped(rank: number, place: Place, dtype: DType, length: number): Elements | undefined
  /** Copies bytes of a piece of another rank, from its place on. */
  read(rank: number, place: Place, target: Uint8Array): Step<void>
  write(rank: number, place: Place, source: Uint8Array): Step<void>
  close(): Promise<void>
}

export function elementsOfPiece({ bytes }: OwnPiece, dtype: DType, length: number): Elements {
  return new dtype.Elements(bytes.buffer, bytes.byteOffset, length)
}
