import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { threadId } from 'node:worker_threads'
import type { Advice } from './advice.ts'
import { adviseOn } from './advise.ts'
import { addRecords, decodeRecord, type PageRecord } from './page-record.ts'
import type { SharingWatch } from './sharing-watch.ts'

/**
 * The directory where agents write what they would report to `advice()`. A program that starts ranks reads it when they
 * have ended.
 */
export const ADVISE_DIRECTORY_VARIABLE = 'AETHER_ADVISE_DIRECTORY'

/** A rank that is killed, or ends by process.exit(), has written what it knew this long before. */
const WRITE_NS = 100e6

/** More than any launch has: a file with a larger rank is not a part. */
const RANKS_MAX = 65_536

/** Which region a part is about. */
export interface PartFacts {
  readonly region: string
  /** Lengths in bytes. */
  readonly size: number
  readonly pageSize: number
  readonly rank: number
  readonly ranks: number
}

interface Part extends PartFacts {
  readonly more: boolean
  readonly records: readonly unknown[]
}

/**
 * Ranks and regions have the same numbers again where a program that was launched launches others, or a process is in
 * several groups.
 */
let partsMade = 0

/**
 * What one rank reports about one region, in a file of its own. It is rewritten when there is something new, and when
 * the region is closed.
 */
export class AdvicePart {
  readonly #path: string
  readonly #facts: PartFacts
  readonly #watch: SharingWatch
  #closed = false
  /** What the file says, as far as that tells one from another. */
  #said = -1

  constructor(directory: string, id: number, facts: PartFacts, watch: SharingWatch) {
    this.#path = join(directory, `${id}.${facts.rank}.${process.pid}.${threadId}.${++partsMade}.json`)
    this.#facts = facts
    this.#watch = watch
  }

  /** `at` as of timers, `now` in nanoseconds. */
  begin(at: (atNs: number, run: () => void) => void, now: () => number): void {
    if (this.#closed) return
    this.#write()
    at(now() + WRITE_NS, () => this.begin(at, now))
  }

  close(): void {
    if (!this.#closed) this.#write()
    this.#closed = true
  }

  /** Whole or not at all. Never throws: a full disk must not make a program fail. */
  #write(): void {
    const seen = this.#watch.seen
    if (seen === this.#said) return
    this.#said = seen
    const part: Part = { ...this.#facts, more: this.#watch.isFull, records: this.#watch.sent() }
    try {
      writeFileSync(`${this.#path}.new`, JSON.stringify(part))
      renameSync(`${this.#path}.new`, this.#path)
    } catch {}
  }
}

/**
 * Advice on every region that has parts; files that are not parts are left out. The region with the worst page comes
 * first.
 */
export function readAdviceParts(directory: string): Advice[] {
  const regions = new Map<string, Part[]>()
  for (const file of readdirSync(directory).filter((name) => name.endsWith('.json'))) {
    const part = readPart(join(directory, file))
    if (part === undefined) continue
    // The same name may have been used for regions of different lengths, one after the other.
    const key = JSON.stringify([part.region, part.size, part.pageSize])
    regions.set(key, [...(regions.get(key) ?? []), part])
  }
  const worst = ({ pages }: Advice): number => pages[0]?.moves ?? 0
  return [...regions.values()].map(adviceOf).sort((a, b) => worst(b) - worst(a) || (a.region < b.region ? -1 : 1))
}

/** Undefined if no rank has written it. */
function readPart(path: string): Part | undefined {
  try {
    const part = JSON.parse(readFileSync(path, 'utf8')) as Partial<Part> | null
    const { region, size, pageSize, rank, ranks, records } = part ?? {}
    const isSound =
      typeof region === 'string' &&
      [size, pageSize, rank, ranks].every((figure) => Number.isSafeInteger(figure) && figure! >= 0) &&
      ranks! <= RANKS_MAX &&
      Array.isArray(records)
    return isSound ? (part as Part) : undefined
  } catch {
    return undefined
  }
}

function adviceOf(parts: readonly Part[]): Advice {
  const [{ region, size, pageSize, ranks }] = parts as [Part]
  const records = (part: Part): PageRecord[] =>
    part.records.map((record) => decodeRecord(record, pageSize)).filter((record) => record !== undefined)
  const said = new Map<number, PageRecord[]>()
  for (const part of parts) said.set(part.rank, addRecords([...(said.get(part.rank) ?? []), ...records(part)]))
  return {
    region,
    pages: adviseOn({ name: region, size, pageSize }, said),
    unwatched: Array.from({ length: ranks }, (_, rank) => rank).filter((rank) => !said.has(rank)),
    silent: [],
    more: parts.some(({ more }) => more),
  }
}
