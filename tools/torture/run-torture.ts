import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OrphanGuard } from 'aether-dsm/internal/cluster'
import { protocols } from 'aether-dsm/internal/dsm'
import { Random } from 'aether-dsm/internal/runtime'
import { TortureGroup, type TortureGroupResult } from './torture-group.ts'
import { type TorturePlace, torturePlaces } from './torture-plan.ts'

/** How often a group is started again because its port was taken. */
const PLACES_TRIED = 5

export interface TortureOptions {
  /** Names of coherence protocols. Default all. */
  readonly coherence?: readonly string[]
  /** Default both. */
  readonly places?: readonly TorturePlace[]
  /** Of each protocol at each place; groups that have begun are ended in order afterwards. Default 10. */
  readonly seconds?: number
  /** The number of groups of each protocol at each place, however long they take, instead of `seconds`. */
  readonly groups?: number
  /** Processes of a group at its beginning. Default 4. */
  readonly ranks?: number
  /** A group goes on until so few are left; then the next one begins. Default 2. */
  readonly survivors?: number
  /** About how long it is from one death to the next. Default 2000. */
  readonly killEveryMs?: number
  /** About how long it is from one stop (SIGSTOP) to the next. Default 500. */
  readonly stopEveryMs?: number
  /**
   * How long a rank is stopped at the most. More than the lease, and some find themselves out of their group. Default
   * 300.
   */
  readonly stopMsMax?: number
  /** Default 10,000. */
  readonly leaseMs?: number
  /** Default 32. */
  readonly pages?: number
  /** Bytes. Default 4096. */
  readonly pageSize?: number
  /** Of who is killed and stopped when, and of what each rank does. The rest is up to the machine. Default 1. */
  readonly seed?: number
  /** Torture another memory: a module that exports `openMemory` (see torture-memory.ts). */
  readonly memory?: URL
  readonly signal?: AbortSignal
  readonly onEvent?: (text: string) => void
  /** Called after each protocol and place. */
  readonly onResult?: (result: TortureResult) => void
}

/** What came of one protocol at one place. */
export interface TortureResult {
  readonly coherence: string
  readonly place: TorturePlace
  readonly seconds: number
  readonly groups: number
  readonly reads: number
  readonly writes: number
  readonly deaths: number
  /** Deaths of rank 0 among them. */
  readonly deathsOfRank0: number
  /** Ranks that found themselves out of their group. */
  readonly out: number
  readonly stops: number
  /** Pages that were reported as lost, rightly. */
  readonly lost: number
  /** In words; none where all is well. */
  readonly violations: readonly string[]
}

/**
 * Groups of real processes that write and read pages, while some are killed and others stopped and continued; and a
 * look at everything they saw. A killed process is not replaced. When few are left, they end in order, and the next
 * group begins.
 */
export async function runTorture(options: TortureOptions = {}): Promise<TortureResult[]> {
  const { coherence = [...protocols.keys()], places = torturePlaces, signal, onResult } = options
  const random = new Random(options.seed ?? 1)
  const folder = mkdtempSync(join(tmpdir(), 'aether-torture-'))
  const guard = new OrphanGuard()
  const results: TortureResult[] = []
  try {
    for (const name of coherence) {
      for (const place of places) {
        if (signal?.aborted === true) break
        const result = await torture(name, place, { options, random, folder, guard })
        results.push(result)
        onResult?.(result)
      }
    }
    return results
  } finally {
    guard.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Surroundings {
  readonly options: TortureOptions
  readonly random: Random
  readonly folder: string
  readonly guard: OrphanGuard
}

async function torture(coherence: string, place: TorturePlace, around: Surroundings): Promise<TortureResult> {
  const { options } = around
  const startedMs = performance.now()
  const { groups: count = Number.POSITIVE_INFINITY } = options
  const untilMs = options.groups === undefined ? startedMs + 1000 * (options.seconds ?? 10) : Number.POSITIVE_INFINITY
  const groups: TortureGroupResult[] = []
  let taken = 0
  do {
    const group = await playGroup(coherence, place, untilMs, groups.length + taken, around)
    if (group.placeTaken && ++taken < PLACES_TRIED) continue
    groups.push(group)
  } while (
    groups.length < count &&
    performance.now() < untilMs &&
    options.signal?.aborted !== true &&
    !groups.some(isViolated)
  )
  const sum = (of: (group: TortureGroupResult) => number): number => groups.reduce((all, each) => all + of(each), 0)
  return {
    coherence,
    place,
    seconds: (performance.now() - startedMs) / 1000,
    groups: groups.length,
    reads: sum(({ reads }) => reads),
    writes: sum(({ writes }) => writes),
    deaths: sum(({ killed }) => killed.length),
    deathsOfRank0: sum(({ killed }) => (killed.includes(0) ? 1 : 0)),
    out: sum(({ out }) => out.length),
    stops: sum(({ stops }) => stops),
    lost: sum(({ lost }) => lost),
    violations: groups.flatMap(({ violations }) => violations),
  }
}

function playGroup(
  coherence: string,
  place: TorturePlace,
  untilMs: number,
  index: number,
  { options, random, folder, guard }: Surroundings,
): Promise<TortureGroupResult> {
  const { ranks = 4, survivors = 2, killEveryMs = 2000, stopEveryMs = 500, stopMsMax = 300, leaseMs = 10_000 } = options
  const { pages = 32, pageSize = 4096, memory = new URL('./region-memory.js', import.meta.url), onEvent } = options
  const group = new TortureGroup({
    plan: { coherence, pages, pageSize, leaseMs, memoryUrl: memory.href },
    place,
    ranks,
    survivors,
    killEveryMs,
    stopEveryMs,
    stopMsMax,
    untilMs,
    random,
    folder: join(folder, `${coherence}-${place}-${index}`),
    guard,
    signal: options.signal,
    onEvent: (text) => onEvent?.(`${coherence}, ${inWords(place)}: ${text}`),
  })
  return group.run()
}

const isViolated = ({ violations }: TortureGroupResult): boolean => violations.length > 0

function inWords(place: TorturePlace): string {
  return place === 'machine' ? 'one machine' : 'hosts over TCP'
}
