import { native } from '../../native/index.ts'
import type { PieceRoom } from '../soft/indirect-key.ts'
import type { KeyFields } from '../soft/keys.ts'
import { PIECE_DOUBLES, type Pieces } from '../soft/pieces.ts'
import { PAGE_BYTES } from './layout.ts'
import type { Segment } from './segment.ts'
import type { SharedKeyTable } from './shared-key-table.ts'

/** The pieces of an indirect key: pages of the segment, where peers read them when they use the key. */
export class PiecePages implements PieceRoom {
  readonly maxPieces: number
  readonly #segment: Segment
  readonly #keys: SharedKeyTable
  readonly #firstPage: number
  readonly #pages: number
  readonly #mapping: ArrayBuffer

  constructor(segment: Segment, keys: SharedKeyTable, maxPieces: number) {
    this.#segment = segment
    this.#keys = keys
    this.#pages = Math.ceil((maxPieces * PIECE_DOUBLES * 8) / PAGE_BYTES)
    this.maxPieces = (this.#pages * PAGE_BYTES) / (PIECE_DOUBLES * 8)
    this.#firstPage = segment.allocatePages(this.#pages)
    this.#mapping = segment.mapPages(this.#firstPage, this.#pages)
  }

  publish(fields: KeyFields, pieces: Pieces): void {
    new Float64Array(this.#mapping).set(pieces.doubles)
    this.#keys.publishPieces({ ...fields, pieces, firstPage: this.#firstPage })
  }

  release(): void {
    native.unmapMemory(this.#mapping)
    this.#segment.releasePages(this.#firstPage, this.#pages)
  }
}
