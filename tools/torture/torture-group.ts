import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { OrphanGuard } from 'aether-dsm/internal/cluster'
import type { Random } from 'aether-dsm/internal/runtime'
import { parseAccessLog } from './access-log.ts'
import { checkTortureHistory, describeAccess, lostPages } from './check-history.ts'
import type { TortureAccess, TortureAccessKind } from './history.ts'
import { meetingPlace } from './meeting-place.ts'
import { homeOfTorture, type TorturePlace, type TorturePlan } from './torture-plan.ts'
import { TortureProcess } from './torture-process.ts'

/** Longer than any busy machine takes; a group that has not begun, or ended, by then hangs. */
const BEGIN_MS_MAX = 120_000
const END_MS_MAX = 120_000
/** Of a rank that finds itself out of its group. */
const OUT_EXIT_CODE = 72
/** What rank 0 says if another program has taken the port. */
const PLACE_TAKEN = 'another program listens there'

export interface TortureGroupOptions {
  readonly plan: Omit<TorturePlan, 'logs' | 'seed'>
  readonly place: TorturePlace
  readonly ranks: number
  /** No rank is killed if only this many are left. */
  readonly survivors: number
  readonly killEveryMs: number
  readonly stopEveryMs: number
  /** How long a rank is stopped at the most. */
  readonly stopMsMax: number
  /** When it ends, by performance.now(), however many are left; Infinity: when few are left. */
  readonly untilMs: number
  readonly random: Random
  /** Everything that the group leaves behind is in here. */
  readonly folder: string
  readonly guard: OrphanGuard
  readonly signal: AbortSignal | undefined
  /** In words, what has just been done to whom. */
  readonly onEvent: (text: string) => void
}

/** What came of a group. */
export interface TortureGroupResult {
  readonly reads: number
  readonly writes: number
  readonly killed: readonly number[]
  /**
   * Ranks that were out of the group, because they were silent for longer than the lease or too few were left, and
   * ended themselves.
   */
  readonly out: readonly number[]
  readonly stops: number
  /** How many pages were reported as lost. */
  readonly lost: number
  readonly violations: readonly string[]
  /** Another program had taken the port of the group, so nothing ran. */
  readonly placeTaken: boolean
}

/**
 * The life of one group: its ranks are killed, one after the other, until few are left, and stopped and continued
 * meanwhile.
 */
export class TortureGroup {
  readonly #options: TortureGroupOptions
  readonly #plan: TorturePlan
  readonly #violations: string[] = []
  #processes: readonly TortureProcess[] = []
  #stops = 0
  #calm = false

  constructor(options: TortureGroupOptions) {
    this.#options = options
    const logs = join(options.folder, 'logs')
    this.#plan = { ...options.plan, seed: options.random.uint32() | 0, logs }
  }

  async run(): Promise<TortureGroupResult> {
    const { folder } = this.#options
    mkdirSync(this.#plan.logs, { recursive: true })
    try {
      await this.#start()
      if (await this.#areAll('ready', BEGIN_MS_MAX)) {
        await this.#disturb()
        for (const process of this.#processes) process.order('stop')
        if (await this.#areAll('done', END_MS_MAX)) await this.#areAll('ended', END_MS_MAX)
      }
      await this.#end()
      return this.#result()
    } finally {
      await this.#end()
      rmSync(folder, { recursive: true, force: true })
    }
  }

  async #start(): Promise<void> {
    const { place, ranks, folder, guard } = this.#options
    const environment = await meetingPlace(place, ranks, folder)
    this.#processes = Array.from(
      { length: ranks },
      (_, rank) => new TortureProcess(rank, this.#plan, environment(rank)),
    )
    for (const { processId } of this.#processes) guard.add(processId)
  }

  /** Whether all who live have come so far in time, or have ended. Who has not, hangs. */
  async #areAll(what: 'ready' | 'done' | 'ended', ms: number): Promise<boolean> {
    const timer = new AbortController()
    const late = sleep(ms, true, { signal: timer.signal }).catch(() => true)
    const waiting = new Set(this.#living)
    const all = Promise.all(
      this.#living.map(async (process) => {
        await process[what]
        waiting.delete(process)
      }),
    )
    const isLate = await Promise.race([all.then(() => false), late])
    timer.abort()
    if (isLate) for (const process of waiting) this.#tellThatItHangs(process, what, ms)
    return !isLate && this.#living.length > 0
  }

  #tellThatItHangs(process: TortureProcess, what: string, ms: number): void {
    const last = this.#logOf(process).at(-1)
    const where = last === undefined ? '' : `; last: ${describeAccess(last)} of page ${last.page}`
    this.#violations.push(`hang: rank ${process.rank} is not ${what} after ${ms / 1000} s${where}`)
  }

  async #disturb(): Promise<void> {
    const stopping = this.#stopSome()
    await this.#killSome()
    this.#calm = true
    await stopping
  }

  /** Those who are left after the last one is killed go on for as long as between two. */
  async #killSome(): Promise<void> {
    const { killEveryMs, survivors, random, onEvent } = this.#options
    while (await this.#pause(killEveryMs)) {
      const living = this.#living
      if (living.length <= survivors) return
      const victim = living[random.below(living.length)]!
      victim.kill()
      onEvent(`rank ${victim.rank} killed, ${living.length - 1} of ${this.#processes.length} left`)
    }
  }

  async #stopSome(): Promise<void> {
    const { stopEveryMs, stopMsMax, random } = this.#options
    while (!this.#calm && (await this.#pause(stopEveryMs))) {
      const living = this.#living
      if (living.length === 0) return
      const one = living[random.below(living.length)]!
      this.#stops += 1
      one.stop()
      await sleep(1 + random.below(stopMsMax))
      one.goOn()
    }
  }

  /** About so long; false where the time of the group is over. */
  async #pause(ms: number): Promise<boolean> {
    const { random, untilMs, signal } = this.#options
    const wanted = Math.min(ms / 2 + random.below(ms), untilMs - performance.now())
    await sleep(Math.max(0, wanted), undefined, { signal }).catch(() => {})
    return performance.now() < untilMs && signal?.aborted !== true
  }

  get #living(): TortureProcess[] {
    return this.#processes.filter(({ isAlive }) => isAlive)
  }

  async #end(): Promise<void> {
    for (const process of this.#living) process.kill()
    await Promise.all(this.#processes.map(({ ended }) => ended))
    for (const { processId } of this.#processes) this.#options.guard.remove(processId)
  }

  // ---- afterwards
  // ------------------------------------------------------------------------------------------------------------

  #result(): TortureGroupResult {
    const killed = this.#processes.filter(({ killedUs }) => killedUs !== undefined)
    const others = this.#processes.filter(({ killedUs }) => killedUs === undefined)
    const out = others.filter(({ end }) => end?.exitCode === OUT_EXIT_CODE)
    const placeTaken = others.some(({ end }) => end?.said.includes(PLACE_TAKEN) === true)
    for (const { rank, end } of others)
      if (end?.exitCode !== 0 && end?.exitCode !== OUT_EXIT_CODE)
        this.#violations.push(`rank ${rank} ended with ${end?.exitCode ?? end?.signal}: ${end?.said.trim()}`)
    const accesses = this.#processes.flatMap((process) => this.#accessesOf(process))
    const deaths = new Map([...killed, ...out].map((process) => [process.rank, this.#goneSinceUs(process)]))
    const homeOf = (page: number): number => homeOfTorture(page, this.#processes.length)
    const count = (kind: TortureAccessKind): number =>
      accesses.filter((access) => access.kind === kind && access.outcome === 'done').length
    return {
      reads: count('read'),
      writes: count('write'),
      killed: killed.map(({ rank }) => rank),
      out: out.map(({ rank }) => rank),
      stops: this.#stops,
      lost: lostPages(accesses).length,
      violations: placeTaken ? [] : [...this.#violations, ...checkTortureHistory({ accesses, deaths, homeOf })],
      placeTaken,
    }
  }

  /**
   * When others may have begun to do without a rank that was killed, or out: since a stop that may have been a lease,
   * with the time it takes to get a processor; or it was slow without one.
   */
  #goneSinceUs({ stops, end, killedUs = Number.POSITIVE_INFINITY }: TortureProcess): number {
    const leaseUs = this.#plan.leaseMs * 1000
    const stop = stops.find(({ lastedUs }) => lastedUs > leaseUs / 4)
    const silentUs = end?.exitCode === OUT_EXIT_CODE ? end.atUs - 2 * leaseUs : Number.POSITIVE_INFINITY
    return Math.min(killedUs, stop?.beganUs ?? Number.POSITIVE_INFINITY, silentUs)
  }

  /**
   * Of what a rank did that may have been out by then, and did not know it yet, some may have taken place for the
   * others, too.
   */
  #accessesOf(process: TortureProcess): TortureAccess[] {
    const accesses = this.#logOf(process)
    if (process.killedUs === undefined && process.end?.exitCode !== OUT_EXIT_CODE) return accesses
    const sinceUs = this.#goneSinceUs(process)
    return accesses.map((access) =>
      access.endedUs < sinceUs ? access : { ...access, endedUs: Number.POSITIVE_INFINITY, outcome: 'doubt' },
    )
  }

  #logOf({ rank }: TortureProcess): TortureAccess[] {
    const path = join(this.#plan.logs, String(rank))
    return existsSync(path) ? parseAccessLog(rank, readFileSync(path, 'utf8')) : []
  }
}
