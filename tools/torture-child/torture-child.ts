import { type ChildProcess, fork, type Serializable } from 'node:child_process'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { nowUs } from './clock.ts'

/** How a process of a torture ended. */
export interface TortureEnd {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  /** What it wrote to its standard error. */
  readonly said: string
  readonly atUs: number
}

/**
 * A process of a torture, from the outside: it is given orders, and killed and stopped. It leads a session of its own,
 * so that a guard can end it by its number.
 */
export class TortureChild<Order extends Serializable, Reply> {
  readonly ended: Promise<TortureEnd>
  end: TortureEnd | undefined
  /** When it was first killed by us, in microseconds. */
  killedUs: number | undefined
  /** When it was stopped, and for how long, in microseconds: Infinity while it is. */
  readonly stops: { readonly beganUs: number; lastedUs: number }[] = []
  readonly #child: ChildProcess
  #said = ''

  /** Runs `program` with `plan` as JSON. */
  constructor(program: URL, plan: unknown, environment: Readonly<Record<string, string>>) {
    this.#child = fork(fileURLToPath(program), [JSON.stringify(plan)], {
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
  }

  get processId(): number {
    return this.#child.pid ?? 0
  }

  get isAlive(): boolean {
    return this.end === undefined && this.killedUs === undefined
  }

  get isStopped(): boolean {
    return this.stops.at(-1)?.lastedUs === Number.POSITIVE_INFINITY
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

  order(order: Order): void {
    if (this.#child.connected) this.#child.send(order, () => {})
  }

  /** The next reply of a kind; undefined where it ended before. */
  protected nextReply<Wanted extends Reply>(isWanted: (reply: Reply) => reply is Wanted): Promise<Wanted | undefined> {
    return new Promise((resolve) => {
      const listen = (reply: unknown): void => {
        if (!isWanted(reply as Reply)) return
        this.#child.off('message', listen)
        resolve(reply as Wanted)
      }
      this.#child.on('message', listen)
      void this.ended.then(() => resolve(undefined))
    })
  }
}
