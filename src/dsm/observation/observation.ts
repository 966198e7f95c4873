import { WatchRequest } from '../../cluster/index.ts'
import { native } from '../../native/index.ts'
import { Journal } from './journal.ts'
import type { RegionWatch, RegionWatchers } from './region-watch.ts'

/** Pages that are written into a new journal in one turn of the agent, so that other work does not wait for them. */
const PAGES_A_TURN = 2048

/** Whether a watcher watches this agent, and what it is shown. Without a watcher it costs one comparison a turn. */
export class Observation implements RegionWatchers {
  readonly #request: WatchRequest
  readonly #rank: number
  readonly #ranks: number
  readonly #watches = new Set<RegionWatch>()
  #journal: Journal | undefined
  /** What the request said when it was found to be over. */
  #over = 0

  constructor(place: { readonly descriptor: number; readonly slot: number }, rank: number, ranks: number) {
    this.#request = new WatchRequest(place.descriptor, place.slot)
    this.#rank = rank
    this.#ranks = ranks
  }

  get journal(): Journal | undefined {
    return this.#journal
  }

  add(watch: RegionWatch): void {
    this.#watches.add(watch)
  }

  remove(watch: RegionWatch): void {
    this.#watches.delete(watch)
    watch.end()
  }

  /** Once a turn. True where there is more to be written at once. */
  turn(): boolean {
    const until = this.#request.untilNs
    if (until === this.#over) return false
    if (native.monotonicNs() > until) this.#stop(until)
    else if (this.#journal === undefined) this.#begin()
    else return this.#fill()
    return false
  }

  close(): void {
    this.#stop(0)
    this.#request.close()
  }

  #begin(): void {
    this.#journal = new Journal(this.#rank, this.#ranks)
    for (const watch of this.#watches) watch.begin()
    this.#request.show(this.#journal)
  }

  #fill(): boolean {
    let more = false
    for (const watch of this.#watches) more = watch.fill(PAGES_A_TURN) || more
    return more
  }

  #stop(over: number): void {
    this.#over = over
    if (this.#journal === undefined) return
    this.#request.hide()
    for (const watch of this.#watches) watch.end()
    this.#journal.close()
    this.#journal = undefined
  }
}
