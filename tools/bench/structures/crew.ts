import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { answerOf, askProcess } from '../ask-process.ts'
import type { Meeting, RegionName, StoreName } from './bench-store.ts'
import type { FromWorker, Job, Samples, ToWorker } from './job.ts'

/** Processes that have one store open, and measure at the same time. */
export class Crew implements AsyncDisposable {
  readonly #children: readonly ChildProcess[]
  readonly #signal = (): void => {
    for (const child of this.#children) child.kill('SIGKILL')
  }

  private constructor(children: readonly ChildProcess[]) {
    this.#children = children
    // Before the directory goes in which they have their files: they would make it again.
    process.prependOnceListener('exit', this.#signal)
  }

  /** @throws AetherError where the store cannot be opened: why. */
  static async start(store: StoreName | RegionName, processes: number, meeting: Meeting): Promise<Crew> {
    const script = fileURLToPath(new URL('./worker-process.js', import.meta.url))
    const children = Array.from({ length: processes }, (_, rank) =>
      fork(script, [JSON.stringify([store, meeting, rank])], {
        serialization: 'advanced',
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      }),
    )
    const crew = new Crew(children)
    try {
      await Promise.all(children.map((child) => answerOf<FromWorker, 'opened'>(child, 'opened')))
      return crew
    } catch (error) {
      await crew.#kill()
      throw error
    }
  }

  /** Put values of this length into the store. */
  async fill(bytes: number): Promise<void> {
    await ask(this.#children[0]!, { kind: 'fill', bytes }, 'filled')
  }

  /** All at once: what each found. */
  async measure(job: Job): Promise<(readonly Samples[])[]> {
    await Promise.all(this.#children.map((child) => ask(child, { kind: 'prepare', job }, 'prepared')))
    const found = await Promise.all(this.#children.map((child) => ask(child, { kind: 'go' }, 'measured')))
    return found.map(({ samples }) => samples)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(
      this.#children.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return
        const ended = once(child, 'exit')
        child.send({ kind: 'close' } satisfies ToWorker, () => {})
        await ended
      }),
    )
    process.off('exit', this.#signal)
  }

  async #kill(): Promise<void> {
    this.#signal()
    await Promise.all(
      this.#children.map((child) => (child.exitCode ?? child.signalCode) !== null || once(child, 'exit')),
    )
    process.off('exit', this.#signal)
  }
}

function ask<K extends FromWorker['kind']>(
  child: ChildProcess,
  message: ToWorker,
  kind: K,
): Promise<Extract<FromWorker, { kind: K }>> {
  return askProcess<FromWorker, K>(child, message, kind)
}
