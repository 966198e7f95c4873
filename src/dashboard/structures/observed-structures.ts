import type { SpaceObserver } from '../../cluster/index.ts'
import type { ObservedRegion } from '../../dsm/index.ts'
import { contentsOf } from '../../structures/index.ts'
import type { StructureDetailFrame, StructureFrame, StructureMemoryFrame } from '../wire.ts'
import { type MappedHeap, MappedHeaps } from './mapped-heaps.ts'
import { memoryFrames, structureDetail, structureFrame, type UsersAtLook } from './structure-frames.ts'
import { type StructureMember, StructureUsers } from './structure-users.ts'

/** The interval of looks at structures. Over a shorter one, rates say little. */
const STRUCTURES_MS = 1000
/** Keys or values of one structure that are shown. */
const ITEMS_MAX = 100

const WITHHELD = { title: '', items: [], isWhole: false }

/** What a look finds. */
export interface SeenStructures {
  readonly structures: readonly StructureFrame[]
  readonly memory: readonly StructureMemoryFrame[]
}

/**
 * The structures of a space, seen from outside. What is in them comes from their memory (src/structures/sight), what
 * members do with them from the members' counters. It writes nothing and wakes no one.
 */
export class ObservedStructures implements Disposable {
  readonly #mapped: MappedHeaps
  #heaps: readonly MappedHeap[] = []
  #users: StructureUsers | undefined
  #lookedMs = 0
  #looks = 0
  #at: UsersAtLook = { members: [], users: new StructureUsers([]) }
  #seen: SeenStructures = { structures: [], memory: [] }

  constructor(observer: SpaceObserver) {
    this.#mapped = new MappedHeaps(observer)
  }

  /**
   * Look once. Returns the same lists as before until a second has passed. Only the second look comes as soon as it is
   * asked for, so that there are rates.
   */
  next(members: readonly StructureMember[], atMs: number, regions?: readonly ObservedRegion[]): SeenStructures {
    const elapsedMs = atMs - this.#lookedMs
    if (this.#looks >= 2 && elapsedMs < STRUCTURES_MS && elapsedMs >= 0) return this.#seen
    this.#looks += 1
    this.#lookedMs = atMs
    const users = new StructureUsers(members)
    const before = this.#users === undefined ? {} : { before: { users: this.#users, elapsedMs } }
    this.#users = users
    this.#at = { members, users, ...before }
    const found = this.#mapped.find(regions)
    this.#heaps = found.heaps
    const structures = found.heaps.flatMap((mapped) =>
      mapped.names.list().map((structure) => structureFrame(mapped, structure, this.#at)),
    )
    this.#seen = { structures, memory: memoryFrames(found) }
    return this.#seen
  }

  /**
   * All that is known of a structure, with its keys or values if `showsContents`; undefined if there is none of that
   * name. Without a region, the first one that has the name.
   */
  detail(region: string | undefined, name: string, showsContents: boolean): StructureDetailFrame | undefined {
    for (const mapped of this.#heaps) {
      if (region !== undefined && mapped.region !== region) continue
      const structure = mapped.names.list().find((each) => each.name === name)
      if (structure === undefined) continue
      const contents = showsContents ? contentsOf(mapped.heap, structure, ITEMS_MAX) : WITHHELD
      return { ...structureDetail(mapped, structure, this.#at), ...contents }
    }
    return undefined
  }

  [Symbol.dispose](): void {
    this.#mapped[Symbol.dispose]()
  }
}
