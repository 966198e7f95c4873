import { MalformedFrameError } from './errors.ts'
import { BodyMemory, type IncomingFrame } from './incoming-frame.ts'

/**
 * Bodies that may come at a time, in parts or fetched: an end of ours sends parts of one after the other, and offers
 * half as many.
 */
const BODIES_MAX = 64

/** Bounds of the bodies that a session accepts. */
export interface BodyLimits {
  /** The longest request, answer or item, encoded. */
  readonly bodyBytesMax: number
  /**
   * Bytes of bodies that come in parts or are fetched, of all calls of a link at a time. It counts for at least twice
   * `bodyBytesMax`.
   */
  readonly assemblyBytesMax: number
}

/** A body that comes in parts. */
interface Assembly {
  readonly frame: IncomingFrame
  /** Undefined where it is passed over. */
  readonly bytes: Uint8Array | undefined
  readonly totalBytes: number
  cameBytes: number
}

/**
 * Incoming long bodies: reassembles those in parts, and accounts for the memory of all, fetched ones included.
 *
 * This package sends the parts of one body after the other's, and they cannot be delayed. So there is always room for
 * one body of the greatest length. An offered body waits until there is room for it in the rest.
 */
export class Assemblies {
  readonly #limits: BodyLimits
  readonly #assemblies = new Map<number, Assembly>()
  #assembledBytes = 0
  #offered = 0
  #fetchedBytes = 0

  constructor(limits: BodyLimits) {
    this.#limits = limits
  }

  /**
   * A body was offered. Returns false if it is too long; otherwise `ended` follows. @throws MalformedFrameError if more
   * have begun than this package ever begins.
   */
  offered(totalBytes: number): boolean {
    this.#bound()
    if (totalBytes > this.#limits.bodyBytesMax) return false
    this.#offered += 1
    return true
  }

  /** An offered body is here, or does not come. */
  ended(): void {
    this.#offered -= 1
  }

  /** Returns true if there is room to fetch an offered body; then `left` follows. */
  enter(totalBytes: number): boolean {
    const { bodyBytesMax, assemblyBytesMax } = this.#limits
    if (this.#fetchedBytes + totalBytes > Math.max(bodyBytesMax, assemblyBytesMax - bodyBytesMax)) return false
    this.#fetchedBytes += totalBytes
    return true
  }

  left(totalBytes: number): void {
    this.#fetchedBytes -= totalBytes
  }

  #bound(): void {
    if (this.#offered + this.#assemblies.size >= BODIES_MAX)
      throw new MalformedFrameError(`more than ${BODIES_MAX} bodies are unfinished`)
  }

  /** A body begins, whose parts follow. Returns false if it is skipped. @throws MalformedFrameError. */
  begin(frame: IncomingFrame, totalBytes: number): boolean {
    if (this.#assemblies.has(frame.call)) throw new MalformedFrameError('a body begins within another of the same call')
    this.#bound()
    const isTaken = this.#assembledBytes + totalBytes <= this.#limits.bodyBytesMax
    if (isTaken) this.#assembledBytes += totalBytes
    const bytes = isTaken ? new Uint8Array(totalBytes) : undefined
    this.#assemblies.set(frame.call, { frame, bytes, totalBytes, cameBytes: 0 })
    return isTaken
  }

  /**
   * Add the next bytes of a body. Returns the frame with the whole body if these were the last, unless it is skipped.
   * @throws MalformedFrameError.
   */
  part(call: number, bytes: Uint8Array): IncomingFrame | undefined {
    const assembly = this.#assemblies.get(call)
    if (assembly === undefined) throw new MalformedFrameError('a part of a body that was not begun')
    const { length } = bytes
    if (length > assembly.totalBytes - assembly.cameBytes)
      throw new MalformedFrameError('a body is longer than announced')
    assembly.bytes?.set(bytes, assembly.cameBytes)
    assembly.cameBytes += length
    if (assembly.cameBytes < assembly.totalBytes) return undefined
    this.#assemblies.delete(call)
    if (assembly.bytes === undefined) return undefined
    this.#assembledBytes -= assembly.totalBytes
    assembly.frame.setBody(assembly.bytes, BodyMemory.Own)
    return assembly.frame
  }

  clear(): void {
    this.#assemblies.clear()
  }
}
