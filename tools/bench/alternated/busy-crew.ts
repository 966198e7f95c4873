import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { answerOf, type Said } from '../ask-process.ts'
import { endProcesses } from '../end-processes.ts'

type FromBusy = Said & { readonly kind: 'computing' }

/** Processes that compute without a pause, so that what is measured shares the processors with them. */
export class BusyCrew implements AsyncDisposable {
  readonly #children: readonly ChildProcess[]

  private constructor(children: readonly ChildProcess[]) {
    this.#children = children
  }

  static async start(processes: number): Promise<BusyCrew> {
    const program = fileURLToPath(new URL('./busy-process.js', import.meta.url))
    const children = Array.from({ length: processes }, () => fork(program))
    const crew = new BusyCrew(children)
    try {
      await Promise.all(children.map((child) => answerOf<FromBusy, 'computing'>(child, 'computing')))
      return crew
    } catch (error) {
      await crew[Symbol.asyncDispose]()
      throw error
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await endProcesses(this.#children)
  }
}
