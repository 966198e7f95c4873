import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { CounterReply, CounterTask } from './counter-messages.ts'

const script = fileURLToPath(new URL('./counter-process.js', import.meta.url))

/** A counting process, seen from the demo. It does one task at a time. */
export class CountingProcess {
  readonly #child: ChildProcess
  #settle: { resolve: () => void; reject: (reason: Error) => void } | undefined
  #failure: Error | undefined
  #onMessage: (reply: CounterReply) => void = () => {}
  /** Resolves when the process has ended, with the signal that ended it. */
  readonly ended: Promise<NodeJS.Signals | null>

  constructor() {
    this.#child = fork(script, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    this.#child.on('message', (reply: CounterReply) => this.#receive(reply))
    this.ended = new Promise((resolve) => {
      this.#child.once('exit', (_status, signal) => resolve(signal))
      this.#child.once('error', (error) => this.#fail(error))
    })
    void this.ended.then((signal) => this.#fail(new Error(`counting process ${this.pid} ended with ${signal}`)))
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** Give it a task. Resolves when it is done; rejects when the process fails at it or ends. */
  perform(task: CounterTask): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) return reject(this.#failure)
      this.#settle = { resolve, reject }
      this.#child.send(task)
    })
  }

  /** What to do with messages that are not the end of a task. */
  onMessage(listener: (reply: CounterReply) => void): void {
    this.#onMessage = listener
  }

  answer(value: number): void {
    this.#child.send({ kind: 'answer', value } satisfies CounterTask)
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Let it leave: without its parent's channel it has nothing to do. */
  dismiss(): void {
    if (this.#child.connected) this.#child.disconnect()
  }

  #receive(reply: CounterReply): void {
    if (reply.kind === 'failed') this.#fail(new Error(reply.message))
    else if (reply.kind === 'done') this.#take()?.resolve()
    else this.#onMessage(reply)
  }

  #fail(reason: Error): void {
    this.#failure ??= reason
    this.#take()?.reject(reason)
  }

  #take(): { resolve: () => void; reject: (reason: Error) => void } | undefined {
    const settle = this.#settle
    this.#settle = undefined
    return settle
  }
}
