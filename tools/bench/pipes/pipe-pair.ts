import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { answerOf, askProcess } from '../ask-process.ts'
import type { WayName } from '../peers/peer-name.ts'
import { nearEnds } from './ends.ts'
import type { Pipe, PipeMeeting } from './pipe.ts'
import type { FromFarEnd, PipeOrder } from './pipe-orders.ts'

/** The near end of a pipe, and the process at the far one. */
export class PipePair implements AsyncDisposable {
  readonly pipe: Pipe
  readonly #child: ChildProcess

  private constructor(pipe: Pipe, child: ChildProcess) {
    this.pipe = pipe
    this.#child = child
  }

  /** @throws AetherError where what it needs is not installed, or does not start: why. */
  static async start(way: WayName, meeting: PipeMeeting): Promise<PipePair> {
    const program = fileURLToPath(new URL('./pipe-process.js', import.meta.url))
    const child = fork(program, [JSON.stringify([way, meeting])], {
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    try {
      const { told } = await answerOf<FromFarEnd, 'opened'>(child, 'opened')
      return new PipePair(await nearEnds[way](meeting, told, child), child)
    } catch (error) {
      child.kill('SIGKILL')
      throw error
    }
  }

  /** Of the process at the far end. */
  get pid(): number {
    return this.#child.pid!
  }

  async order(order: PipeOrder): Promise<void> {
    await askProcess<FromFarEnd, 'ready'>(this.#child, order, 'ready')
  }

  /** What `work` gives; rejects when the other process ends instead. */
  async alive<T>(work: Promise<T>): Promise<T> {
    let onExit = (): void => {}
    const died = new Promise<never>((_, reject) => {
      onExit = () => reject(new Error('the other process of the benchmark ended'))
      this.#child.once('exit', onExit)
    })
    try {
      return await Promise.race([work, died])
    } finally {
      this.#child.off('exit', onExit)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pipe.close()
    this.#child.kill('SIGKILL')
  }
}
