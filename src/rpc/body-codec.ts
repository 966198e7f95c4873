import { json, bytes as plainBytes } from '../codecs/index.ts'
import { messageOfThrown } from '../native/index.ts'
import { borrowedBytes } from './borrowed-bytes.ts'
import { MalformedFrameError } from './errors.ts'
import { FrameKind } from './frame.ts'
import { BodyMemory, type IncomingBody } from './incoming-frame.ts'
import type { OutgoingFrame } from './outgoing-frame.ts'
import type { RpcCodec } from './rpc-codec.ts'
import type { Session } from './session.ts'
import { values } from './value-codec.ts'
import { readValue } from './value-reader.ts'
import { writeValue, writtenBytes } from './value-writer.ts'

/** Up to here a loop is faster than a call. */
const LOOP_BYTES_MAX = 16
/** The same of a view and a call. */
const VIEW_LOOP_BYTES_MAX = 32

/** The engine looks methods of typed arrays up at each call, unless they are taken once. */
const { slice: copyOf, subarray: viewOf } = Uint8Array.prototype

/** What the peer can write is copied here before it is looked at. */
let scratch = new Uint8Array(4096)

/**
 * A codec as the protocol uses it. Bodies lie among others in the memory of a link; for the codecs of this room no view
 * of them is made.
 */
export class BodyCodec {
  readonly #codec: RpcCodec
  readonly #isValues: boolean
  readonly #isBytes: boolean
  readonly #isJson: boolean
  readonly #borrows: boolean
  readonly #keeps: boolean

  constructor(codec: RpcCodec) {
    this.#codec = codec
    this.#isValues = codec === values
    this.#isBytes = codec === plainBytes || codec === borrowedBytes
    this.#isJson = codec === json
    this.#borrows = codec.borrows === true
    this.#keeps = codec.keeps === true
  }

  /**
   * Where a long body is best put: in memory of its own if the value keeps it. Requests are lent if the codec wants
   * that.
   */
  memoryFor(isRequest: boolean): number {
    const { adopt, borrows } = this.#codec
    return adopt === undefined || (isRequest && borrows === true) ? BodyMemory.Lent : BodyMemory.Own
  }

  /** Encode a value as the body of a frame. JSON has no undefined, but methods without a request or an answer do. */
  encode(value: unknown, frame: OutgoingFrame): void {
    if (this.#isValues) {
      frame.bodyBytes = writeValue(value)
      frame.body = writtenBytes()
      frame.kept = false
    } else if (value !== undefined || !this.#isJson) frame.setBody(this.#codec.encode(value), this.#keeps)
  }

  /** Send an item of a stream. */
  sendItem(session: Session, call: number, item: unknown): void {
    const frame = session.frame(FrameKind.Item, call)
    this.encode(item, frame)
    session.send(frame)
  }

  /** Decode the request of a unary call; lent if its codec wants that. @throws MalformedFrameError. */
  decodeRequest(body: IncomingBody): unknown {
    return this.#borrows ? viewOf.call(body.bytes, body.offset, body.offset + body.length) : this.decode(body)
  }

  /** Decode a body. The value shares no memory that the peer can write. @throws MalformedFrameError. */
  decode(body: IncomingBody): unknown {
    const { bytes, offset, length, memory } = body
    try {
      if (this.#isValues) {
        if (memory !== BodyMemory.Shared) return readValue(bytes, offset, length)
        copyPrivately(bytes, offset, length)
        return readValue(scratch, 0, length)
      }
      if (length === 0 && this.#isJson) return undefined
      if (this.#isBytes && memory !== BodyMemory.Own) return ownCopy(bytes, offset, length)
      return this.#decodeElsewhere(body)
    } catch (error) {
      if (error instanceof MalformedFrameError) throw error
      const why = messageOfThrown(error)
      throw new MalformedFrameError(`codec '${this.#codec.name}': ${why}`)
    }
  }

  #decodeElsewhere({ bytes, offset, length, memory }: IncomingBody): unknown {
    const codec = this.#codec
    if (memory === BodyMemory.Own)
      return (codec.adopt ?? codec.decode).call(codec, bytes.subarray(offset, offset + length))
    if (codec.adopt !== undefined || memory === BodyMemory.Lent)
      return codec.decode(bytes.subarray(offset, offset + length))
    copyPrivately(bytes, offset, length)
    return codec.decode(scratch.subarray(0, length))
  }
}

/** Of the message, reason and details of a failure. */
export const failures: BodyCodec = new BodyCodec(values)

function ownCopy(bytes: Uint8Array, offset: number, length: number): Uint8Array {
  // A Buffer's own slice would be no copy.
  if (length > LOOP_BYTES_MAX) return copyOf.call(bytes, offset, offset + length)
  const copy = new Uint8Array(length)
  for (let index = 0; index < length; index += 1) copy[index] = bytes[offset + index]!
  return copy
}

function copyPrivately(bytes: Uint8Array, offset: number, length: number): void {
  if (length > scratch.length) scratch = new Uint8Array(length * 2)
  if (length > VIEW_LOOP_BYTES_MAX) {
    scratch.set(bytes.subarray(offset, offset + length))
    return
  }
  for (let index = 0; index < length; index += 1) scratch[index] = bytes[offset + index]!
}
