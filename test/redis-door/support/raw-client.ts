import { Buffer } from 'node:buffer'
import { once } from 'node:events'
import { connect, type NetConnectOpts, type Socket } from 'node:net'

/** What a server answered, as tests write it down: an error is `-ERR …`, text is latin1. */
export type Answer = null | number | boolean | string | readonly Answer[] | { readonly [mark: string]: Answer }

interface Read {
  readonly answer: Answer
  readonly end: number
}

/** Marks of RESP3 that are no arrays of RESP2: answers tell them by it. */
const kinds: Readonly<Record<string, string>> = { '~': 'set', '%': 'map', '>': 'push', '|': 'attribute' }

function readAnswer(bytes: Buffer, at: number): Read | undefined {
  const lineEnd = bytes.indexOf('\r\n', at)
  if (lineEnd < 0) return undefined
  const mark = String.fromCharCode(bytes[at]!)
  const line = bytes.toString('latin1', at + 1, lineEnd)
  const end = lineEnd + 2
  switch (mark) {
    case '+':
      return { answer: line, end }
    case '-':
      return { answer: `-${line}`, end }
    case ':':
      return { answer: Number(line), end }
    case ',':
      return { answer: { double: line }, end }
    case '(':
      return { answer: { bigNumber: line }, end }
    case '#':
      return { answer: line === 't', end }
    case '_':
      return { answer: null, end }
    case '$':
    case '=': {
      const length = Number(line)
      if (length < 0) return { answer: null, end }
      if (bytes.length < end + length + 2) return undefined
      const text = bytes.toString('latin1', end, end + length)
      return { answer: mark === '=' ? { verbatim: text } : text, end: end + length + 2 }
    }
    case '*':
      return readMany(bytes, end, Number(line))
    case '~':
    case '%':
    case '>':
    case '|': {
      const many = readMany(bytes, end, mark === '%' || mark === '|' ? Number(line) * 2 : Number(line))
      return many && { answer: { [kinds[mark]!]: many.answer }, end: many.end }
    }
    default:
      throw new Error(`not a reply: ${JSON.stringify(mark + line)}`)
  }
}

function readMany(bytes: Buffer, start: number, count: number): Read | undefined {
  if (count < 0) return { answer: { array: null }, end: start }
  const list: Answer[] = []
  let at = start
  while (list.length < count) {
    const read = readAnswer(bytes, at)
    if (read === undefined) return undefined
    list.push(read.answer)
    at = read.end
  }
  return { answer: list, end: at }
}

/** A connection that shows what is sent and received as it is: to a door, or to redis-server. */
export class RawClient implements Disposable {
  readonly socket: Socket
  #received = Buffer.alloc(0)
  #ended = false

  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (data: Buffer) => {
      this.#received = Buffer.concat([this.#received, data])
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.#ended = true
    })
  }

  /** `where`: a port of this machine, the path of a socket, or what `net.connect` takes. */
  static async connect(where: number | string | NetConnectOpts, protocol: 2 | 3 = 2): Promise<RawClient> {
    const socket = typeof where === 'object' ? connect(where) : connect(where as number)
    await once(socket, 'connect')
    return await RawClient.over(socket, protocol)
  }

  /** Over a connection that is there. */
  static async over(socket: Socket, protocol: 2 | 3 = 2): Promise<RawClient> {
    const client = new RawClient(socket)
    if (protocol === 3) await client.ask('HELLO', '3')
    return client
  }

  get hasEnded(): boolean {
    return this.#ended
  }

  /** Bytes that were received, but not read. */
  get waitingBytes(): number {
    return this.#received.length
  }

  /** What a command is answered with. */
  ask(...command: readonly (string | Uint8Array)[]): Promise<Answer> {
    this.send(command)
    return this.next()
  }

  /** The same for several, which are sent at once. */
  async askAll(commands: readonly (readonly (string | Uint8Array)[])[]): Promise<Answer[]> {
    this.socket.write(Buffer.concat(commands.map(requestBytes)))
    const answers: Answer[] = []
    for (const _ of commands) answers.push(await this.next())
    return answers
  }

  /** A command whose answer is not waited for. */
  send(command: readonly (string | Uint8Array)[]): void {
    this.socket.write(requestBytes(command))
  }

  /** Bytes as they are. */
  sendBytes(bytes: string | Uint8Array): void {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
  }

  /** The next answer, or what comes unasked. @throws Error if the connection ends before. */
  async next(): Promise<Answer> {
    for (;;) {
      const read = this.#received.length === 0 ? undefined : readAnswer(this.#received, 0)
      if (read !== undefined) {
        this.#received = this.#received.subarray(read.end)
        return read.answer
      }
      if (this.#ended) throw new Error('the connection has ended')
      await this.#happens()
    }
  }

  /** All that is received until the connection ends. */
  async untilEnd(): Promise<string> {
    while (!this.#ended) await this.#happens()
    return this.#received.toString('latin1')
  }

  [Symbol.dispose](): void {
    this.socket.destroy()
  }

  #happens(): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.socket.off('data', done)
        this.socket.off('close', done)
        resolve()
      }
      this.socket.on('data', done)
      this.socket.on('close', done)
    })
  }
}

function requestBytes(command: readonly (string | Uint8Array)[]): Buffer {
  const parts: Buffer[] = [Buffer.from(`*${command.length}\r\n`)]
  for (const part of command) {
    const bytes = typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part)
    parts.push(Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from('\r\n'))
  }
  return Buffer.concat(parts)
}
