import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { decodeSegment, encodeSegment, type Segment } from './iwarp.ts'

const PATIENCE_MS = 20_000
const HEAD_BYTES = 20

export const Mpa = {
  Markers: 0x8000,
  Crc: 0x4000,
  Reject: 0x2000,
  Enhanced: 0x1000,
  PeerToPeer: 0x8000,
  /** Beside the IRD, the next two beside the ORD. */
  BySend: 0x4000,
  ByWrite: 0x8000,
  ByRead: 0x4000,
} as const

/** MPA's request or reply, as it stands on the wire. `depths`: IRD and ORD with their flags. */
export interface Frame {
  readonly flags?: number
  readonly revision?: number
  readonly depths?: readonly [number, number]
  readonly data?: readonly number[]
}

export function encodeFrame(key: 'Req' | 'Rep', { flags = 0, revision = 2, depths, data = [] }: Frame): Buffer {
  const extra = depths === undefined ? 0 : 4
  const out = Buffer.alloc(HEAD_BYTES + extra + data.length)
  out.write(`MPA ID ${key} Frame`, 'latin1')
  out.writeUInt16BE(flags | revision | (depths === undefined ? 0 : Mpa.Enhanced), 16)
  out.writeUInt16BE(extra + data.length, 18)
  for (const [index, depth] of (depths ?? []).entries()) out.writeUInt16BE(depth, HEAD_BYTES + 2 * index)
  out.set(data, HEAD_BYTES + extra)
  return out
}

function decodeFrame(bytes: Buffer): { readonly frame: Required<Frame>; readonly bytes: number } | undefined {
  if (bytes.length < HEAD_BYTES) return undefined
  const whole = HEAD_BYTES + bytes.readUInt16BE(18)
  if (bytes.length < whole) return undefined
  const word = bytes.readUInt16BE(16)
  const isEnhanced = (word & Mpa.Enhanced) !== 0
  const depths = isEnhanced ? ([bytes.readUInt16BE(20), bytes.readUInt16BE(22)] as const) : ([0, 0] as const)
  const data = [...bytes.subarray(HEAD_BYTES + (isEnhanced ? 4 : 0), whole)]
  return { frame: { flags: word & 0xff00, revision: word & 0xff, depths, data }, bytes: whole }
}

/** A socket that speaks iWARP by the standards, rightly or wrongly, and knows nothing of Aether. */
export class ForeignPeer implements Disposable {
  /** MPA's frame of the other end. */
  frame: Required<Frame> | undefined
  /** What has come since. */
  readonly segments: Segment[] = []
  closed = false
  crc = false
  readonly #socket: Socket
  #bytes = Buffer.alloc(0)

  constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.on('error', () => undefined)
    socket.on('close', () => (this.closed = true))
    socket.on('data', (chunk) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk])
      this.#decode()
    })
  }

  /** Call a listener with these bytes, or with none. One that `stays` does not end because the other end does. */
  static async call(port: number, bytes?: Uint8Array, stays = false): Promise<ForeignPeer> {
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: stays })
    const peer = new ForeignPeer(socket)
    await once(socket, 'connect')
    if (bytes !== undefined) socket.write(bytes)
    return peer
  }

  send(...segments: readonly Segment[]): void {
    this.#socket.write(Buffer.concat(segments.map((segment) => encodeSegment(segment, this.crc))))
  }

  /** From now on what comes is dropped. */
  ignore(): void {
    this.#socket.removeAllListeners('data').resume()
  }

  write(bytes: Uint8Array): void {
    this.#socket.write(bytes)
  }

  end(): void {
    this.#socket.end()
  }

  async until(condition: () => boolean, what: string): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS
    while (!condition()) {
      if (Date.now() > deadline) throw new Error(`did not happen: ${what}`)
      if (this.closed && !condition()) throw new Error(`the stream ended before: ${what}`)
      await sleep(1)
    }
  }

  async framed(): Promise<Required<Frame>> {
    await this.until(() => this.frame !== undefined, "MPA's frame of the other end")
    return this.frame!
  }

  /** The next segments that come, so many. */
  async take(count = 1): Promise<Segment[]> {
    await this.until(() => this.segments.length >= count, `${count} segments`)
    return this.segments.splice(0, count)
  }

  [Symbol.dispose](): void {
    this.#socket.destroy()
  }

  #decode(): void {
    if (this.frame === undefined) {
      const found = decodeFrame(this.#bytes)
      if (found === undefined) return
      this.frame = found.frame
      this.#bytes = this.#bytes.subarray(found.bytes)
    }
    for (let found = decodeSegment(this.#bytes); found !== undefined; found = decodeSegment(this.#bytes)) {
      this.segments.push(found.segment)
      this.#bytes = this.#bytes.subarray(found.bytes)
    }
  }
}

/** A listener whose callers are taken one by one. */
export class ForeignListener implements Disposable {
  readonly #server: Server
  readonly #callers: ForeignPeer[] = []

  private constructor(server: Server) {
    this.#server = server
    server.on('connection', (socket) => this.#callers.push(new ForeignPeer(socket)))
  }

  static async open(): Promise<ForeignListener> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new ForeignListener(server)
  }

  get port(): number {
    return (this.#server.address() as { readonly port: number }).port
  }

  async next(): Promise<ForeignPeer> {
    while (this.#callers.length === 0) await sleep(1)
    return this.#callers.shift()!
  }

  [Symbol.dispose](): void {
    this.#server.close()
    for (const caller of this.#callers) caller[Symbol.dispose]()
  }
}
