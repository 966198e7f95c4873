import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { Random } from '../../../src/runtime/index.ts'
import type { Machines } from '../../support/machines.ts'
import { RankProcess } from '../../support/rank-process.ts'
import { signalTo } from '../../support/signal-to.ts'
import { assertLinearizable } from '../histories.ts'

const fixture = new URL('../fixtures/replica-rank.js', import.meta.url)
const KEYS = 16
/** So a history has as many as that at a time, or more. */
const CLIENTS = 20
const REST_MS = [100, 300] as const
/** Much longer than after what others elect a leader. */
const PAUSED_MS_MAX = 1000
/** Of the entries that a voter may lack when the next one is taken away. */
const LAG_MAX = 100

type Action = 'kill' | 'kill leader' | 'pause' | 'pause leader' | 'kill while paused' | 'transfer' | 'kill all'

/** Where replicas run, and how they find each other. */
type TortureMachines = Pick<Machines, 'place' | 'joinOptions'>

export interface ReplicaTorturePlan {
  readonly seed: number
  readonly replicas: number
  /** How many calls are answered, and how many actions done, at least. */
  readonly calls: number
  readonly actions: number
  /** Each has one replica. Default: all are on this one. */
  readonly machines?: TortureMachines
  /** Logs are on disks, and outlive all processes. */
  readonly onDisks?: boolean
  /** What `replicate` takes. */
  readonly options?: object
  /** A member that is silent for longer is out. Only for machines; it is longer than a pause. */
  readonly leaseMs?: number
  /** The longest rest of a client between two calls. */
  readonly pauseMs?: number
  /** Told of each action, where one takes long. */
  readonly say?: (text: string) => void
  /** How long a call, or the return of a replica, may take. */
  readonly patienceMs?: number
}

interface Replica {
  readonly process: RankProcess
  readonly rank: number
  readonly place: number
}

interface Status {
  readonly term: number
  readonly isLeader: boolean
  readonly voters?: readonly number[]
  readonly lags: readonly { readonly entries: number }[]
}

/**
 * Replicas of registers that are killed, stopped and begun again from a seed, while clients in their processes write
 * down what they do. A minority at a time: each action waits until all vote again.
 */
export class ReplicaTorture {
  readonly #plan: ReplicaTorturePlan
  readonly #name: string
  readonly #random: Random
  readonly #folder = mkdtempSync(join(tmpdir(), 'aether-replica-torture-'))
  readonly #path = join(this.#folder, 'history')
  readonly #patienceMs: number
  readonly #started: RankProcess[] = []
  readonly #done = new Map<Action, number>()
  /** Those of this turn that are still to be done: each comes before one comes again. */
  #actions: Action[] = []
  #replicas: Replica[] = []
  #lives = 0
  #clients = 0

  private constructor(plan: ReplicaTorturePlan) {
    this.#plan = plan
    this.#name = `torture-${process.pid}-${plan.seed}`
    this.#random = new Random(plan.seed)
    this.#patienceMs = plan.patienceMs ?? 45_000
  }

  /** What was done, and how many calls the history has, which was judged. */
  static async run(plan: ReplicaTorturePlan): Promise<string> {
    const torture = new ReplicaTorture(plan)
    try {
      return await torture.#run()
    } finally {
      await torture.#end()
    }
  }

  async #run(): Promise<string> {
    await this.#begin()
    await this.#untilWhole()
    const beganMs = performance.now()
    let count = 0
    for (; count < this.#plan.actions || this.#answered() < this.#plan.calls; count += 1) {
      await sleep(REST_MS[0] + this.#random.below(REST_MS[1]))
      const action = this.#draw()
      this.#done.set(action, (this.#done.get(action) ?? 0) + 1)
      this.#plan.say?.(`${Math.round(performance.now() - beganMs)} ms: ${action} after ${this.#answered()} calls`)
      try {
        await this.#do(action)
        await this.#untilWhole()
      } catch (cause) {
        throw new Error(`cannot ${action}, action ${count + 1} of seed ${this.#plan.seed}: ${cause}`, { cause })
      }
    }
    const eachMs = Math.round((performance.now() - beganMs) / count)
    await Promise.all(this.#replicas.map((each) => each.process.call('stop')))
    const answered = this.#answered()
    const calls = assertLinearizable(this.#path)
    await Promise.all(this.#replicas.map((each) => each.process.call('closeGroup')))
    const done = [...this.#done].map(([action, times]) => `${action} ${times}`).join(', ')
    return `${count} actions, one in ${eachMs} ms (${done}); ${calls} calls of ${this.#clients} clients, ${calls - answered} unknown: linearizable`
  }

  #answered(): number {
    return readFileSync(this.#path, 'utf8').split('"output"').length - 1
  }

  #draw(): Action {
    if (this.#actions.length === 0) {
      this.#actions = ['kill', 'kill leader', 'pause', 'pause leader', 'transfer']
      // Of three on machines, a third is no quorum of the group.
      if (this.#plan.machines === undefined || this.#plan.replicas > 3) this.#actions.push('kill while paused')
      if (this.#plan.onDisks === true) this.#actions.push('kill all')
    }
    const [action] = this.#actions.splice(this.#random.below(this.#actions.length), 1)
    return action!
  }

  async #do(action: Action): Promise<void> {
    const any = this.#replicas[this.#random.below(this.#replicas.length)]!
    switch (action) {
      case 'kill':
        return await this.#replace([any])
      case 'kill leader':
        return await this.#replace([(await this.#leader()) ?? any])
      case 'pause':
        return await this.#pause(any)
      case 'pause leader':
        return await this.#pause((await this.#leader()) ?? any)
      case 'kill while paused': {
        const others = this.#replicas.filter((each) => each !== any)
        await this.#pause(any, others[this.#random.below(others.length)]!)
        return
      }
      case 'transfer':
        // It may lead by then, or have been passed by.
        await (await this.#leader())?.process.call('transfer', any.rank).catch(() => undefined)
        return
      case 'kill all':
        await Promise.all(this.#replicas.splice(0).map((each) => each.process.kill()))
        return await this.#begin()
    }
  }

  /** `victim` is killed in the meantime, and begun again afterwards: no one is admitted while a member is stopped. */
  async #pause(replica: Replica, victim?: Replica): Promise<void> {
    signalTo(replica.process, 'SIGSTOP')
    const pausedMs = 1 + this.#random.below(PAUSED_MS_MAX)
    await sleep(pausedMs / 2)
    await victim?.process.kill()
    await sleep(pausedMs / 2)
    signalTo(replica.process, 'SIGCONT')
    if (victim !== undefined) await this.#replace([victim])
  }

  async #replace(gone: readonly Replica[]): Promise<void> {
    await Promise.all(gone.map((each) => each.process.kill()))
    this.#replicas = this.#replicas.filter((each) => !gone.includes(each))
    const come = await Promise.all(gone.map(({ place }) => this.#joined(place)))
    this.#replicas.push(...come)
    await Promise.all(come.map((each) => this.#open(each)))
  }

  /** A group of its own, since all of the former one are gone. */
  async #begin(): Promise<void> {
    this.#lives += 1
    const places = Array.from({ length: this.#plan.replicas }, (_, place) => place)
    this.#replicas = await Promise.all(places.map((place) => this.#joined(place)))
    await Promise.all(this.#replicas.map((each) => this.#open(each)))
  }

  async #joined(place: number): Promise<Replica> {
    const { machines, leaseMs } = this.#plan
    const { environment = {}, under = [] } = (await machines?.place(place)) ?? {}
    const started = new RankProcess(fixture, environment, under)
    this.#started.push(started)
    const rank = await started.call<number>('join', {
      ...{ name: `${this.#name}-${this.#lives}`, timeoutMs: this.#patienceMs },
      ...(leaseMs === undefined ? {} : { leaseMs }),
      ...machines?.joinOptions,
    })
    return { process: started, rank, place }
  }

  async #open({ process: started, place }: Replica): Promise<void> {
    const { replicas, onDisks, options, pauseMs = 40 } = this.#plan
    const count = Math.ceil(CLIENTS / replicas)
    const first = this.#clients + 1
    this.#clients += count
    const directory = onDisks === true ? { directory: join(this.#folder, `log-${place}`) } : {}
    await started.call('open', { replicas, timeoutMs: this.#patienceMs, ...directory, ...options })
    const callOptions = { timeoutMs: this.#patienceMs }
    await started.call('begin', this.#path, first, count, KEYS, pauseMs, callOptions)
  }

  async #statuses(): Promise<readonly (Status | undefined)[]> {
    return await Promise.all(this.#replicas.map((each) => each.process.call<Status>('status').catch(() => undefined)))
  }

  /** Of those that say that they lead, the one with the highest term. */
  async #leading(): Promise<{ readonly replica: Replica; readonly status: Status } | undefined> {
    const statuses = await this.#statuses()
    const leading = this.#replicas.flatMap((replica, at) => {
      const status = statuses[at]
      return status?.isLeader === true ? [{ replica, status }] : []
    })
    return leading.sort((one, other) => other.status.term - one.status.term)[0]
  }

  async #leader(): Promise<Replica | undefined> {
    return (await this.#leading())?.replica
  }

  /** All that live vote, and have nearly everything: a minority may be taken away again. */
  async #untilWhole(): Promise<void> {
    const ranks = this.#replicas.map(({ rank }) => rank).sort()
    for (const endMs = performance.now() + this.#patienceMs; ; await sleep(20)) {
      const { voters = [], lags = [] } = (await this.#leading())?.status ?? {}
      const isWhole = voters.toSorted().join() === ranks.join() && lags.every(({ entries }) => entries < LAG_MAX)
      if (isWhole) return
      if (performance.now() > endMs) assert.fail(`of ${ranks.join()}: ${JSON.stringify(await this.#statuses())}`)
    }
  }

  async #end(): Promise<void> {
    await Promise.all(this.#started.map((each) => each.kill()))
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
