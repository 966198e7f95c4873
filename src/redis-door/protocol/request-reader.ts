import { Buffer } from 'node:buffer'
import { NameTable } from '../../index-service/index.ts'
import { splitInline } from './inline.ts'
import { ProtocolFault, type Request } from './request.ts'

/** What a reader takes at most. */
export interface RequestLimits {
  /** Arguments of a request, with its name. */
  readonly argumentsMax: number
  /** Bytes of an argument: with more, the connection ends. */
  readonly bulkBytesMax: number
  /** Bytes of an argument that are kept. What is longer is read past, and the request says so. */
  readonly valueBytesMax: number
  /** The client has said who it is. */
  readonly isAuthenticated: boolean
}

/** Of a line: an inline request, or a length. Redis' PROTO_INLINE_MAX_SIZE. */
const LINE_BYTES_MAX = 64 * 1024
/** What is longer is kept as it came: to copy it would cost more than the memory beside it. */
const SETTLED_BYTES_MAX = 16 * 1024
const MULTIBULK_MAX = 2 ** 31 - 1
const [CR, LF, ASTERISK, DOLLAR, ZERO, NINE, MINUS] = [0x0d, 0x0a, 0x2a, 0x24, 0x30, 0x39, 0x2d]
const NONE = -1
const EMPTY = Buffer.alloc(0)

/**
 * Requests out of the bytes of a connection, in whatever pieces they come: arrays of bulk strings, or lines of words.
 * https://redis.io/docs/latest/develop/reference/protocol-spec/
 *
 * Arguments are views of the pieces. What is not complete is not read twice: the arguments so far are kept. The bytes
 * of a long one are put together when all are there.
 */
export class RequestReader {
  readonly #limits: () => RequestLimits
  /** What is being read, from `#at`. */
  #bytes: Buffer = EMPTY
  #at = 0
  /** Pieces behind that, and how many bytes there must be before it is worth going on. */
  #pieces: Buffer[] = []
  #pieceBytes = 0
  #needed = 0
  /** Memory of the last piece, if it has room for more. */
  #tail: Buffer = EMPTY
  #tailUsed = 0
  /** Arguments of the request under way, how many are to come, and the length of the next one. */
  #args: Uint8Array[] = []
  #left = NONE
  #bulk = NONE
  #argumentBytes = 0
  /** As many of the arguments are memory of their own. */
  #settledArgs = 0
  /** Bytes to come of an argument that is too long. */
  #skipped = 0
  #isTooLong = false

  constructor(limits: () => RequestLimits) {
    this.#limits = limits
  }

  /** Bytes that are kept for a request that is not complete. */
  get heldBytes(): number {
    return this.#bytes.length - this.#at + this.#pieceBytes + this.#argumentBytes
  }

  /** Nothing is left of what came before. */
  get isEmpty(): boolean {
    return this.#left === NONE && this.#skipped === 0 && this.#at === this.#bytes.length && this.#pieces.length === 0
  }

  push(piece: Buffer): void {
    if (this.#at === this.#bytes.length && this.#pieces.length === 0) {
      this.#bytes = piece
      this.#at = 0
      return
    }
    this.#pieceBytes += piece.length
    if (piece.length > SETTLED_BYTES_MAX) {
      this.#forgetTail()
      this.#pieces.push(piece)
    } else this.#append(piece)
  }

  /** Short pieces are copied behind each other: of a slow client there may be as many as bytes. */
  #append(piece: Buffer): void {
    if (this.#tail.length - this.#tailUsed < piece.length) {
      this.#tail = Buffer.allocUnsafeSlow(SETTLED_BYTES_MAX)
      this.#tailUsed = 0
      this.#pieces.push(EMPTY)
    }
    piece.copy(this.#tail, this.#tailUsed)
    this.#tailUsed += piece.length
    this.#pieces[this.#pieces.length - 1] = this.#tail.subarray(0, this.#tailUsed)
  }

  /** The next request that is complete. @throws ProtocolFault */
  next(): Request | undefined {
    for (;;) {
      if (this.#skipped > 0 && !this.#skip()) return undefined
      if (this.#pieces.length > 0 && !this.#gather()) return undefined
      const request = this.#left === NONE ? this.#begin() : this.#readArguments()
      if (request !== undefined && request !== NOTHING) return request
      // An empty request is none. What was not complete may be with what comes behind it.
      if (request === undefined && this.#skipped === 0 && this.#pieces.length === 0) return undefined
    }
  }

  /**
   * Keep what is not complete as memory of its own, if it is short. A view of it keeps the whole piece, which may have
   * bytes of many connections.
   */
  settle(): void {
    const rest = this.#bytes.length - this.#at
    if (rest > 0 && rest <= SETTLED_BYTES_MAX && this.#bytes.buffer.byteLength > 4 * rest) {
      this.#bytes = Buffer.from(this.#bytes.subarray(this.#at))
      this.#at = 0
    } else if (rest === 0) {
      this.#bytes = EMPTY
      this.#at = 0
    }
    for (; this.#settledArgs < this.#args.length; this.#settledArgs += 1) {
      const arg = this.#args[this.#settledArgs]!
      if (arg.length <= SETTLED_BYTES_MAX) this.#args[this.#settledArgs] = Buffer.from(arg)
    }
  }

  /** Read past what is not kept; false if there is more to come. */
  #skip(): boolean {
    for (;;) {
      const here = Math.min(this.#skipped, this.#bytes.length - this.#at)
      this.#at += here
      this.#skipped -= here
      if (this.#skipped === 0) return true
      const piece = this.#pieces.shift()
      if (piece === undefined) return false
      if (this.#pieces.length === 0) this.#forgetTail()
      this.#pieceBytes -= piece.length
      this.#bytes = piece
      this.#at = 0
    }
  }

  /** Put the pieces together if there is enough. */
  #gather(): boolean {
    const rest = this.#bytes.length - this.#at
    if (rest + this.#pieceBytes < this.#needed) return false
    this.#bytes = Buffer.concat([this.#bytes.subarray(this.#at), ...this.#pieces])
    this.#at = 0
    this.#pieces = []
    this.#forgetTail()
    this.#pieceBytes = 0
    this.#needed = 0
    return true
  }

  #forgetTail(): void {
    this.#tail = EMPTY
    this.#tailUsed = 0
  }

  #begin(): Request | undefined {
    if (this.#at >= this.#bytes.length) return undefined
    if (this.#bytes[this.#at] !== ASTERISK) return this.#readInline()
    const count = this.#readLength('multibulk', MULTIBULK_MAX)
    if (count === undefined) return undefined
    const { argumentsMax, isAuthenticated } = this.#limits()
    if (count > argumentsMax) throw lengthFault('multibulk', isAuthenticated)
    // Redis takes no arguments, or fewer, for an empty request.
    if (count <= 0) return NOTHING
    this.#left = count
    return this.#readArguments()
  }

  #readArguments(): Request | undefined {
    while (this.#left > 0) {
      if (this.#bulk === NONE) {
        const length = this.#readBulkLength()
        if (length === undefined) return undefined
        this.#bulk = length
        if (length > this.#limits().valueBytesMax) {
          this.#passOver()
          return undefined
        }
      }
      const end = this.#at + this.#bulk
      if (this.#bytes.length < end + 2) {
        this.#needed = this.#bulk + 2
        return undefined
      }
      // Not a Buffer, which takes longer to make.
      this.#args.push(new Uint8Array(this.#bytes.buffer, this.#bytes.byteOffset + this.#at, this.#bulk))
      this.#argumentBytes += this.#bulk
      this.#at = end + 2
      this.#bulk = NONE
      this.#left -= 1
    }
    const args = this.#args
    const name = args.shift()!
    this.#args = []
    this.#settledArgs = 0
    this.#left = NONE
    this.#argumentBytes = 0
    const request = requestOf(name, args)
    if (!this.#isTooLong) return request
    this.#isTooLong = false
    return { ...request, isTooLong: true }
  }

  /** The argument that comes is not kept. */
  #passOver(): void {
    this.#skipped = this.#bulk + 2
    this.#isTooLong = true
    this.#args.push(EMPTY)
    this.#bulk = NONE
    this.#left -= 1
  }

  #readBulkLength(): number | undefined {
    if (this.#at >= this.#bytes.length) return undefined
    const first = this.#bytes[this.#at]!
    if (first !== DOLLAR) {
      // As Redis, which looks for the end of the line first.
      if (this.#endOfLine('too big bulk count string') === undefined) return undefined
      throw new ProtocolFault(`Protocol error: expected '$', got '${String.fromCharCode(first)}'`)
    }
    const length = this.#readLength('bulk', Number.MAX_SAFE_INTEGER)
    const { bulkBytesMax, isAuthenticated } = this.#limits()
    if (length !== undefined && length > bulkBytesMax) throw lengthFault('bulk', isAuthenticated)
    if (length !== undefined && length < 0) throw new ProtocolFault('Protocol error: invalid bulk length')
    return length
  }

  /** A line of a mark and a number. */
  #readLength(what: 'multibulk' | 'bulk', max: number): number | undefined {
    const end = this.#endOfLine(`too big ${what === 'bulk' ? 'bulk' : 'mbulk'} count string`)
    if (end === undefined) return undefined
    const value = this.#integer(this.#at + 1, end)
    if (value === undefined || value > max) throw new ProtocolFault(`Protocol error: invalid ${what} length`)
    this.#at = end + 2
    return value
  }

  #integer(start: number, end: number): number | undefined {
    const isNegative = this.#bytes[start] === MINUS
    const first = isNegative ? start + 1 : start
    if (first >= end || end - first > 15) return undefined
    // Redis takes no zero in front of other digits, nor behind a minus.
    if (this.#bytes[first] === ZERO && (isNegative || end - first > 1)) return undefined
    let value = 0
    for (let at = first; at < end; at += 1) {
      const digit = this.#bytes[at]!
      if (digit < ZERO || digit > NINE) return undefined
      value = value * 10 + digit - ZERO
    }
    return isNegative ? -value : value
  }

  /** Where the CR of the line is whose LF is there, too. */
  #endOfLine(tooLong: string): number | undefined {
    const end = this.#bytes.indexOf(CR, this.#at)
    if (end >= 0 && end + 1 < this.#bytes.length) return end
    if (this.#bytes.length - this.#at > LINE_BYTES_MAX) throw new ProtocolFault(`Protocol error: ${tooLong}`)
    return undefined
  }

  #readInline(): Request | undefined {
    const end = this.#bytes.indexOf(LF, this.#at)
    if (end < 0) {
      if (this.#bytes.length - this.#at > LINE_BYTES_MAX)
        throw new ProtocolFault('Protocol error: too big inline request')
      return undefined
    }
    const line = this.#bytes.subarray(this.#at, this.#bytes[end - 1] === CR && end > this.#at ? end - 1 : end)
    this.#at = end + 1
    const [name, ...args] = splitInline(line)
    return name === undefined ? NOTHING : requestOf(name, args)
  }
}

/** As Redis words it: a client that has not said who it is may send little. */
function lengthFault(what: 'multibulk' | 'bulk', isAuthenticated: boolean): ProtocolFault {
  return new ProtocolFault(`Protocol error: ${isAuthenticated ? 'invalid' : 'unauthenticated'} ${what} length`)
}

const NOTHING: Request = { name: '', args: [] }

/** As they were written. */
const names = new NameTable((name) => name)

function requestOf(name: Uint8Array, args: readonly Uint8Array[]): Request {
  return { name: names.at(name, 0, name.length), args }
}
