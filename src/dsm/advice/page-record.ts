import { ByteMap } from './byte-map.ts'

/** What one rank saw of a page that bounces. */
export interface PageRecord {
  readonly page: number
  /** How often it was taken from a writer here, for a writer elsewhere. */
  readonly writesLost: number
  /** How often a writer here had to stop, for a reader elsewhere. */
  readonly writesStopped: number
  /** How often it was taken from a reader here. */
  readonly readsLost: number
  /** How often its bytes were compared with what they had been when this rank got to write it. */
  readonly samples: number
  /** In how many of these a byte had changed. */
  readonly changed: number
  /** Those bytes. */
  readonly written: ByteMap
}

/** A record as it travels between ranks: plain, and within one message. */
export type SentRecord = readonly [
  page: number,
  writesLost: number,
  writesStopped: number,
  readsLost: number,
  samples: number,
  changed: number,
  written: string,
]

export function encodeRecord(record: PageRecord): SentRecord {
  const { page, writesLost, writesStopped, readsLost, samples, changed, written } = record
  return [page, writesLost, writesStopped, readsLost, samples, changed, written.toText()]
}

/** Undefined for what is no record of a page of that length. */
export function decodeRecord(sent: unknown, pageBytes: number): PageRecord | undefined {
  if (!Array.isArray(sent) || sent.length !== 7 || typeof sent[6] !== 'string') return undefined
  const figures = sent.slice(0, 6) as unknown[]
  if (!figures.every((figure) => Number.isSafeInteger(figure) && (figure as number) >= 0)) return undefined
  const written = ByteMap.fromText(pageBytes, sent[6])
  if (written === undefined) return undefined
  const [page, writesLost, writesStopped, readsLost, samples, changed] = figures as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  return { page, writesLost, writesStopped, readsLost, samples, changed, written }
}

/** How often the page was taken from this rank, wholly or in part. */
export function movesOf({ writesLost, writesStopped, readsLost }: PageRecord): number {
  return writesLost + writesStopped + readsLost
}

/** One record for each page, of several that one rank has of some. */
export function addRecords(records: readonly PageRecord[]): PageRecord[] {
  const byPage = new Map<number, PageRecord>()
  for (const record of records) {
    const before = byPage.get(record.page)
    byPage.set(record.page, before === undefined ? record : sumOf(before, record))
  }
  return [...byPage.values()]
}

function sumOf(one: PageRecord, other: PageRecord): PageRecord {
  return {
    page: one.page,
    writesLost: one.writesLost + other.writesLost,
    writesStopped: one.writesStopped + other.writesStopped,
    readsLost: one.readsLost + other.readsLost,
    samples: one.samples + other.samples,
    changed: one.changed + other.changed,
    written: one.written.or(other.written),
  }
}
