import type { Refused } from './selector.ts'

/** Something that was refused, as often as it happened lately. */
export interface RefusalEntry extends Refused {
  readonly context: 'toplevel' | 'multi' | 'lua'
  readonly user: string
  count: number
  timeMs: number
  client: string
}

/** The same within this time is one entry. */
const SAME_MS = 60_000

/** What ACL LOG shows, the latest first. */
export class RefusalLog {
  #entries: RefusalEntry[] = []

  get entries(): readonly RefusalEntry[] {
    return this.#entries
  }

  add(entry: Omit<RefusalEntry, 'count' | 'timeMs'>, max: number): void {
    const nowMs = Date.now()
    const known = this.#entries.find(
      (each) =>
        each.reason === entry.reason &&
        each.object === entry.object &&
        each.context === entry.context &&
        each.user === entry.user &&
        nowMs - each.timeMs <= SAME_MS,
    )
    if (known === undefined) this.#entries.unshift({ ...entry, count: 1, timeMs: nowMs })
    else {
      known.count += 1
      known.timeMs = nowMs
      known.client = entry.client
      this.#entries = [known, ...this.#entries.filter((each) => each !== known)]
    }
    if (this.#entries.length > max) this.#entries.length = max
  }

  reset(): void {
    this.#entries = []
  }
}
