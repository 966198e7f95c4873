import { type ChildProcess, fork } from 'node:child_process'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { nowUs } from './access-log.ts'
import type { TortureOrder, TorturePlan, TortureReply } from './torture-plan.ts'

/** How a process of a torture ended. */
export interface TortureEnd {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  /** What it wrote to its standard error. */
  readonly said: string
  readonly atUs: number
}

/** A rank as a process, from the outside. It leads a session of its own, so that a guard can end it by its number. */
export class TortureProcess {
  readonly rank: number
  readonly ended: Promise<TortureEnd>
  /** Resolves when it is in the group, and when it has looked at all pages for the last time; false where it ended before. */
  readonly ready: Promise<boolean>
  readonly done: Promise<boolean>
  /** When it was first killed by us, in microseconds. */
  killedUs: number | undefined
  /** When it was stopped, and for how long, in microseconds. */
  readonly stops: { readonly beganUs: number; lastedUs: number }[] = []
  end: TortureEnd | undefined
  readonly #child: ChildProcess
  #said = ''

  constructor(rank: number, plan: TorturePlan, environment: Readonly<Record<string, string>>) {
    this.rank = rank
    this.#child = fork(fileURLToPath(new URL('./rank.js', import.meta.url)), [JSON.stringify(plan)], {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      detached: true,
    })
    this.#child.stderr?.on('data', (chunk) => (this.#said += chunk))
    // Orders to one that has just ended.
    this.#child.on('error', () => {})
    this.ended = new Promise((resolve) =>
      this.#child.once('close', (exitCode, signal) => {
        this.end = { exitCode, signal, said: this.#said, atUs: nowUs() }
        resolve(this.end)
      }),
    )
    this.ready = this.#hasSaid('ready')
    this.done = this.#hasSaid('done')
  }

  get processId(): number {
    return this.#child.pid ?? 0
  }

  get isAlive(): boolean {
    return this.end === undefined && this.killedUs === undefined
  }

  kill(): void {
    this.killedUs ??= nowUs()
    this.#child.kill('SIGKILL')
  }

  stop(): void {
    this.stops.push({ beganUs: nowUs(), lastedUs: Number.POSITIVE_INFINITY })
    this.#child.kill('SIGSTOP')
  }

  goOn(): void {
    this.#child.kill('SIGCONT')
    const last = this.stops.at(-1)
    if (last !== undefined) last.lastedUs = nowUs() - last.beganUs
  }

  order(order: TortureOrder): void {
    if (this.#child.connected) this.#child.send(order, () => {})
  }

  #hasSaid(wanted: TortureReply): Promise<boolean> {
    return new Promise((resolve) => {
      this.#child.on('message', (reply: TortureReply) => {
        if (reply === wanted) resolve(true)
      })
      void this.ended.then(() => resolve(false))
    })
  }
}
