/**
 * The second of two guests, which starts the programs that a test on the first asks for. Lines of JSON over TCP; the
 * other end is `remote-host-main.ts`.
 */
import { writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { PATIENCE_MS, Program, type ProgramEnd } from './program.ts'

/** Alone in its guest, so no other can have it. */
export const REMOTE_PORT = 7000
export const REMOTE_ADDRESS = '10.9.0.2'

/** To the remote host: start the words as program `id`, or send it a signal. */
export type RemoteCommand =
  | { readonly id: number; readonly start: readonly string[] }
  | { readonly id: number; readonly signal: NodeJS.Signals }

/** From the remote host. */
export type RemoteReport =
  | { readonly id: number; readonly output: string }
  | { readonly id: number; readonly status: number | null }

export class RemoteHost implements Disposable {
  readonly #socket: Socket
  readonly #programs = new Map<number, Program>()
  #nextId = 1

  private constructor(socket: Socket) {
    this.#socket = socket
    // Of both an error is told: 'close' follows, and ends the programs.
    socket.on('error', () => {})
    createInterface({ input: socket })
      .on('error', () => {})
      .on('line', (line) => this.#take(JSON.parse(line)))
    socket.on('close', () => this.#lose())
  }

  /** The other guest may still be booting. */
  static async connect(patienceMs: number = PATIENCE_MS): Promise<RemoteHost> {
    const deadline = Date.now() + patienceMs
    for (;;) {
      const socket = await tryConnect()
      if (socket instanceof Error && Date.now() > deadline) throw socket
      if (!(socket instanceof Error)) return new RemoteHost(socket)
      await sleep(500)
    }
  }

  start(...words: readonly string[]): Program {
    const id = this.#nextId++
    const program = new Program(`on the other host: ${words.join(' ')}`, (signal) => this.#send({ id, signal }))
    this.#programs.set(id, program)
    this.#send({ id, start: words })
    return program
  }

  run(...words: readonly string[]): Promise<ProgramEnd> {
    return this.start(...words).finished()
  }

  /**
   * The other guest is gone at once, as if its power had been cut, and does not come back in this boot. Its programs
   * count as ended. Resolves when it answers nobody any more: on a busy machine it takes a while to hear of this.
   */
  async cutPower(): Promise<void> {
    // The harness would take it for a crash.
    writeFileSync(join(process.env['AETHER_RDMA_SHARE']!, 'power-cut'), '')
    this.start('sh', '-c', 'echo b > /proc/sysrq-trigger')
    this.#lose()
    for (let answer = await tryConnect(); !(answer instanceof Error); answer = await tryConnect()) answer.destroy()
  }

  /** Its programs are killed by the other end. */
  [Symbol.dispose](): void {
    this.#socket.destroy()
  }

  #send(command: RemoteCommand): void {
    this.#socket.write(`${JSON.stringify(command)}\n`)
  }

  #take(report: RemoteReport): void {
    const program = this.#programs.get(report.id)
    if ('output' in report) program?.take(report.output)
    else program?.finish(report.status)
  }

  #lose(): void {
    for (const program of this.#programs.values()) program.finish(null)
  }
}

function tryConnect(): Promise<Socket | Error> {
  return new Promise((resolve) => {
    const socket = connect({ host: REMOTE_ADDRESS, port: REMOTE_PORT, timeout: 5000 })
    socket.once('connect', () => {
      socket.removeAllListeners()
      socket.setTimeout(0)
      resolve(socket)
    })
    socket.once('error', resolve)
    socket.once('timeout', () => {
      socket.destroy()
      resolve(new Error(`${REMOTE_ADDRESS} does not answer`))
    })
  })
}
