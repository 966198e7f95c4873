import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** A runtime directory of this test file's own, removed at its end. Children inherit it. */
export function useRuntimeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'aether-test-'))
  process.env['AETHER_RUNTIME_DIRECTORY'] = directory
  after(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** The rendezvous files that are there. */
export function rendezvousFiles(directory: string): readonly string[] {
  return readdirSync(join(directory, 'spaces'))
}

/** Waits until `condition` holds; fails after `timeoutMs` with `what`. Never asserts how long it took. */
export async function until(condition: () => boolean, what: string, timeoutMs: number = 20_000): Promise<void> {
  const deadline = Date.now() + timeoutMs
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain: ${what}`)
    await sleep(5)
  }
}

/** What this process's descriptors are, but for those that come and go with the runtime itself. */
export function descriptors(): readonly string[] {
  const links = readdirSync('/proc/self/fd').map((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`)
    } catch {
      return ''
    }
  })
  return links.filter((link) => /memfd:aether|pipe:|pidfd|aether-test/.test(link)).sort()
}

/** How a child failed, as it crossed the channel. */
class RemoteError extends Error {
  readonly code: string | undefined

  constructor(message: string, code: string | undefined) {
    super(message)
    this.code = code
  }
}

interface Reply {
  readonly id: number
  readonly value?: unknown
  readonly error?: { readonly message: string; readonly code?: string }
}

/** A process of `fixtures/member.ts`, which does what it is told. */
export class RemoteMember implements AsyncDisposable {
  readonly child: ChildProcess
  readonly #waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  readonly #ended: Promise<void>
  #lastId = 0

  constructor(environment: Readonly<Record<string, string>> = {}) {
    const fixture = fileURLToPath(new URL('./fixtures/member.js', import.meta.url))
    this.child = fork(fixture, { env: { ...process.env, ...environment }, serialization: 'advanced' })
    this.child.on('message', (reply: Reply) => this.#settle(reply))
    this.#ended = new Promise((resolve) => this.child.once('exit', () => resolve()))
    void this.#ended.then(() => this.#abandon())
  }

  get processId(): number {
    return this.child.pid!
  }

  /** Have it do `command`. Rejects with its error, or when it ends first. */
  call<T = unknown>(command: string, ...args: readonly unknown[]): Promise<T> {
    this.#lastId += 1
    const id = this.#lastId
    const answer = new Promise<unknown>((resolve, reject) => this.#waiting.set(id, { resolve, reject }))
    this.child.send({ id, command, args })
    return answer as Promise<T>
  }

  /** End it, without its knowing. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.child.kill(signal)
    await this.#ended
  }

  /** Resolves when the process has ended. */
  ended(): Promise<void> {
    return this.#ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) await this.kill()
  }

  #settle(reply: Reply): void {
    const waiting = this.#waiting.get(reply.id)
    this.#waiting.delete(reply.id)
    if (reply.error === undefined) waiting?.resolve(reply.value)
    else waiting?.reject(new RemoteError(reply.error.message, reply.error.code))
  }

  #abandon(): void {
    for (const { reject } of this.#waiting.values()) reject(new RemoteError('the process ended', undefined))
    this.#waiting.clear()
  }
}
