import { Buffer } from 'node:buffer'
import { connect, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import type { Reply } from '../../../../src/index-service/commands/reply.ts'
import type { Command } from '../../../index-service/support/programs.ts'
import { parseReply } from '../../../index-service/support/resp-client.ts'

/** A program waits no longer for anything. */
const PATIENCE_MS = 20_000

/** An answer as it came, and what it means. */
export interface WireReply {
  readonly raw: string
  readonly reply: Reply
}

/** A connection of a fuzzer, to a door or to redis-server, which keeps what it receives. */
export class Wire implements Disposable {
  readonly #socket: Socket
  #received: Buffer = Buffer.alloc(0)
  #hasEnded = false
  /** Pieces that are not with the kernel. */
  #unsent = 0
  #wake: () => void = () => undefined

  /** `where`: a port of this machine, or the path of a socket. */
  constructor(where: number | string) {
    this.#socket = connect(where as number)
    this.#socket.setNoDelay(true)
    this.#socket.on('data', (data: Buffer) => {
      this.#received = this.#received.length === 0 ? data : Buffer.concat([this.#received, data])
      this.#wake()
    })
    this.#socket.on('error', () => undefined)
    this.#socket.on('close', () => {
      this.#hasEnded = true
      this.#wake()
    })
  }

  /** The server has ended it. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** All that was received and not taken. */
  get received(): Buffer {
    return this.#received
  }

  send(bytes: Uint8Array): void {
    this.#unsent += 1
    this.#socket.write(bytes, () => {
      this.#unsent -= 1
    })
  }

  /** Resolves once all that was sent is with the kernel, or the connection has ended. */
  async flushed(): Promise<void> {
    while (this.#unsent > 0 && !this.#hasEnded) await turn()
  }

  /** Ask at once, and take the answer to each. */
  async run(commands: readonly Command[]): Promise<WireReply[]> {
    this.send(Buffer.concat(commands.map(encoded)))
    const replies: WireReply[] = []
    for (const _ of commands) {
      await this.until(() => this.hasReply() || this.#hasEnded, 'an answer')
      const taken = this.take()
      if (taken === undefined) throw new Error('the connection has ended')
      replies.push(taken)
    }
    return replies
  }

  async ask(...command: Command): Promise<Reply> {
    return (await this.run([command]))[0]!.reply
  }

  hasReply(): boolean {
    return this.#received.length > 0 && parseReply(this.#received, 0) !== undefined
  }

  take(): WireReply | undefined {
    const parsed = this.#received.length === 0 ? undefined : parseReply(this.#received, 0)
    if (parsed === undefined) return undefined
    const raw = this.#received.toString('latin1', 0, parsed.end)
    this.#received = this.#received.subarray(parsed.end)
    return { raw, reply: parsed.reply }
  }

  /** @throws Error if it does not come to that. */
  async until(condition: () => boolean, what: string, patienceMs: number = PATIENCE_MS): Promise<void> {
    const endMs = performance.now() + patienceMs
    while (!condition()) {
      const leftMs = endMs - performance.now()
      if (leftMs <= 0) throw new Error(`waited ${patienceMs} ms in vain for ${what}`)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }

  [Symbol.dispose](): void {
    this.#socket.destroy()
  }
}

export function encoded(command: Command): Buffer {
  const parts = command.map((part) => `$${part.length}\r\n${part}\r\n`)
  return Buffer.from(`*${command.length}\r\n${parts.join('')}`, 'latin1')
}
