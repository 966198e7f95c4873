import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OrphanGuard } from 'aether-dsm/internal/cluster'
import { Random } from 'aether-dsm/internal/runtime'
import { doomedName } from './doomed.ts'
import { type StructurePlace, type StructureVerdict, structurePlaces } from './plan.ts'
import { StructureRound, type StructureRoundResult } from './structure-round.ts'
import { groupSubjects, machineSubjects } from './subjects/index.ts'

/** Names of all structures that can be tortured. */
export const tortureStructures: readonly string[] = machineSubjects.map(({ name }) => name)

export interface StructureTortureOptions {
  /** Default all: see {@link tortureStructures}. */
  readonly structures?: readonly string[]
  /** Default all. */
  readonly places?: readonly StructurePlace[]
  /** Of each place. Default 30. */
  readonly seconds?: number
  /** The length of a round. After it everything is checked, and a new round starts. Default 10. */
  readonly roundSeconds?: number
  /** Processes that work at a time. Default 4. */
  readonly processes?: number
  /**
   * The approximate time from one kill to the next. Default 1000; in a group 2000, because ranks that died are not
   * replaced.
   */
  readonly killEveryMs?: number
  /** About how long it is from one stop (SIGSTOP) to the next. Default 500. */
  readonly stopEveryMs?: number
  /** Default 200. */
  readonly stopMsMax?: number
  /** Of a group: how long a silence is an end. Default 10,000. */
  readonly leaseMs?: number
  /** Memory for all structures, in bytes. Default 32 MiB. */
  readonly sizeBytes?: number
  /** Of who is killed and stopped when, and of what each does. The rest is up to the machine. Default 1. */
  readonly seed?: number
  readonly signal?: AbortSignal
  readonly onEvent?: (text: string) => void
}

/** What came of the structures of one place. */
export interface StructureTortureResult {
  readonly place: StructurePlace
  readonly seconds: number
  readonly rounds: number
  readonly kills: number
  readonly stops: number
  /** How often the space of a directory was opened again, after all of its processes were killed. */
  readonly reopenings: number
  /** How often its memory was checked before that. */
  readonly checks: number
  readonly structures: readonly StructureVerdict[]
  /**
   * For each round that compared it: bytes in use after everything was removed, minus those in a space without kills.
   */
  readonly bytesLeft: readonly number[]
  /** In words, what is of no structure; none where all is well. */
  readonly wrong: readonly string[]
}

/**
 * Processes work on every structure while some are killed, stopped and replaced; after each round it is looked at what
 * is there.
 */
export async function runStructureTorture(
  options: StructureTortureOptions = {},
): Promise<readonly StructureTortureResult[]> {
  const random = new Random(options.seed ?? 1)
  const folder = mkdtempSync(join(tmpdir(), 'aether-torture-'))
  const guard = new OrphanGuard()
  const results: StructureTortureResult[] = []
  try {
    for (const place of options.places ?? structurePlaces) {
      if (options.signal?.aborted === true || namesOf(place, options).length === 0) continue
      results.push(await torture(place, { options, random, folder, guard }))
    }
    return results
  } finally {
    guard.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Surroundings {
  readonly options: StructureTortureOptions
  readonly random: Random
  readonly folder: string
  readonly guard: OrphanGuard
}

async function torture(place: StructurePlace, around: Surroundings): Promise<StructureTortureResult> {
  const { options } = around
  const startedMs = performance.now()
  const untilMs = startedMs + 1000 * (options.seconds ?? 30)
  const rounds: StructureRoundResult[] = []
  do {
    const seconds = Math.max(1, Math.min(options.roundSeconds ?? 10, (untilMs - performance.now()) / 1000))
    rounds.push(await playRound(place, rounds.length, seconds, around))
  } while (performance.now() < untilMs && options.signal?.aborted !== true && !rounds.some(isWrong))
  return {
    place,
    seconds: (performance.now() - startedMs) / 1000,
    rounds: rounds.length,
    kills: rounds.reduce((sum, { kills }) => sum + kills, 0),
    stops: rounds.reduce((sum, { stops }) => sum + stops, 0),
    reopenings: rounds.reduce((sum, { reopenings }) => sum + reopenings, 0),
    checks: rounds.reduce((sum, { checks }) => sum + checks, 0),
    structures: judgedOf(place, options).map((name) => sumUp(name, rounds)),
    bytesLeft: rounds.flatMap(({ memory }) => (memory === undefined ? [] : [memory.usedBytes - memory.freshBytes])),
    wrong: [...rounds.flatMap(({ wrong }) => wrong), ...sumUp('memory', rounds).wrong, ...rounds.flatMap(leaks)],
  }
}

function playRound(
  place: StructurePlace,
  index: number,
  seconds: number,
  { options, random, folder, guard }: Surroundings,
): Promise<StructureRoundResult> {
  const { processes = 4, stopEveryMs = 500, stopMsMax = 200, leaseMs = 10_000, sizeBytes = 32 * 2 ** 20 } = options
  const killEveryMs = options.killEveryMs ?? (isOfMachine(place) ? 1000 : 2000)
  const round = new StructureRound({
    plan: { place, structures: namesOf(place, options), leaseMs, sizeBytes },
    processes,
    seconds,
    killEveryMs,
    stopEveryMs,
    stopMsMax,
    random,
    folder: join(folder, `${place}-${index}`),
    guard,
    signal: options.signal,
    onEvent: (text) => options.onEvent?.(`${place}, round ${index + 1}: ${text}`),
  })
  return round.run()
}

function namesOf(place: StructurePlace, { structures = tortureStructures }: StructureTortureOptions): string[] {
  const subjects: readonly { readonly name: string }[] = isOfMachine(place) ? machineSubjects : groupSubjects
  return subjects.map(({ name }) => name).filter((name) => structures.includes(name))
}

function isOfMachine(place: StructurePlace): boolean {
  return place === 'machine' || place === 'directory'
}

/** Names under which something is said of them. */
function judgedOf(place: StructurePlace, options: StructureTortureOptions): readonly string[] {
  const names = namesOf(place, options)
  return place === 'homes' ? [...names, ...names.map(doomedName)] : names
}

function sumUp(structure: string, rounds: readonly StructureRoundResult[]): StructureVerdict {
  const of = rounds.flatMap(({ verdicts }) => verdicts.filter((verdict) => verdict.structure === structure))
  return {
    structure,
    operations: of.reduce((sum, { operations }) => sum + operations, 0),
    refused: of.reduce((sum, { refused }) => sum + refused, 0),
    cutShort: of.reduce((sum, { cutShort }) => sum + cutShort, 0),
    ages: of.reduce<readonly number[]>((sum, { ages }) => ages.map((count, age) => count + (sum[age] ?? 0)), []),
    wrong: of.flatMap(({ wrong }) => wrong),
  }
}

function isWrong(round: StructureRoundResult): boolean {
  return round.wrong.length > 0 || round.verdicts.some(({ wrong }) => wrong.length > 0) || leaks(round).length > 0
}

function leaks({ memory, verdicts }: StructureRoundResult): readonly string[] {
  const left = memory === undefined ? 0 : memory.usedBytes - memory.freshBytes
  const judged = machineSubjects.filter(({ name }) => verdicts.some(({ structure }) => structure === name))
  return left <= judged.reduce((sum, { bytesAfterDeath = 0 }) => sum + bytesAfterDeath, 0)
    ? []
    : [`${left} bytes more are in use after everything was removed than in a space without kills`]
}
