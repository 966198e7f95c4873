import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { answerOf, askProcess } from '../ask-process.ts'
import { endProcesses } from '../end-processes.ts'
import type { ArrayMeeting, ArrayOrder, ArrayReport, FromArrayProcess } from './array-order.ts'

let crews = 0

/** Processes that compute on arrays: one alone, or ranks of a group. */
export class ArrayCrew implements AsyncDisposable {
  readonly #children: readonly ChildProcess[]

  private constructor(children: readonly ChildProcess[]) {
    this.#children = children
  }

  /** Without ranks it is a process alone. @throws AetherError where they do not start: why. */
  static async start({ ranks, threads }: { ranks?: number; threads: number }): Promise<ArrayCrew> {
    crews += 1
    const rendezvous = `local:bench-arrays-${process.pid}-${crews}`
    const meetings: readonly ArrayMeeting[] =
      ranks === undefined
        ? [undefined]
        : Array.from({ length: ranks }, (_, rank) => ({ rank, size: ranks, rendezvous }))
    const program = fileURLToPath(new URL('./array-process.js', import.meta.url))
    const env = { ...process.env, AETHER_ARRAY_THREADS: String(threads) }
    const children = meetings.map((meeting) =>
      fork(program, [JSON.stringify([meeting])], { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }),
    )
    const crew = new ArrayCrew(children)
    try {
      await Promise.all(children.map((child) => answerOf<FromArrayProcess, 'ready'>(child, 'ready')))
      return crew
    } catch (error) {
      await crew[Symbol.asyncDispose]()
      throw error
    }
  }

  /** Times are those of rank 0, bytes that of all. */
  async measure(order: ArrayOrder): Promise<ArrayReport> {
    const reports = await this.measureEach(order)
    return { ns: reports[0]!.ns, movedBytes: reports.reduce((sum, { movedBytes }) => sum + movedBytes, 0) }
  }

  /** All at once: what each found. */
  async measureEach(order: ArrayOrder): Promise<ArrayReport[]> {
    const answers = await Promise.all(
      this.#children.map((child) =>
        askProcess<FromArrayProcess, 'measured'>(child, { kind: 'measure', order }, 'measured'),
      ),
    )
    return answers.map(({ report }) => report)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await endProcesses(this.#children)
  }
}
