import { StructureError } from '../errors.ts'
import { Directory } from '../heap/directory.ts'
import { GATE_CLOSED_MS_MAX } from '../heap/gate.ts'
import { Heap } from '../heap/heap.ts'
import { StructureKind, type StructureKindName } from '../heap/structure-kind.ts'
import { type CopySource, HeapCopy, settleCopies } from './heap-copy.ts'
import { SavedClock } from './saved-kind.ts'
import { savedKinds } from './saved-kinds.ts'

/** What a structure is, without its contents. */
interface SavedIdentity {
  readonly name: string
  readonly kind: StructureKindName
  readonly parameters: readonly number[]
}

/** The same as it comes from a file: of any kind. */
type FoundIdentity = Omit<SavedIdentity, 'kind'> & { readonly kind: string }

/** A structure to be saved. */
export interface SavedStructure extends SavedIdentity {
  /** Its contents, or why they cannot be saved. Undefined among the records: the reader may pause here. */
  readonly records: Iterable<Uint8Array | undefined> | string
}

/** The structures of a heap as a save has them. */
export class SavedStructures {
  readonly #heap: Heap
  readonly #directory: Directory
  readonly #clock: SavedClock
  readonly #source: CopySource | undefined

  /** `source`: the memory of the heap, to be copied from; undefined: it is a copy itself. */
  constructor(heap: Heap, directory: Directory, source?: CopySource) {
    this.#heap = heap
    this.#directory = directory
    this.#source = source
    this.#clock = new SavedClock(heap)
  }

  /**
   * Copies of the structures of several heaps, all of one instant. Undefined if they changed all the time. The heaps
   * are in the order that all callers use. `pause` is called between steps of the copying. The last part is one step,
   * during which all operations on the heaps wait.
   */
  static async atOneInstant(
    all: readonly SavedStructures[],
    pause: () => Promise<void> | undefined,
  ): Promise<readonly SavedStructures[] | undefined> {
    const heaps = all.map((each) => each.#heap)
    const copies = all.map((each) => new HeapCopy(each.#heap, each.#source!))
    for (const copy of copies)
      for (const _ of copy.steps()) {
        const paused = pause()
        if (paused !== undefined) await paused
      }
    if (!settleCopies(heaps, copies, GATE_CLOSED_MS_MAX)) return undefined
    return copies.map((copy, at) => {
      const { name, peers } = heaps[at]!
      const heap = new Heap(name, copy.memory, peers)
      return new SavedStructures(heap, new Directory(heap))
    })
  }

  /** All that are there now. Their records are read when they are asked for. */
  list(): readonly SavedStructure[] {
    this.#heap.checkOpen()
    return this.#directory.entries().map((entry) => {
      const saved = savedKinds[entry.kind]
      const body = { ...entry, heap: this.#heap, clock: this.#clock }
      return { ...entry, records: typeof saved === 'string' ? saved : saved.dump(body) }
    })
  }

  /**
   * Make the structure, or find it, and return what takes its records.
   * @throws StructureError if there is one of the name that is of another kind, or kinds like it are not saved.
   */
  restore({ name, kind, parameters }: FoundIdentity): (record: Uint8Array) => void {
    this.#heap.checkOpen()
    if (!isKind(kind)) throw notRestored(name, `this version of Aether knows no ${kind}`)
    const saved = savedKinds[kind]
    if (typeof saved === 'string') throw notRestored(name, saved)
    this.#checkSame(name, kind, parameters)
    const wanted = parameters.map((value) => ({ name: kind, wanted: value, initial: value, changes: true }))
    const { offset } = this.#directory.open({ kind, name, bodyBytes: saved.bodyBytes(parameters), parameters: wanted })
    return saved.restore({ heap: this.#heap, name, offset, parameters, clock: this.#clock })
  }

  /** One that is there is not made again: its values must be encoded alike. */
  #checkSame(name: string, kind: StructureKindName, parameters: readonly number[]): void {
    const there = this.#directory.entries().find((entry) => entry.name === name)
    if (there === undefined) return
    const isSame = there.kind === kind && there.parameters.every((value, at) => value === parameters[at])
    if (!isSame) throw notRestored(name, `there is a ${there.kind} of that name, which was made with other options`)
  }
}

function isKind(kind: string): kind is StructureKindName {
  return Object.hasOwn(StructureKind, kind)
}

function notRestored(name: string, why: string): StructureError {
  return new StructureError('ERR_AETHER_STRUCTURE_MISMATCH', name, `'${name}' cannot be restored: ${why}`)
}
