import {
  type AcceptedEntry,
  type Configuration,
  decodeConfiguration,
  EntryFlag,
  type Journal,
  type Recovered,
  type SnapshotHead,
} from 'aether-dsm/internal/consensus'
import type { Stream } from 'aether-dsm/internal/providers'
import { textOf } from './decided-log.ts'

/** How long a disk takes, each time for all that was recorded meanwhile. */
export interface DiskPlan {
  readonly usualNs: number
  /** How many times of a thousand it takes longer, up to `slowNs`. */
  readonly slow: number
  readonly slowNs: number
}

/** What a disk needs of the simulation. */
interface Clock {
  readonly nowNs: number
  after(delayNs: number, run: () => void): void
}

type DiskRecord =
  | { readonly kind: 'promise'; readonly term: number }
  | { readonly kind: 'entry'; readonly entry: AcceptedEntry }
  | { readonly kind: 'snapshot'; readonly head: SnapshotHead; readonly bytes: Uint8Array }

/**
 * A disk in virtual time, with the journal of one replica. What is synced stays. When the process ends, some of what
 * was recorded after that may be there too, up to a drawn record.
 */
export class SimulatedDisk implements Journal {
  /** What is on the disk, by its own count: nothing of what is tried is asked. */
  promised = 0
  decided = 0
  /** That number of records of this opening is on the disk. */
  onSynced: (records: number) => void = () => undefined
  readonly #clock: Clock
  readonly #stream: Stream
  readonly #plan: DiskPlan
  #snapshot: Recovered['snapshot']
  readonly #entries = new Map<number, AcceptedEntry>()
  /** Records of this opening, and how many of them are to be written, and are written. */
  #records: DiskRecord[] = []
  #flushed = 0
  #synced = 0
  #openings = 0
  #isBusy = false
  #stalledNs = 0

  constructor(plan: DiskPlan, clock: Clock, stream: Stream) {
    this.#plan = plan
    this.#clock = clock
    this.#stream = stream
  }

  promise(term: number): void {
    this.#records.push({ kind: 'promise', term })
  }

  append(entry: AcceptedEntry): void {
    this.#records.push({ kind: 'entry', entry: { ...entry, payload: entry.payload.slice() } })
  }

  snapshot(head: SnapshotHead, ...parts: readonly Uint8Array[]): void {
    this.#records.push({ kind: 'snapshot', head, bytes: Buffer.concat(parts) })
  }

  flush(): void {
    this.#flushed = this.#records.length
    if (!this.#isBusy) this.#sync()
  }

  /** Nothing that is not on the disk by now will be within that time. */
  stall(forNs: number): void {
    this.#stalledNs = Math.max(this.#stalledNs, this.#clock.nowNs + forNs)
  }

  /** All that was recorded is on the disk. */
  get isIdle(): boolean {
    return this.#synced === this.#records.length
  }

  /** The process ends. */
  crash(): void {
    const kept = this.#synced + this.#stream.below(this.#records.length - this.#synced + 1)
    this.#write(kept)
    this.#openings += 1
    this.#records = []
    this.#flushed = 0
    this.#synced = 0
    this.#isBusy = false
  }

  /** What a journal that is opened now holds. */
  recovered(): Recovered {
    const base = this.#snapshot?.head.index ?? 0
    const entries = [...this.#entries.values()].filter(({ index }) => index > base)
    entries.sort((one, other) => one.index - other.index)
    return { promise: this.promised, decided: this.decided, snapshot: this.#snapshot, entries }
  }

  /** The voters that a replica would know that began again now; undefined if it would have to be told. */
  get configuration(): Configuration | undefined {
    const { head } = this.#snapshot ?? {}
    let newest: AcceptedEntry | undefined
    for (const entry of this.#entries.values()) {
      const { flags, index } = entry
      const isKnown = index > (newest?.index ?? head?.index ?? 0) && index <= this.decided
      if (isKnown && (flags & EntryFlag.Configuration) !== 0) newest = entry
    }
    return newest === undefined ? head?.configuration : decodeConfiguration(newest.payload)
  }

  /** The entry that was accepted last at that index. */
  entry(index: number): AcceptedEntry | undefined {
    return this.#entries.get(index)
  }

  /** Whether the entry with that text would still be there: as decided, or as accepted in that term or later. */
  holds(index: number, text: string | undefined, term: number): boolean {
    if (index <= (this.#snapshot?.head.index ?? 0)) return true
    const entry = this.#entries.get(index)
    return entry !== undefined && textOf(entry) === text && (entry.acceptedIn >= term || index <= this.decided)
  }

  #sync(): void {
    const [opening, records] = [this.#openings, this.#flushed]
    this.#isBusy = true
    this.#clock.after(this.#delayNs(), () => this.#done(opening, records))
  }

  #done(opening: number, records: number): void {
    if (opening !== this.#openings) return
    const leftNs = this.#stalledNs - this.#clock.nowNs
    if (leftNs > 0) {
      this.#clock.after(leftNs, () => this.#done(opening, records))
      return
    }
    this.#isBusy = false
    this.#write(records)
    this.onSynced(records)
    if (this.#flushed > this.#synced) this.#sync()
  }

  #delayNs(): number {
    const { usualNs, slow, slowNs } = this.#plan
    if (this.#stream.below(1000) < slow) return this.#stream.between(usualNs, slowNs)
    return this.#stream.between(usualNs >> 1, 2 * usualNs)
  }

  #write(records: number): void {
    for (const record of this.#records.slice(this.#synced, records)) this.#apply(record)
    this.#synced = Math.max(this.#synced, records)
  }

  #apply(record: DiskRecord): void {
    if (record.kind === 'promise') this.promised = Math.max(this.promised, record.term)
    else if (record.kind === 'entry') {
      const { entry } = record
      this.#entries.set(entry.index, entry)
      this.promised = Math.max(this.promised, entry.acceptedIn)
      this.decided = Math.max(this.decided, entry.decided)
    } else {
      this.#snapshot = record
      this.decided = Math.max(this.decided, record.head.index)
    }
  }
}
