import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RemoteEndpoint } from '../../src/verbs/index.ts'
import {
  ControlKind,
  control,
  decodeReply,
  decodeSegment,
  encodeRequest,
  encodeSegment,
  HANDSHAKE_BYTES,
  proofOf,
  type Segment,
} from './iwarp.ts'

const PATIENCE_MS = 20_000
const NO_KEY = Buffer.alloc(16)

/** A number that is lower than that of any queue pair, so that its owner is the one that calls. */
export const CALLER = 7

export interface IwarpPeerOptions {
  /** The queue pair that it says to be. Default {@link CALLER}. */
  readonly number?: number
  readonly gid?: bigint
  readonly crc?: boolean
  readonly key?: Buffer
  /** READs and atomics that it says to take. */
  readonly ird?: number
}

/** A socket that plays the peer of a queue pair on the loopback device, rightly or wrongly. */
export class IwarpPeer {
  readonly socket: Socket
  /** What has come since the handshake. */
  readonly segments: Segment[] = []
  readonly #options: Required<IwarpPeerOptions>
  readonly #target: RemoteEndpoint
  #bytes = Buffer.alloc(0)
  #greeted = false
  #closed = false

  private constructor(target: RemoteEndpoint, options: IwarpPeerOptions) {
    this.#target = target
    this.#options = { number: CALLER, gid: target.gid, crc: false, key: NO_KEY, ird: 16, ...options }
    this.socket = connect({ host: '127.0.0.1', port: target.queuePairNumber >> 8, noDelay: true })
    this.socket.on('error', () => undefined)
    this.socket.on('close', () => (this.#closed = true))
    this.socket.on('data', (chunk) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk])
      this.#decode()
    })
  }

  /** A connection, and nothing said. */
  static async open(target: RemoteEndpoint, options: IwarpPeerOptions = {}): Promise<IwarpPeer> {
    const peer = new IwarpPeer(target, options)
    await once(peer.socket, 'connect')
    return peer
  }

  /** One that has proved itself. */
  static async connect(target: RemoteEndpoint, options: IwarpPeerOptions = {}): Promise<IwarpPeer> {
    const peer = await IwarpPeer.open(target, options)
    await peer.greet()
    return peer
  }

  get closed(): boolean {
    return this.#closed
  }

  /** The request as it should be. */
  request(nonce: bigint = 1n): Buffer {
    const { number, gid, crc, ird } = this.#options
    const { queuePairNumber: destination, psn } = this.#target
    return encodeRequest({ source: number, destination, psn, gid, nonce, proof: 0n }, crc, ird)
  }

  /** Say the request, read the reply, and send the proof, changed by `change`. */
  async greet(change: (proof: bigint) => bigint = (proof) => proof): Promise<void> {
    const { key, number: caller } = this.#options
    const nonce = randomBytes(8).readBigUInt64BE()
    this.socket.write(this.request(nonce))
    await this.until(() => this.#bytes.length >= HANDSHAKE_BYTES, 'the reply')
    const reply = decodeReply(this.#bytes)
    const responder = this.#target.queuePairNumber
    const proven = { caller, responder, nonce, reply: reply?.nonce ?? 0n }
    if (reply === undefined || reply.proof !== proofOf(key, 'R', proven)) throw new Error('the reply is wrong')
    this.#bytes = this.#bytes.subarray(HANDSHAKE_BYTES)
    this.#greeted = true
    this.send(control(ControlKind.Proof, 0, change(proofOf(key, 'C', proven))))
  }

  send(...segments: readonly Segment[]): void {
    this.socket.write(Buffer.concat(segments.map((segment) => encodeSegment(segment, this.#options.crc))))
  }

  /** From now on what comes is dropped. */
  ignore(): void {
    this.socket.removeAllListeners('data').resume()
  }

  write(bytes: Uint8Array): void {
    this.socket.write(bytes)
  }

  /** Resolves when the device has closed the stream. */
  async ended(): Promise<void> {
    await this.until(() => this.#closed, 'the stream ends')
  }

  async until(condition: () => boolean, what: string): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS
    while (!condition()) {
      if (Date.now() > deadline) throw new Error(`did not happen: ${what}`)
      if (this.#closed && !condition()) throw new Error(`the stream ended before: ${what}`)
      await sleep(1)
    }
  }

  [Symbol.dispose](): void {
    this.socket.destroy()
  }

  #decode(): void {
    while (this.#greeted) {
      const found = decodeSegment(this.#bytes)
      if (found === undefined) return
      this.segments.push(found.segment)
      this.#bytes = this.#bytes.subarray(found.bytes)
    }
  }
}
