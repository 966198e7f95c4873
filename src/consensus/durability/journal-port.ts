import { Buffer } from 'node:buffer'
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import type { AcceptedEntry } from '../replica/cell.ts'
import type { Journal, SnapshotHead } from '../replica/journal.ts'
import type { JournalPart } from './journal-contract.ts'
import { promiseOf, recordLengthOf, writeRecord } from './log-segment.ts'

const ROOM_BYTES = 2 ** 16

/**
 * The replica's side of a journal that another thread writes to a disk. It needs no event loop. Records of a turn are
 * gathered as the disk will have them, except for checksums, and posted as one message.
 */
export class JournalPort implements Journal {
  readonly #port: MessagePort
  /** Records that were not posted. */
  #room = Buffer.allocUnsafeSlow(ROOM_BYTES)
  #used = 0
  /** What was gathered before these. */
  #parts: JournalPart[] = []
  #transfers: ArrayBuffer[] = []

  constructor(port: MessagePort) {
    this.#port = port
  }

  promise(term: number): void {
    this.append(promiseOf(term))
  }

  append(entry: AcceptedEntry): void {
    const length = recordLengthOf(entry)
    if (this.#used + length > this.#room.length) this.#grow(this.#used + length)
    writeRecord(this.#room, this.#used, entry)
    this.#used += length
  }

  /** The memory of `parts` is the journal's from now on: {@link flush} takes it away. That of others is copied. */
  snapshot({ index, term, configuration }: SnapshotHead, ...parts: readonly Uint8Array[]): void {
    this.#cut()
    const own = parts.map(ownOf)
    this.#parts.push({ head: { index, term, configuration }, parts: own })
    for (const { buffer } of own) this.#transfers.push(buffer)
  }

  flush(): void {
    this.#cut()
    if (this.#parts.length === 0) return
    this.#port.postMessage(this.#parts, this.#transfers)
    this.#parts = []
    this.#transfers = []
  }

  /** How many records are on the disk, counted from the first; undefined if no more are than at the last call. */
  take(): number | undefined {
    let count: number | undefined
    for (let got = receiveMessageOnPort(this.#port); got !== undefined; got = receiveMessageOnPort(this.#port))
      count = got.message as number
    return count
  }

  /** What was gathered becomes a part of the message. */
  #cut(): void {
    if (this.#used === 0) return
    const records = Buffer.allocUnsafeSlow(this.#used)
    this.#room.copy(records, 0, 0, this.#used)
    this.#parts.push(records)
    this.#transfers.push(records.buffer)
    this.#used = 0
  }

  #grow(lengthBytes: number): void {
    const room = Buffer.allocUnsafeSlow(2 * lengthBytes)
    this.#room.copy(room, 0, 0, this.#used)
    this.#room = room
  }
}

/** Bytes in memory that is of nothing else. */
function ownOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const isOwn = bytes.buffer instanceof ArrayBuffer && bytes.length === bytes.buffer.byteLength
  return isOwn ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes)
}
