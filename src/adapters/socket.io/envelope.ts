/**
 * A body as socket.io-parser would send it to a client: JSON, with binary parts beside it. Class instances, dates and
 * missing values so arrive at clients of other workers exactly as at one's own.
 */
export interface EncodedBody {
  readonly text: Buffer
  readonly attachments: readonly Uint8Array[]
}

/** From one server to another, or to all that serve a namespace. */
export interface Envelope {
  /** The address of the server that sends it. */
  readonly from: string
  /** A namespace, or the address of a server. */
  readonly to: string
  readonly body: EncodedBody
}

/** In the JSON of a body with binary parts: the number of a part, and text that would look like one. */
const PART = '\0b'
const TEXT = '\0s'

/** @throws TypeError for what JSON cannot represent. */
export function encodeBody(body: object): EncodedBody {
  if (!hasBinary(body)) return { text: Buffer.from(JSON.stringify(body)), attachments: [] }
  const attachments: Uint8Array[] = []
  const text = JSON.stringify(body, function replace(this: Record<string, unknown>, key, value: unknown) {
    // A Buffer turns itself into an array of numbers before it is passed here; its holder still has it.
    const bytes = bytesOf(this[key]) ?? bytesOf(value)
    if (bytes !== undefined) return `${PART}${attachments.push(bytes) - 1}`
    return typeof value === 'string' && value.startsWith('\0') ? `${TEXT}${value}` : value
  })
  return { text: Buffer.from(text), attachments }
}

function hasBinary(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (bytesOf(value) !== undefined) return true
  const { toJSON } = value as { toJSON?: unknown }
  const plain: unknown = typeof toJSON === 'function' ? toJSON.call(value) : value
  if (typeof plain !== 'object' || plain === null) return false
  return bytesOf(plain) !== undefined || Object.values(plain).some(hasBinary)
}

function bytesOf(value: unknown): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
  return undefined
}

/**
 * ```
 *   0  bytes of `from`, Uint32
 *   4  bytes of `to`, Uint32
 *   8  bytes of the JSON text, Uint32
 *  12  number of attachments, Uint32
 *  16  length of each attachment, Uint32
 *      from, to, text, attachments
 * ```
 */
const HEADER_BYTES = 16

/** The envelope as bytes. */
export function seal({ from, to, body: { text, attachments } }: Envelope): Uint8Array {
  const parts = [Buffer.from(from), Buffer.from(to), text, ...attachments]
  const header = Buffer.alloc(HEADER_BYTES + attachments.length * 4)
  const lengths = [...parts.slice(0, 3).map(({ length }) => length), attachments.length]
  for (const [at, length] of [...lengths, ...attachments.map((each) => each.length)].entries())
    header.writeUInt32LE(length, at * 4)
  return Buffer.concat([header, ...parts])
}

/** An envelope that was received. Only its address is read before {@link open}. */
export class ReceivedEnvelope {
  readonly #bytes: Buffer
  readonly #start: number

  /** @param bytes which have no other user. */
  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#start = HEADER_BYTES + this.#length(3) * 4
  }

  get from(): string {
    return this.#bytes.toString('utf8', this.#start, this.#start + this.#length(0))
  }

  get to(): string {
    const start = this.#start + this.#length(0)
    return this.#bytes.toString('utf8', start, start + this.#length(1))
  }

  /** The body, made again at each call. Its binary parts are views of the bytes that were received. */
  open(): unknown {
    const start = this.#start + this.#length(0) + this.#length(1)
    const text = this.#bytes.toString('utf8', start, start + this.#length(2))
    if (this.#length(3) === 0) return JSON.parse(text)
    const attachments = this.#attachments(start + this.#length(2))
    return JSON.parse(text, (_, value: unknown) => restored(value, attachments))
  }

  #attachments(start: number): readonly Buffer[] {
    let at = start
    return Array.from({ length: this.#length(3) }, (_, number) => {
      const length = this.#length(4 + number)
      at += length
      return this.#bytes.subarray(at - length, at)
    })
  }

  #length(number: number): number {
    return this.#bytes.readUInt32LE(number * 4)
  }
}

function restored(value: unknown, attachments: readonly Buffer[]): unknown {
  if (typeof value !== 'string') return value
  if (value.startsWith(PART)) return attachments[Number(value.slice(PART.length))]
  return value.startsWith(TEXT) ? value.slice(TEXT.length) : value
}
