import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { answerOf, askProcess } from '../ask-process.ts'
import { endProcesses } from '../end-processes.ts'
import type { LanesRun } from '../lanes.ts'
import type { WayName } from '../peers/peer-name.ts'
import type { CallMeeting } from './call-meeting.ts'
import type { CallJob, FromCaller, ToCaller } from './call-orders.ts'

/** What each process did, and the processor time of all together. */
export interface CrewRun {
  readonly runs: readonly LanesRun[]
  readonly cpuNs: number
}

/** Processes that call one server at the same time. This one is the server of those that come by child_process. */
export class CallerCrew implements AsyncDisposable {
  readonly #children: readonly ChildProcess[]

  private constructor(children: readonly ChildProcess[]) {
    this.#children = children
    for (const child of children) {
      child.on('message', (message: unknown) => {
        if (message instanceof Uint8Array) child.send(message)
      })
    }
  }

  /** @throws AetherError where what it needs is not installed, or does not start: why. */
  static async start(way: WayName, processes: number, meeting: CallMeeting): Promise<CallerCrew> {
    const program = fileURLToPath(new URL('./caller-process.js', import.meta.url))
    const children = Array.from({ length: processes }, () =>
      fork(program, [JSON.stringify([way, meeting])], {
        serialization: 'advanced',
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      }),
    )
    const crew = new CallerCrew(children)
    try {
      await Promise.all(children.map((child) => answerOf<FromCaller, 'opened'>(child, 'opened')))
      return crew
    } catch (error) {
      await crew[Symbol.asyncDispose]()
      throw error
    }
  }

  get pids(): readonly number[] {
    return this.#children.map(({ pid }) => pid!)
  }

  /**
   * All at once, when the code of all is warm: what each did, and the processor time of all together. `measured` is
   * called just before and after.
   */
  async measure(job: CallJob, measured: () => void): Promise<CrewRun> {
    await this.prepare(job)
    measured()
    const found = await this.run()
    measured()
    return found
  }

  /** Resolves when the code of all is warm for this job. */
  async prepare(job: CallJob): Promise<void> {
    await Promise.all(this.#children.map((child) => ask(child, { kind: 'prepare', job }, 'prepared')))
  }

  /** The job that was prepared last, all at once; as often as wanted. */
  async run(): Promise<CrewRun> {
    const found = await Promise.all(this.#children.map((child) => ask(child, { kind: 'go' }, 'measured')))
    return { runs: found.map(({ run }) => run), cpuNs: found.reduce((sum, { cpuNs }) => sum + cpuNs, 0) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await endProcesses(this.#children)
  }
}

function ask<K extends FromCaller['kind']>(
  child: ChildProcess,
  message: ToCaller,
  kind: K,
): Promise<Extract<FromCaller, { readonly kind: K }>> {
  return askProcess<FromCaller, K>(child, message, kind)
}
