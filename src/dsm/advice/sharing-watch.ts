import { type CounterBlock, threadProfiling } from '../../profiling/index.ts'
import { adviceCounters } from './advice-counters.ts'
import { BounceCounts } from './bounce-counts.ts'
import { ByteMap, markChanges } from './byte-map.ts'
import { encodeRecord, type PageRecord, type SentRecord } from './page-record.ts'

/** Pages of a region of which a rank keeps records: 512 bytes and some figures each. */
export const RECORDS_MAX = 64
/** A record whose page has not been lost for so long gives its place to another. */
const COLD_NS = 10e9
/** How many tenures of a page are compared one after the other; after that, one in {@link SAMPLE_EVERY}. */
const SAMPLES_AT_ONCE = 16
const SAMPLE_EVERY = 8
/** Memory for copies of pages, in bytes; a page that is longer is never compared. */
const TWINS_BYTES_MAX = 8 * 2 ** 20

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }

interface Record extends Writable<PageRecord> {
  lastLostNs: number
  /** How often this rank got to write it. */
  tenures: number
  /** The page as it was when this rank got to write it, while it is compared. */
  twin: Uint8Array | undefined
  /** This rank has got to write it and has not lost it since, whatever right to it is left. */
  isWritten: boolean
}

export interface SharingWatchOptions {
  readonly region: string
  readonly pageBytes: number
  readonly now: () => number
  /** The bytes of a page in this process's frames. */
  readonly bytesOf: (page: number) => Uint8Array
}

/**
 * One rank's part of the adviser. It finds pages of a region that are taken away from here again and again, and which
 * of their bytes this rank writes. When the right to write a page comes, it takes a copy (a *twin*, as in TreadMarks;
 * Keleher et al., USENIX Winter 1994). When the page goes, it compares the two. So it sees stores of any code, except
 * stores that leave a byte as it was. Pages that do not bounce are never copied. Used by the agent only.
 */
export class SharingWatch {
  readonly #options: SharingWatchOptions
  readonly #counts = new BounceCounts()
  readonly #records = new Map<number, Record>()
  readonly #counters: CounterBlock<(typeof adviceCounters.counters)[number]>
  readonly #spare: Uint8Array[] = []
  readonly #twinsMax: number
  #twins = 0
  #isFull = false
  #seen = 0

  constructor(options: SharingWatchOptions) {
    this.#options = options
    this.#twinsMax = Math.min(RECORDS_MAX, Math.floor(TWINS_BYTES_MAX / options.pageBytes))
    this.#counters = threadProfiling().counters(adviceCounters, options.region)
  }

  /** More pages bounced than are kept in records. */
  get isFull(): boolean {
    return this.#isFull
  }

  /** Another number whenever there is something new. */
  get seen(): number {
    return this.#seen
  }

  get records(): readonly PageRecord[] {
    return [...this.#records.values()]
  }

  /** The records, as others get them. */
  sent(): readonly SentRecord[] {
    return this.records.map(encodeRecord)
  }

  /** Before a thread here can write the page, which none could until now. */
  writable(page: number): void {
    const record = this.#records.get(page)
    // With a fence the right to write goes, and comes back: one tenure.
    if (record === undefined || record.isWritten) return
    record.isWritten = true
    record.tenures += 1
    if (record.samples >= SAMPLES_AT_ONCE && record.tenures % SAMPLE_EVERY !== 0) return
    const twin = this.#takeTwin()
    if (twin === undefined) return
    this.#counters.add('twins', 1)
    twin.set(this.#options.bytesOf(page))
    record.twin = twin
  }

  /**
   * No thread here can write the page any more, which one could. `by`: taken for a writer, for a reader, or given up by
   * itself.
   */
  writeEnded(page: number, by: 'writer' | 'reader' | 'nobody'): void {
    const record = this.#records.get(page)
    if (record !== undefined) record.isWritten = false
    if (record?.twin !== undefined) this.#compare(record, record.twin)
    if (by === 'nobody') return
    this.#lost(page, by === 'writer' ? 'writesLost' : 'writesStopped')
  }

  /**
   * The page, which threads here could read, was taken away for a writer elsewhere, or given up by itself. A fence may
   * have taken the right to write it before, which is not reported here; then a writer has lost it.
   */
  readEnded(page: number, by: 'writer' | 'nobody'): void {
    if (this.#records.get(page)?.isWritten === true) this.writeEnded(page, by)
    else if (by === 'writer') this.#lost(page, 'readsLost')
  }

  close(): void {
    this.#counters.close()
    this.#records.clear()
    this.#spare.length = 0
  }

  #lost(page: number, how: 'writesLost' | 'writesStopped' | 'readsLost'): void {
    const nowNs = this.#options.now()
    let record = this.#records.get(page)
    if (record === undefined) {
      if (!this.#counts.lost(page, nowNs)) return
      this.#counters.add('bouncing', 1)
      record = this.#newRecord(page, nowNs)
      if (record === undefined) return
    }
    record[how] += 1
    this.#seen += 1
    record.lastLostNs = nowNs
    this.#counters.add('bounces', 1)
  }

  #newRecord(page: number, nowNs: number): Record | undefined {
    if (this.#records.size >= RECORDS_MAX && !this.#dropCold(nowNs)) {
      this.#isFull = true
      return undefined
    }
    const written = new ByteMap(this.#options.pageBytes)
    const none = { writesLost: 0, writesStopped: 0, readsLost: 0, samples: 0, changed: 0, tenures: 0 }
    const record = { ...none, page, written, lastLostNs: nowNs, twin: undefined, isWritten: false }
    this.#records.set(page, record)
    return record
  }

  #dropCold(nowNs: number): boolean {
    const cold = this.#coldRecord(nowNs)
    if (cold === undefined) return false
    this.#giveTwinBack(cold)
    this.#isFull = true
    return this.#records.delete(cold.page)
  }

  /** One whose page has long not been lost, though it may be here, and written. */
  #coldRecord(nowNs: number, hasTwin = false): Record | undefined {
    for (const record of this.#records.values())
      if (nowNs - record.lastLostNs >= COLD_NS && (!hasTwin || record.twin !== undefined)) return record
    return undefined
  }

  #takeTwin(): Uint8Array | undefined {
    const spare = this.#spare.pop()
    if (spare !== undefined) return spare
    if (this.#twins >= this.#twinsMax) {
      const cold = this.#coldRecord(this.#options.now(), true)
      if (cold !== undefined) this.#giveTwinBack(cold)
      return this.#spare.pop()
    }
    this.#twins += 1
    return new Uint8Array(this.#options.pageBytes)
  }

  #compare(record: Record, twin: Uint8Array): void {
    record.samples += 1
    this.#seen += 1
    if (markChanges(record.written, twin, this.#options.bytesOf(record.page))) record.changed += 1
    this.#giveTwinBack(record)
  }

  #giveTwinBack(record: Record): void {
    if (record.twin !== undefined) this.#spare.push(record.twin)
    record.twin = undefined
  }
}
