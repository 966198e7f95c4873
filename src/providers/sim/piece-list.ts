import type { MemoryBlock } from './memory-block.ts'

/** A run of bytes within a block. */
export interface Piece {
  readonly block: MemoryBlock
  readonly offset: number
  readonly length: number
}

/** Where the bytes of a request are, in order: a checked scatter or gather list. */
export class PieceList {
  readonly pieces: Piece[] = []
  /** Bytes of all pieces. */
  total = 0

  add(block: MemoryBlock, offset: number, length: number): void {
    if (length === 0) return
    this.pieces.push({ block, offset, length })
    this.total += length
  }

  /** `length` bytes from `skip` on. */
  part(skip: number, length: number): PieceList {
    const part = new PieceList()
    let at = skip
    for (const { block, offset, length: bytes } of this.pieces) {
      if (part.total === length) break
      if (at >= bytes) {
        at -= bytes
        continue
      }
      part.add(block, offset + at, Math.min(bytes - at, length - part.total))
      at = 0
    }
    return part
  }
}
