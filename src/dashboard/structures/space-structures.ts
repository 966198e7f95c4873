import { SpaceObserver } from '../../cluster/index.ts'
import type { StructureDetailFrame } from '../wire.ts'
import { ObservedStructures, type SeenStructures } from './observed-structures.ts'

/**
 * The structures of a running space, for programs that show nothing else: unlike `ObservedSpace`, it asks no agent for
 * a journal.
 *
 * ```ts
 * using shop = SpaceStructures.attach('shop')
 * console.log(shop.look().structures)
 * ```
 */
export class SpaceStructures implements Disposable {
  readonly name: string
  readonly #observer: SpaceObserver
  readonly #structures: ObservedStructures

  private constructor(observer: SpaceObserver) {
    this.name = observer.name
    this.#observer = observer
    this.#structures = new ObservedStructures(observer)
  }

  /** @throws SpaceError if the space has no member. */
  static attach(name: string): SpaceStructures {
    return new SpaceStructures(SpaceObserver.attach(name))
  }

  /** Look once. Rates cover the time since the last look. */
  look(atMs: number = performance.now()): SeenStructures {
    const members = this.#observer.members().map((member) => ({
      ...member,
      rank: member.group?.rank ?? null,
      profile: this.#observer.profile(member),
    }))
    return this.#structures.next(members, atMs)
  }

  /** Whether any rank of a group is in the space: structures that ranks share are not seen here. */
  get hasRanks(): boolean {
    return this.#observer.members().some(({ group }) => group !== undefined)
  }

  /** All that the last look knows of a structure, its keys or values included. */
  detail(name: string, region?: string): StructureDetailFrame | undefined {
    return this.#structures.detail(region, name, true)
  }

  [Symbol.dispose](): void {
    this.#structures[Symbol.dispose]()
    this.#observer.close()
  }
}
