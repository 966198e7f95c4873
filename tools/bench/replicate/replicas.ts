import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { answerOf, askProcess } from '../ask-process.ts'
import type { LanesRun } from '../lanes.ts'
import { processorNsOfAll } from '../peers/processor-time.ts'
import type { FromReplica, ReplicaPlan, ToReplica } from './replica-orders.ts'

let groups = 0

/** How many there are, and how each runs. */
export interface ReplicasOptions {
  readonly replicas: number
  readonly spinMs?: number
  readonly thread?: ReplicaPlan['thread']
  readonly directory?: string
}

/** The replicas of one machine, each in a process of its own. */
export class Replicas implements AsyncDisposable {
  readonly #processes: readonly ChildProcess[]
  readonly #leader: ChildProcess

  private constructor(processes: readonly ChildProcess[], leader: ChildProcess) {
    this.#processes = processes
    this.#leader = leader
  }

  /** With a `directory`, their logs are in it. */
  static async start({ replicas, spinMs = 0, thread = 'own', directory }: ReplicasOptions): Promise<Replicas> {
    groups += 1
    const name = `bench-replicate-${process.pid}-${groups}`
    const planOf = (replica: number): ReplicaPlan => {
      const own = directory === undefined ? undefined : join(directory, `${replica}`)
      return { ...{ name, replicas, spinMs, thread }, directory: own }
    }
    const script = fileURLToPath(new URL('./replica-process.js', import.meta.url))
    const processes = Array.from({ length: replicas }, (_, replica) =>
      fork(script, [JSON.stringify(planOf(replica))], {
        serialization: 'advanced',
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      }),
    )
    try {
      const opened = await Promise.all(processes.map((each) => answerOf<FromReplica, 'opened'>(each, 'opened')))
      const leader = processes[opened.findIndex(({ leads }) => leads)]
      if (leader === undefined) throw new Error('no replica leads')
      return new Replicas(processes, leader)
    } catch (error) {
      for (const each of processes) each.kill('SIGKILL')
      throw error
    }
  }

  /** Proposals of the leader's program, `depth` under way, and the processor time of all processes. */
  async propose(bytes: number, depth: number, timeMs: number): Promise<{ run: LanesRun; cpuNs: number }> {
    const pids = this.#processes.map(({ pid }) => pid!)
    const prepare: ToReplica = { kind: 'prepare', bytes, depth, timeMs }
    await askProcess<FromReplica, 'prepared'>(this.#leader, prepare, 'prepared')
    const before = processorNsOfAll(pids)
    const propose: ToReplica = { kind: 'propose' }
    const { run } = await askProcess<FromReplica, 'proposed'>(this.#leader, propose, 'proposed')
    return { run, cpuNs: processorNsOfAll(pids) - before }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = this.#processes.map(async (each) => {
      const order: ToReplica = { kind: 'close' }
      await askProcess<FromReplica, 'closed'>(each, order, 'closed').catch(() => each.kill('SIGKILL'))
      if (each.exitCode === null && each.signalCode === null) await once(each, 'exit')
    })
    await Promise.all(ended)
  }
}
