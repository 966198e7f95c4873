import { NamedOffset, PARAMETERS, STRUCTURE_NAME_BYTES_MAX } from '../heap/directory.ts'
import { DIRECTORY_OFFSET, STRUCTURES_MAX } from '../heap/layout.ts'
import { kindNamed, type StructureKindName } from '../heap/structure-kind.ts'
import type { BlockSight, HeapSight } from './heap-sight.ts'

/** A structure that is there. */
export interface NamedStructure {
  readonly name: string
  readonly kind: StructureKindName
  /** Of its own block, in which its body lies. */
  readonly block: BlockSight
  /** Where its body begins, in bytes. */
  readonly body: number
  /** As they are now: an opener may change some. */
  readonly parameters: readonly number[]
}

/** What of a structure never changes. */
type Identity = Omit<NamedStructure, 'parameters'>

/**
 * The names of a heap, read from outside. A name is put there whole and stays for as long as its heap. So what
 * was read once is kept while its block is the same.
 */
export class NamedStructures {
  readonly #heap: HeapSight
  readonly #known = new Map<number, Identity>()

  constructor(heap: HeapSight) {
    this.#heap = heap
  }

  /** All structures that are there now, by name. */
  list(): readonly NamedStructure[] {
    const found: NamedStructure[] = []
    for (let at = 0; at < STRUCTURES_MAX; at += 1) {
      const place = DIRECTORY_OFFSET + at * 4
      if (this.#heap.word(place) === 0) continue
      const named = this.#heap.settled(() => this.#heap.through(place, (block) => this.#read(at, block)))
      if (named !== undefined) found.push(named)
    }
    return found.sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  #read(at: number, block: BlockSight): NamedStructure | undefined {
    const identity = this.#identity(at, block)
    const parameters = Array.from({ length: PARAMETERS }, (_, index) =>
      this.#heap.float(block.offset + NamedOffset.Parameters + index * 8),
    )
    return identity && { ...identity, parameters }
  }

  #identity(at: number, block: BlockSight): Identity | undefined {
    const known = this.#known.get(at)
    if (known?.block.reference === block.reference && known.block.state === block.state) return known
    const { offset, lengthBytes } = block
    const heap = this.#heap
    const kind = kindNamed(heap.word(offset + NamedOffset.Kind))
    const nameLength = heap.word(offset + NamedOffset.NameLength)
    if (kind === undefined || nameLength < 1 || nameLength > STRUCTURE_NAME_BYTES_MAX) return undefined
    if (lengthBytes <= NamedOffset.Body) return undefined
    const name = Buffer.from(heap.copy(offset + NamedOffset.Name, nameLength)).toString()
    const identity = { name, kind, block, body: offset + NamedOffset.Body }
    if (heap.isStill(block)) this.#known.set(at, identity)
    return identity
  }
}
