import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { until } from '../../cluster/support.ts'

const main = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))

/** Processes are slow to start where the machine has other work. */
export const PATIENCE_MS = 120_000

/** A command that goes on, with what it has said so far, killed at the end of its scope. */
export class Command implements AsyncDisposable {
  readonly child: ChildProcessByStdio<null, Readable, Readable>
  said = ''
  readonly #ended: Promise<unknown>

  constructor(...args: readonly string[]) {
    this.child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [this.child.stdout, this.child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (this.said += text))
    this.#ended = once(this.child, 'close')
  }

  /** The address that it says. */
  async address(): Promise<string> {
    await until(() => /open http\S+\s/i.test(this.said), 'the address is said', PATIENCE_MS)
    return /open (http\S+)/i.exec(this.said)![1]!
  }

  async end(signal?: NodeJS.Signals): Promise<number | null> {
    if (signal !== undefined) this.child.kill(signal)
    await this.#ended
    return this.child.exitCode
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill('SIGTERM')
    const timer = setTimeout(() => this.child.kill('SIGKILL'), 20_000)
    await this.#ended
    clearTimeout(timer)
  }
}
