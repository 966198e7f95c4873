import { Buffer } from 'node:buffer'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Reply } from '../../../src/index-service/commands/reply.ts'

export type ParsedReply = { readonly reply: Reply; readonly end: number } | undefined

/** Reads a value of RESP2 or RESP3; undefined if it is not whole. */
export function parseReply(bytes: Buffer, at: number): ParsedReply {
  const lineEnd = bytes.indexOf('\r\n', at)
  if (lineEnd === -1) return undefined
  const line = bytes.toString('latin1', at + 1, lineEnd)
  const end = lineEnd + 2
  switch (String.fromCharCode(bytes[at]!)) {
    case '+':
      return { reply: line, end }
    case '-': {
      const space = line.indexOf(' ')
      return { reply: { fault: line.slice(0, space), message: line.slice(space + 1) }, end }
    }
    case ':': {
      const value = BigInt(line)
      return { reply: Number.isSafeInteger(Number(value)) ? Number(value) : value, end }
    }
    case ',':
      return { reply: { double: line === 'inf' ? Infinity : line === '-inf' ? -Infinity : Number(line) }, end }
    case '#':
      return { reply: Number(line === 't'), end }
    case '_':
      return { reply: null, end }
    case '=':
    case '$': {
      const length = Number(line)
      if (length < 0) return { reply: null, end }
      if (bytes.length < end + length + 2) return undefined
      return { reply: Uint8Array.from(bytes.subarray(end, end + length)), end: end + length + 2 }
    }
    case '>':
    case '*':
      return many(bytes, end, Number(line), (replies) => replies)
    case '~':
      return many(bytes, end, Number(line), (replies) => new Set(replies))
    case '%':
      return many(bytes, end, Number(line) * 2, pairsOf)
    default:
      throw new Error(`unknown reply: ${JSON.stringify(line)} ${bytes[at]}`)
  }
}

function pairsOf(replies: readonly Reply[]): Reply {
  return new Map(replies.flatMap((key, at) => (at % 2 === 0 ? [[key, replies[at + 1]!]] : [])))
}

function many(bytes: Buffer, start: number, count: number, make: (replies: Reply[]) => Reply): ParsedReply {
  if (count < 0) return { reply: null, end: start }
  const replies: Reply[] = []
  let at = start
  while (replies.length < count) {
    const parsed = parseReply(bytes, at)
    if (parsed === undefined) return undefined
    replies.push(parsed.reply)
    at = parsed.end
  }
  return { reply: make(replies), end: at }
}

/** A connection to redis-server in RESP3, for commands by the hundred. */
export class RespClient {
  readonly #socket: Socket
  readonly #replies: Reply[] = []
  #received = Buffer.alloc(0)

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (data: Buffer) => this.#read(data))
  }

  /** Waits until the server listens. */
  static async connect(path: string): Promise<RespClient> {
    let socket = connect(path)
    for (let left = 200; ; left -= 1) {
      try {
        await once(socket, 'connect')
        break
      } catch (error) {
        if (left === 0) throw error
        await sleep(10)
        socket = connect(path)
      }
    }
    const client = new RespClient(socket)
    await client.run([['HELLO', '3']])
    return client
  }

  /** What is pushed next. */
  async next(): Promise<Reply> {
    while (this.#replies.length === 0) await once(this.#socket, 'data')
    return this.#replies.shift()!
  }

  /** Send commands at once, and return what they come to. */
  async run(commands: readonly (readonly (string | Uint8Array)[])[]): Promise<Reply[]> {
    const parts: Buffer[] = []
    for (const command of commands) {
      parts.push(Buffer.from(`*${command.length}\r\n`))
      for (const part of command) {
        const bytes = Buffer.from(part as Uint8Array)
        parts.push(Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from('\r\n'))
      }
    }
    this.#socket.write(Buffer.concat(parts))
    while (this.#replies.length < commands.length) await once(this.#socket, 'data')
    return this.#replies.splice(0, commands.length)
  }

  close(): void {
    this.#socket.destroy()
  }

  #read(data: Buffer): void {
    this.#received = Buffer.concat([this.#received, data])
    let at = 0
    for (;;) {
      const parsed = at < this.#received.length ? parseReply(this.#received, at) : undefined
      if (parsed === undefined) break
      this.#replies.push(parsed.reply)
      at = parsed.end
    }
    this.#received = this.#received.subarray(at)
  }
}
