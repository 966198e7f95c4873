import { DefectError } from '../../native/index.ts'
import type { AcceptedEntry } from './cell.ts'
import type { Journal, Recovered, SnapshotHead } from './journal.ts'
import type { LogHistory } from './log-history.ts'
import type { ReplicaMemory } from './replica-memory.ts'

/** What is durable once that number of records is on the disk. */
interface Mark {
  readonly records: number
  readonly term: number
  index: number
}

/**
 * What an acceptor has on its disk of that which others wrote into its memory. Memory is ahead of the disk, and what is
 * only there does not count. A leader counts a promise or an entry when the acceptor has reported it from here.
 *
 * - The promise of a term is recorded before anything that is accepted in it.
 * - Entries are recorded in order: decided ones as they were decided, those behind them as they are accepted in the
 *   term that was promised last. What a lower term has left behind them is not recorded any more: no one counts it.
 */
export class DurableState {
  readonly #journal: Journal
  readonly #memory: ReplicaMemory
  /** On the disk: all entries up to `index`, decided or as accepted in `term`. That term is promised there. */
  #term: number
  #index: number
  /** The term of the last record, and the next entry to record. */
  #recordedTerm: number
  #next: number
  #records = 0
  readonly #marks: Mark[] = []
  #snapshotIndex: number
  #bytesSinceSnapshot: number
  /** Of these, what the journal held; 0 after a snapshot. */
  #bytesAtStart: number

  constructor(journal: Journal, memory: ReplicaMemory, { promise, decided, entries, snapshot }: Recovered) {
    this.#journal = journal
    this.#memory = memory
    this.#term = promise
    this.#index = decided
    this.#recordedTerm = promise
    this.#next = decided + 1
    this.#snapshotIndex = snapshot?.head.index ?? 0
    this.#bytesAtStart = entries.reduce((sum, entry) => sum + sizeOf(entry), 0)
    this.#bytesSinceSnapshot = this.#bytesAtStart
  }

  get term(): number {
    return this.#term
  }

  get index(): number {
    return this.#index
  }

  /** The entry is recorded as it lies in memory. Else the replica may not take it: the disk may have another. */
  isRecorded({ index, acceptedIn }: AcceptedEntry): boolean {
    return index < this.#next && acceptedIn === this.#recordedTerm
  }

  /** Of the last snapshot that was recorded. */
  get snapshotIndex(): number {
    return this.#snapshotIndex
  }

  /**
   * Whether entries that were recorded since the last snapshot take more than `bytesMax`. What was there at the start
   * does not count alone: a snapshot would be taken before anyone is answered. A long one does.
   */
  isLong(bytesMax: number): boolean {
    const atStart = Math.min(this.#bytesAtStart + bytesMax / 4, 4 * bytesMax)
    return this.#bytesSinceSnapshot >= Math.max(bytesMax, this.#bytesAtStart === 0 ? 0 : atStart)
  }

  /** Record what is new. */
  record(history: LogHistory): void {
    const { promise } = this.#memory
    const before = this.#records
    if (promise > this.#recordedTerm) {
      this.#recordedTerm = promise
      this.#forgetBehind(history.last)
      this.#next = Math.max(Math.min(this.#next, history.last + 1), this.#snapshotIndex + 1)
      this.#journal.promise(promise)
      this.#records += 1
    }
    for (let entry = this.#entry(history); entry !== undefined; entry = this.#entry(history)) {
      this.#journal.append(entry)
      this.#bytesSinceSnapshot += sizeOf(entry)
      this.#records += 1
      this.#next += 1
    }
    if (this.#records > before) this.#written()
  }

  /** `parts` take the place of all entries up to the head's index. The replica had those up to `last` before. */
  snapshot(head: SnapshotHead, parts: readonly Uint8Array[], last: number): void {
    // The program took it before a newer one came from another replica.
    if (head.index <= this.#snapshotIndex) return
    if (head.index > last) this.#forgetBehind(last)
    this.#snapshotIndex = head.index
    this.#journal.snapshot(head, ...parts)
    this.#records += 1
    this.#bytesSinceSnapshot = 0
    this.#bytesAtStart = 0
    this.#next = Math.max(this.#next, head.index + 1)
    this.#written()
  }

  /** That number of records is on the disk. True if more is durable than before. */
  synced(records: number): boolean {
    let any = false
    for (let mark = this.#marks[0]; mark !== undefined && mark.records <= records; mark = this.#marks[0]) {
      this.#term = mark.term
      this.#index = mark.index
      this.#marks.shift()
      any = true
    }
    return any
  }

  /**
   * Entries up to `last` are decided. Those behind it are on the disk as a lower term has left them, or a snapshot is
   * to take their place. They are recorded again before they count.
   */
  #forgetBehind(last: number): void {
    this.#index = Math.min(this.#index, last)
    for (const mark of this.#marks) mark.index = Math.min(mark.index, last)
  }

  #written(): void {
    this.#marks.push({ records: this.#records, term: this.#recordedTerm, index: this.#next - 1 })
    this.#journal.flush()
  }

  #entry(history: LogHistory): AcceptedEntry | undefined {
    const index = this.#next
    if (index > history.last) {
      const accepted = this.#memory.accepted(index)
      return accepted?.acceptedIn === this.#recordedTerm ? accepted : undefined
    }
    const entry = history.get(index)
    if (entry === undefined) throw new DefectError(`entry ${index} was dropped before it was on the disk`)
    return { ...entry, acceptedIn: this.#recordedTerm, decided: index }
  }
}

/** On the disk, about. */
function sizeOf({ payload }: AcceptedEntry): number {
  return payload.length + 48
}
