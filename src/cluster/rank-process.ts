import { type ChildProcess, spawn } from 'node:child_process'
import process from 'node:process'
import type { Readable, Writable } from 'node:stream'
import { SECRET_FILE_VARIABLE } from '../runtime/index.ts'
import type { LaunchPlan } from './launch-options.ts'
import type { LaunchedRank, RankEnd } from './launched-rank.ts'

/**
 * Waits for a line on descriptor 3 before it becomes the rank, so that the rank runs only once the guard knows of it.
 * If the launcher is killed in between, the line never comes.
 */
const GATE = 'read -r go <&3 && exec "$@" 3<&-'

/** The descriptor of the secret in the rank. */
const SECRET_DESCRIPTOR = 4

/** What a rank runs. */
export type RankCommand = Pick<LaunchPlan, 'script' | 'args' | 'ranks' | 'nodeArguments' | 'environment' | 'onFailure'>

/** How a rank finds the others. */
export interface RankMeeting {
  /** Value of `AETHER_RENDEZVOUS`. */
  readonly rendezvous: string
  /** An open descriptor of the secret, which the rank inherits; none if the ranks meet in a space. */
  readonly secret?: number
  /** True if rank 0 has this process's standard input. */
  readonly input: boolean
}

/** One rank's process. It leads a session of its own, so that whatever it starts can be ended with it. */
export class RankProcess implements LaunchedRank {
  readonly rank: number
  readonly host: undefined = undefined
  readonly #child: ChildProcess
  #ended = false

  constructor(rank: number, plan: RankCommand, meeting: RankMeeting) {
    this.rank = rank
    const command = [process.execPath, ...plan.nodeArguments, plan.script, ...plan.args]
    this.#child = spawn('/bin/sh', ['-c', GATE, 'aether-rank', ...command], {
      detached: true,
      env: { ...process.env, ...plan.environment, ...variables(rank, plan, meeting) },
      stdio: [rank === 0 && meeting.input ? 'inherit' : 'ignore', 'pipe', 'pipe', 'pipe', meeting.secret ?? 'ignore'],
    })
  }

  /** 0 if it could not be started. */
  get processId(): number {
    return this.#child.pid ?? 0
  }

  get canRun(): boolean {
    return this.processId > 0
  }

  get stdout(): Readable {
    return this.#child.stdout!
  }

  get stderr(): Readable {
    return this.#child.stderr!
  }

  /** Open the gate. */
  start(): void {
    const gate = this.#child.stdio[3] as Writable | null
    gate?.on('error', () => {})
    gate?.end('go\n')
  }

  /** Resolves when the process has ended. */
  ended(): Promise<RankEnd> {
    return new Promise((resolve) => {
      this.#child.once('error', (error) => this.#settle(() => resolve({ exitCode: null, signal: null, error })))
      this.#child.once('exit', (exitCode, signal) =>
        this.#settle(() => {
          // Processes that it started and left behind are ended with it, and release our pipes.
          this.#signalGroup('SIGKILL')
          resolve({ exitCode, signal, error: undefined })
        }),
      )
    })
  }

  /** Resolves when all of its output has been read. */
  drained(): Promise<void> {
    return new Promise((resolve) => {
      if (this.processId === 0) resolve()
      else this.#child.once('close', () => resolve())
    })
  }

  /** Send a signal to the rank and what it started. */
  kill(signal: NodeJS.Signals): void {
    if (!this.#ended) this.#signalGroup(signal)
  }

  #settle(then: () => void): void {
    this.#ended = true
    then()
  }

  #signalGroup(signal: NodeJS.Signals): void {
    if (this.processId === 0) return
    try {
      process.kill(-this.processId, signal)
    } catch {
      // No rank is left in the group.
    }
  }
}

function variables(rank: number, plan: RankCommand, { rendezvous, secret }: RankMeeting): Record<string, string> {
  return {
    AETHER_RANK: String(rank),
    AETHER_SIZE: String(plan.ranks),
    AETHER_RENDEZVOUS: rendezvous,
    AETHER_ON_FAILURE: plan.onFailure,
    ...(secret === undefined ? {} : { [SECRET_FILE_VARIABLE]: `/proc/self/fd/${SECRET_DESCRIPTOR}` }),
  }
}
