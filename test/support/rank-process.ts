import { type ChildProcess, fork } from 'node:child_process'
import { readdirSync } from 'node:fs'
import process from 'node:process'
import { after } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { processStatus } from '../../src/native/index.ts'
import type { RankReply } from './scenario-server.ts'

/** How a scenario failed in its process. */
export class ScenarioError extends Error {
  override readonly name: string
  readonly code: string | undefined
  /** The error's own fields: `ranks`, `page`, `rank`, … */
  readonly fields: Readonly<Record<string, unknown>>

  constructor(name: string, message: string, code: string | undefined, fields: Readonly<Record<string, unknown>>) {
    super(message)
    this.name = name
    this.code = code
    this.fields = fields
  }
}

/** How a process ended, and all that it wrote to its standard error. */
export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly err: string
}

/** How long any scenario may take before the test says that it hangs. Emulated processors need more. */
const CALL_MS_MAX = Number(process.env['AETHER_TEST_CALL_MS'] ?? 60_000)

/**
 * So long that no machine is busy enough for it: only who is stopped on purpose is silent for a lease, where a test
 * says a shorter one.
 */
const LEASE_MS = 120_000

/** How long a process may take to leave its group after a test. */
const LEAVE_MS_MAX = 1000

/** A process that does what it is told; see scenario-server.ts. */
export class RankProcess {
  readonly child: ChildProcess
  readonly #waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  readonly #ended: Promise<Ending>
  #err = ''
  #lastId = 0

  /** `under`: a program with its arguments that runs Node.js, such as unshare(1). */
  constructor(fixture: URL, environment: Readonly<Record<string, string>>, under: readonly string[] = []) {
    const [execPath = process.execPath, ...words] = [...under, process.execPath]
    this.child = fork(fileURLToPath(fixture), {
      env: { ...process.env, AETHER_LEASE_MS: String(LEASE_MS), ...environment },
      execPath,
      execArgv: words,
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    })
    this.child.stderr?.on('data', (chunk) => (this.#err += chunk))
    this.child.on('message', (reply: RankReply) => this.#settle(reply))
    this.#ended = new Promise((resolve) =>
      this.child.once('close', (code, signal) => resolve({ code, signal, err: this.#err })),
    )
    void this.#ended.then(({ code, signal, err }) => {
      const gone = new ScenarioError('Gone', `the process ended with ${code ?? signal}: ${err}`, undefined, {})
      for (const { reject } of this.#waiting.values()) reject(gone)
      this.#waiting.clear()
    })
  }

  /** From now on it has these variables, too, as a process that has just been started. */
  adopt(environment: Readonly<Record<string, string>>): void {
    this.#err = ''
    this.child.send({ environment })
  }

  /** Whether it has left its group, by itself or now, so that it can join another. */
  async leave(): Promise<boolean> {
    if (this.child.exitCode !== null || this.child.signalCode !== null || this.#waiting.size > 0) return false
    const left = this.call('closeGroup').then(
      () => true,
      () => false,
    )
    return await Promise.race([left, sleep(LEAVE_MS_MAX, false)])
  }

  get processId(): number {
    return this.child.pid!
  }

  /** SIGSTOP; resolves when each of its threads has stopped. `child.kill('SIGCONT')` lets it go on. */
  async stop(): Promise<void> {
    this.child.kill('SIGSTOP')
    const tasks = () => readdirSync(`/proc/${this.processId}/task`)
    while (!tasks().every((thread) => processStatus(this.processId, Number(thread))?.[0] === 'T')) await sleep(1)
  }

  /** Run a scenario there. Rejects with its error, or when the process ends first. */
  call<T = unknown>(scenario: string, ...args: readonly unknown[]): Promise<T> {
    const id = ++this.#lastId
    const answer = new Promise<unknown>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`'${scenario}' in process ${this.processId} hangs: ${this.#err}`)),
        CALL_MS_MAX,
      )
      const settle =
        <A>(act: (value: A) => void) =>
        (value: A): void => {
          clearTimeout(timer)
          act(value)
        }
      this.#waiting.set(id, { resolve: settle(resolve), reject: settle(reject) })
    })
    this.child.send({ id, scenario, args }, () => {})
    // A test may look at it later.
    answer.catch(() => {})
    return answer as Promise<T>
  }

  /** Resolves with the first lines on its standard error that match. */
  async says(pattern: RegExp): Promise<string> {
    const until = performance.now() + CALL_MS_MAX
    for (;;) {
      const found = pattern.exec(this.#err)
      if (found !== null) return found[0]
      if (performance.now() > until) throw new Error(`process ${this.processId} did not say ${pattern}: ${this.#err}`)
      await sleep(10)
    }
  }

  /** What it has written to its standard error so far. */
  get err(): string {
    return this.#err
  }

  ended(): Promise<Ending> {
    return this.#ended
  }

  async kill(): Promise<Ending> {
    this.child.kill('SIGKILL')
    return await this.#ended
  }

  #settle(reply: RankReply): void {
    const waiting = this.#waiting.get(reply.id)
    this.#waiting.delete(reply.id)
    if (reply.error === undefined) waiting?.resolve(reply.value)
    else {
      const { name, message, code, fields } = reply.error
      waiting?.reject(new ScenarioError(name, message, code, fields))
    }
  }
}

let lastSpace = 0

/**
 * Processes of tests before that have left their groups, by fixture and variables. They are as good as new ones, which
 * take longer to start than what most tests do with them.
 */
const spares = new Map<string, RankProcess[]>()
/** Whether the tests of the file have ended, though hooks may follow. */
let isOver = false
after(async () => {
  isOver = true
  await endSpares()
})

export async function endSpares(): Promise<void> {
  const all = [...spares.values()].flatMap((processes) => processes.splice(0))
  await Promise.all(all.map((process) => process.kill()))
}

/**
 * N processes with the environment that `aether run` gives to ranks. On dispose, those that can leave their group are
 * kept for other tests of the file; the others are killed.
 */
export class Ranks implements AsyncDisposable {
  readonly processes: readonly RankProcess[]
  readonly rendezvous: string
  readonly #spares: RankProcess[]

  constructor(fixture: URL, size: number, environment: Readonly<Record<string, string>> = {}) {
    this.rendezvous = `local:test-${process.pid}-${++lastSpace}`
    const kind = JSON.stringify([fixture.href, environment])
    this.#spares = spares.get(kind) ?? []
    spares.set(kind, this.#spares)
    this.processes = Array.from({ length: size }, (_, rank) =>
      this.#processWith(fixture, { ...this.environment(rank, size), ...environment }),
    )
  }

  #processWith(fixture: URL, environment: Readonly<Record<string, string>>): RankProcess {
    const spare = this.#spares.pop()
    spare?.adopt(environment)
    return spare ?? new RankProcess(fixture, environment)
  }

  environment(rank: number, size: number): Readonly<Record<string, string>> {
    return { AETHER_RANK: String(rank), AETHER_SIZE: String(size), AETHER_RENDEZVOUS: this.rendezvous }
  }

  /** Run a scenario in one rank. */
  on<T = unknown>(rank: number, scenario: string, ...args: readonly unknown[]): Promise<T> {
    return this.processes[rank]!.call<T>(scenario, ...args)
  }

  /** Run a scenario in every rank at once; the results by rank. */
  all<T = unknown>(scenario: string, ...args: readonly unknown[]): Promise<T[]> {
    return Promise.all(this.processes.map((rank) => rank.call<T>(scenario, ...args)))
  }

  async kill(rank: number): Promise<Ending> {
    return await this.processes[rank]!.kill()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const leaving = this.processes.map(async (process) => {
      if (!isOver && (await process.leave())) this.#spares.push(process)
      else await process.kill()
    })
    await Promise.all(leaving)
  }
}
