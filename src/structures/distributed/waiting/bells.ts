import { GroupBell, type RingKind } from './group-bell.ts'
import type { MarksPlace } from './waiting-ranks.ts'

/** More than a place in a part can be. */
const PLACES = 2 ** 33

/** The bells that this rank has used: one for each place, for all that wait there. */
export class Bells {
  readonly #bells = new Map<number, GroupBell>()

  at(at: MarksPlace, kind: RingKind): GroupBell {
    const key = at.home * PLACES + at.place
    const bell = this.#bells.get(key) ?? new GroupBell(at, kind)
    this.#bells.set(key, bell)
    return bell
  }

  /** Another rank says that something has changed. If the place is unknown here, no call has waited. */
  rung(home: number, place: number): void {
    this.#bells.get(home * PLACES + place)?.rung()
  }
}
