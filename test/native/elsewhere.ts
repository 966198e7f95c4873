/**
 * Runs a function of a test in another process or another thread. Its source text is sent there: it may use its
 * parameters and what is global, and nothing of the file it stands in.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'

/** How long a child may take. Emulated processors need more. */
export const CHILD_MS_MAX: number = Number(process.env['AETHER_TEST_CALL_MS'] ?? 60_000)

/** What a body may use. */
interface Tools {
  readonly aether: typeof import('../../src/native/index.ts')
  readonly fs: typeof import('node:fs')
  readonly threads: typeof import('node:worker_threads')
}

export type Body<Argument> = (tools: Tools, argument: Argument) => void | Promise<void>

/** The address of the compiled src/native. */
export const nativeUrl: string = new URL('../../src/native/index.js', import.meta.url).href

function programOf<Argument>(body: Body<Argument>, argument: string): string {
  const imports = [nativeUrl, 'node:fs', 'node:worker_threads'].map((name) => `import(${JSON.stringify(name)})`)
  return `Promise.all([${imports.join(', ')}]).then(([aether, fs, threads]) => (${String(body)})({ aether, fs, threads }, ${argument}))`
}

/** How a child ended, and what it printed. */
export interface Outcome {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface ChildOptions {
  /** Flags of Node.js, before the program. */
  readonly flags?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** After that it is killed, and its outcome has the signal SIGKILL. */
  readonly timeoutMs?: number
}

/** A process that runs `body`. */
export class Child implements AsyncDisposable {
  readonly process: ChildProcess
  readonly #lines: AsyncIterator<string>
  readonly #ended: Promise<Outcome>
  #stdout = ''
  #stderr = ''

  constructor(program: string, options: ChildOptions = {}) {
    this.process = spawn(process.execPath, [...(options.flags ?? []), '--eval', program], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...options.environment },
    })
    const { stdout, stderr } = this.process
    if (stdout === null || stderr === null) throw new Error('the child has no pipes')
    stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text
    })
    stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text
    })
    this.#lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
    this.#ended = this.#awaitEnd(options.timeoutMs ?? CHILD_MS_MAX)
  }

  async #awaitEnd(timeoutMs: number): Promise<Outcome> {
    const timer = setTimeout(() => this.process.kill('SIGKILL'), timeoutMs)
    const [code, signal] = (await once(this.process, 'close')) as [number | null, NodeJS.Signals | null]
    clearTimeout(timer)
    return { code, signal, stdout: this.#stdout, stderr: this.#stderr }
  }

  get id(): number {
    if (this.process.pid === undefined) throw new Error('the child did not start')
    return this.process.pid
  }

  /** The next line that it prints, as JSON. */
  async message<Message>(): Promise<Message> {
    const next = await this.#lines.next()
    if (next.done === true) throw new Error(`the child ended before it said anything more: ${this.#stderr}`)
    return JSON.parse(next.value) as Message
  }

  ended(): Promise<Outcome> {
    return this.#ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.process.kill('SIGKILL')
    await this.#ended
  }
}

/** Start a process. `argument` is passed as JSON. */
export function startChild<Argument>(body: Body<Argument>, argument: Argument, options?: ChildOptions): Child {
  return new Child(programOf(body, JSON.stringify(argument) ?? 'undefined'), options)
}

/** Run a process to its end. */
export async function inChild<Argument>(
  body: Body<Argument>,
  argument: Argument,
  options?: ChildOptions,
): Promise<Outcome> {
  await using child = startChild(body, argument, options)
  return await child.ended()
}

/** Start a thread. `argument` is its worker data, so that shared memory stays shared. */
export function startWorker<Argument>(body: Body<Argument>, argument: Argument): Worker {
  return new Worker(programOf(body, 'threads.workerData'), { eval: true, workerData: argument })
}

/**
 * Let other threads and processes go on until `predicate` holds. It is asked without end: the test's own time limit
 * bounds it.
 */
export async function until(predicate: () => boolean): Promise<void> {
  while (!predicate()) await sleep(1)
}
