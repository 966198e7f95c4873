import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkStore } from 'aether-dsm/internal/adapters'
import type { OrphanGuard } from 'aether-dsm/internal/cluster'
import type { Random } from 'aether-dsm/internal/runtime'
import { checkDirectory } from 'aether-dsm/internal/saving'
import { meetingPlace } from '../torture/meeting-place.ts'
import { DOOMED_RANK } from './doomed.ts'
import { INCARNATIONS_MAX } from './journal.ts'
import { about, type StructureMemory, type StructurePlan, type StructureVerdict } from './plan.ts'
import { wantedOf } from './regroup.ts'
import { StructureProcess } from './structure-process.ts'
import type { Note } from './worker.ts'

/** Longer than any busy machine takes; what has not happened by then hangs. */
const HANG_MS = 60_000
const VERDICT_MS_MAX = 600_000
/** One kill in this many hits any process, even one that does not work yet. */
const KILLED_EARLY_EVERY = 8
const LOOK_EVERY_MS = 1000
/** A group goes on until this many workers are left, because ranks that died are not replaced. */
const SURVIVORS = 1

export interface StructureRoundOptions {
  readonly plan: Pick<StructurePlan, 'place' | 'structures' | 'leaseMs' | 'sizeBytes'>
  /** Workers at a time. */
  readonly processes: number
  readonly seconds: number
  readonly killEveryMs: number
  readonly stopEveryMs: number
  readonly stopMsMax: number
  readonly random: Random
  /** Everything that the round leaves behind is in here. */
  readonly folder: string
  readonly guard: OrphanGuard
  readonly signal: AbortSignal | undefined
  /** In words, what has just been done. */
  readonly onEvent: (text: string) => void
}

/** What came of a round. */
export interface StructureRoundResult {
  readonly verdicts: readonly StructureVerdict[]
  /** Undefined where it was not compared. */
  readonly memory: StructureMemory | undefined
  readonly kills: number
  readonly stops: number
  /** How often the space of a directory was opened again, after all of its processes were killed. */
  readonly reopenings: number
  /** How often its memory was checked before. */
  readonly checks: number
  readonly wrong: readonly string[]
}

/** Structures are made, worked on by processes that are killed, stopped and replaced, and looked at in the end. */
export class StructureRound {
  readonly #options: StructureRoundOptions
  readonly #wrong: string[] = []
  readonly #workers: StructureProcess[] = []
  readonly #steps = new Map<number, { readonly steps: number; readonly sinceMs: number }>()
  #environment: (rank: number) => Readonly<Record<string, string>> = () => ({})
  #untilMs = 0
  #kills = 0
  #stops = 0
  #reopenings = 0
  #checks = 0
  #isOver = false

  constructor(options: StructureRoundOptions) {
    this.#options = options
  }

  async run(): Promise<StructureRoundResult> {
    const { folder, processes } = this.#options
    mkdirSync(this.#notes, { recursive: true })
    if (this.#directory !== undefined) mkdirSync(this.#directory)
    this.#environment = await meetingPlace('machine', processes + 1, folder)
    const judge = this.#start('judge', 0)
    try {
      // The ranks of a group wait for each other.
      if (!this.#isGroup) await this.#inTime(judge.reply('ready'), 'the judge is not ready')
      for (let seat = 0; seat < processes; seat += 1) this.#workers.push(this.#start('worker', seat))
      if (this.#isGroup) await this.#areReady(judge)
      await this.#disturb(judge)
      return await this.#end(judge)
    } finally {
      for (const each of [judge, ...this.#workers]) if (each.isAlive) each.kill()
      await Promise.all([judge, ...this.#workers].map(({ ended }) => ended))
      rmSync(folder, { recursive: true, force: true })
    }
  }

  get #isGroup(): boolean {
    const { place } = this.#options.plan
    return place === 'group' || place === 'homes'
  }

  /** Whether all workers are killed at once. */
  get #killsAll(): boolean {
    return this.#options.plan.place === 'directory'
  }

  /** Where spaces are files, if they are. */
  get #directory(): string | undefined {
    return this.#killsAll ? join(this.#options.folder, 'spaces') : undefined
  }

  /** Whether one of two homes is to be killed: the first worker is. */
  get #killsHome(): boolean {
    return this.#options.plan.place === 'homes'
  }

  get #notes(): string {
    return join(this.#options.folder, 'notes')
  }

  get #living(): readonly StructureProcess[] {
    return this.#workers.filter(({ isAlive }) => isAlive)
  }

  #start(role: StructurePlan['role'], seat: number): StructureProcess {
    const { plan, random, guard } = this.#options
    const incarnation = role === 'judge' ? INCARNATIONS_MAX - 1 : this.#workers.length
    const rank = role === 'judge' ? 0 : seat + 1
    const started = new StructureProcess(
      {
        ...plan,
        ...{ role, seat, incarnation, seed: random.uint32() | 0, notes: this.#notes, directory: this.#directory },
      },
      this.#environment(rank),
    )
    guard.add(started.processId)
    void started.ended.then(() => guard.remove(started.processId))
    return started
  }

  async #areReady(judge: StructureProcess): Promise<void> {
    const all = [judge, ...this.#workers].map((each) => each.reply('ready'))
    await this.#inTime(Promise.all(all), 'the group does not meet')
  }

  async #disturb(judge: StructureProcess): Promise<void> {
    this.#untilMs = performance.now() + this.#options.seconds * 1000
    await Promise.all([this.#killSome(), this.#stopSome(), this.#watch(judge)])
  }

  async #killSome(): Promise<void> {
    const { killEveryMs, random } = this.#options
    while (await this.#pause(killEveryMs)) {
      if (this.#killsHome && this.#kills === 0) {
        this.#killHome()
        continue
      }
      if (this.#killsAll) {
        await this.#replaceAll()
        continue
      }
      const living = this.#living
      if (living.length <= (this.#isGroup ? SURVIVORS : 0)) continue
      // Most have begun to work before they are killed; some are killed while they join.
      const some = random.below(KILLED_EARLY_EVERY) === 0 ? living : living.filter(({ isReady }) => isReady)
      const victim = some[random.below(Math.max(1, some.length))]
      if (victim === undefined) continue
      this.#kill(victim)
      if (!this.#isGroup && this.#workers.length < INCARNATIONS_MAX - 1)
        this.#workers.push(this.#start('worker', victim.plan.seat))
    }
  }

  /** As long as all can be replaced. Most have begun to work by then. */
  async #replaceAll(): Promise<void> {
    const { random, processes } = this.#options
    if (this.#workers.length + processes > INCARNATIONS_MAX - 1) return
    if (random.below(KILLED_EARLY_EVERY) > 0 && this.#living.some(({ isReady }) => !isReady)) return
    const ended = this.#killAll()
    // Those who come next may meet those who are about to end.
    if (random.below(2) === 0) {
      await ended
      await this.#check()
    }
    this.#reopenings += 1
    for (let seat = 0; seat < processes; seat += 1) this.#workers.push(this.#start('worker', seat))
  }

  /** In some rounds no one sees another end: all are stopped first. */
  async #killAll(): Promise<void> {
    const living = this.#living
    if (this.#options.random.below(2) === 0) for (const each of living) each.stop()
    for (const each of living) this.#kill(each)
    await Promise.all(living.map(({ ended }) => ended))
  }

  /** What was left must be whole before anyone has recovered it. */
  async #check(): Promise<void> {
    const { state, damaged, lost } = await checkDirectory(join(this.#directory!, 'torture'), checkStore)
    this.#checks += 1
    if (state === 'good' && damaged.length === 0 && lost.length === 0) return
    this.#wrong.push(`after all were killed, the space was ${state}: ${JSON.stringify({ damaged, lost })}`)
    this.#isOver = true
  }

  #killHome(): void {
    this.#kill(this.#workers[DOOMED_RANK - 1]!)
  }

  #kill(victim: StructureProcess): void {
    victim.kill()
    this.#kills += 1
    this.#options.onEvent(`process ${victim.plan.incarnation} killed, ${this.#kills} kills`)
  }

  async #stopSome(): Promise<void> {
    const { stopEveryMs, stopMsMax, random } = this.#options
    while (await this.#pause(stopEveryMs)) {
      const living = this.#living
      if (living.length === 0) return
      const one = living[random.below(living.length)]!
      this.#stops += 1
      one.stop()
      await sleep(1 + random.below(stopMsMax))
      one.goOn()
    }
  }

  /** A process that is not stopped and makes no progress hangs. */
  async #watch(judge: StructureProcess): Promise<void> {
    while (await this.#pause(LOOK_EVERY_MS)) {
      judge.order({ type: 'progress', processes: this.#workers.length })
      const reply = await this.#inTime(judge.reply('progress'), 'the judge does not answer')
      for (const { incarnation, steps, structure } of reply?.progress ?? []) {
        const worker = this.#workers[incarnation]
        const known = this.#steps.get(incarnation)
        if (worker?.isAlive !== true || worker.isStopped || known?.steps !== steps)
          this.#steps.set(incarnation, { steps, sinceMs: performance.now() })
        else if (performance.now() - known.sinceMs > HANG_MS) {
          this.#wrong.push(`hang: process ${incarnation} has been busy with ${structure} for ${HANG_MS / 1000} s`)
          this.#isOver = true
        }
      }
    }
  }

  /** About so long; false where the round is over. */
  async #pause(ms: number): Promise<boolean> {
    const { random, signal } = this.#options
    const wanted = Math.min(about(ms, random), this.#untilMs - performance.now())
    await sleep(Math.max(0, wanted), undefined, { signal }).catch(() => {})
    return performance.now() < this.#untilMs && signal?.aborted !== true && !this.#isOver
  }

  /** Some leave in order, and some are killed; then it is looked at what there is. */
  async #end(judge: StructureProcess): Promise<StructureRoundResult> {
    if (this.#killsHome && this.#kills === 0) this.#killHome()
    if (this.#killsAll) {
      await this.#killAll()
      await this.#check()
      this.#reopenings += 1
    }
    for (const worker of this.#living) {
      if (!this.#isGroup && worker.plan.seat % 2 === 1) worker.kill()
      else worker.order({ type: 'stop' })
    }
    const leaving = this.#living
    await this.#inTime(Promise.all(leaving.map((each) => each.reply('done'))), 'not all who were told to stop do')
    if (!this.#isGroup) await this.#leave(leaving)
    judge.order({ type: 'judge', fates: this.#workers.map(({ fate }) => fate) })
    const reply = await this.#inTime(judge.reply('verdict'), 'the judge comes to no verdict', VERDICT_MS_MAX)
    await (this.#killsHome
      ? this.#regroup([judge, ...leaving])
      : this.#leave(this.#isGroup ? [judge, ...leaving] : [judge]))
    const failures = [judge, ...this.#workers].flatMap(({ failure }) => failure ?? [])
    return {
      verdicts: (reply?.verdicts ?? []).map((verdict) => ({
        ...verdict,
        wrong: [...verdict.wrong, ...this.#notesOf(verdict.structure)],
      })),
      memory: reply?.memory ?? undefined,
      kills: this.#kills,
      stops: this.#stops,
      reopenings: this.#reopenings,
      checks: this.#checks,
      wrong: [...this.#wrong, ...failures, ...(reply === undefined ? ['there is no verdict'] : [])],
    }
  }

  async #leave(processes: readonly StructureProcess[]): Promise<void> {
    for (const each of processes) each.order({ type: 'leave' })
    await this.#inTime(Promise.all(processes.map(({ ended }) => ended)), 'not all who were told to leave do')
  }

  /** Those who are left make another group. */
  async #regroup(left: readonly StructureProcess[]): Promise<void> {
    const size = left.length
    const replies = left.map((each) => each.reply('regrouped'))
    for (const [rank, each] of left.entries()) each.order({ type: 'leave', regroup: { rank, size } })
    for (const reply of (await this.#inTime(Promise.all(replies), 'those who are left make no group')) ?? []) {
      const found = JSON.stringify(reply?.found)
      const wanted = JSON.stringify(wantedOf({ size }))
      if (found !== wanted) this.#wrong.push(`in the next group ${found ?? 'nothing'} was counted, not ${wanted}`)
    }
    await this.#inTime(Promise.all(left.map(({ ended }) => ended)), 'not all of the next group leave')
  }

  async #inTime<T>(what: Promise<T>, late: string, milliseconds: number = HANG_MS): Promise<T | undefined> {
    const timer = new AbortController()
    const over = sleep(milliseconds, 'late' as const, { signal: timer.signal }).catch(() => 'late' as const)
    const first = await Promise.race([what.then((value) => ({ value })), over])
    timer.abort()
    if (first !== 'late') return first.value
    this.#wrong.push(`hang: ${late} after ${milliseconds / 1000} s`)
    return undefined
  }

  /** What workers found wrong. */
  #notesOf(structure: string): readonly string[] {
    const files = existsSync(this.#notes) ? readdirSync(this.#notes) : []
    const lines = files.flatMap((file) => readFileSync(join(this.#notes, file), 'utf8').split('\n').slice(0, -1))
    return lines
      .map((line) => JSON.parse(line) as Note)
      .filter((note) => note.structure === structure)
      .map(({ text }) => text)
  }
}
