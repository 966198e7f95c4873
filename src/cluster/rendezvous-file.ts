import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import type { ArenaIdentity } from './arena.ts'
import { MEMBERS_MAX } from './layout.ts'
import { LockFile } from './lock-file.ts'
import { startTimeOf } from './process-identity.ts'

/** A record says where a member holds the arena. Whether it still does must be found out by looking. */
export interface RendezvousRecord extends ArenaIdentity {
  readonly processId: number
  /** Start time of the process's main thread. */
  readonly startTime: number
  /** The arena's descriptor in that process. */
  readonly descriptor: number
}

const RECORD_BYTES = 128
const TITLE = 'aether space: one line a member: process, start time, descriptor, inode, nonce, check sum'
const PATTERN = /^member +(\d+) +(\d+) +(\d+) +(\d+) ([0-9a-f]{32}) ([0-9a-f]{8}) *$/

/**
 * The file by which processes find a space:
 *
 * ```
 * byte    0   a line of title, 128 bytes
 *       128   record of member slot 0, 128 bytes
 *       256   record of member slot 1 …
 * ```
 *
 * Each record is written with one write(2) within a page, which a signal cannot cut, and has a checksum. So a killed
 * writer harms at most its own. The lock of the whole space is flock(2) on the file; the kernel releases it when its
 * holder ends.
 */
export class RendezvousFile extends LockFile {
  /** The file if it exists and belongs to this user; never creates it. */
  static openExisting(path: string): RendezvousFile | undefined {
    try {
      const probe = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
      const isFile = fstatSync(probe).isFile()
      closeSync(probe)
      return isFile ? new RendezvousFile(path) : undefined
    } catch {
      return undefined
    }
  }

  /** The valid records, in the order of their slots. What a killed or foreign writer left is skipped. */
  records(): readonly RendezvousRecord[] {
    const bytes = Buffer.alloc(RECORD_BYTES * (MEMBERS_MAX + 1))
    const length = readSync(this.descriptor, bytes, 0, bytes.length, 0)
    const records: RendezvousRecord[] = []
    for (let at = RECORD_BYTES; at + RECORD_BYTES <= length; at += RECORD_BYTES) {
      const record = parseRecord(bytes.toString('latin1', at, at + RECORD_BYTES - 1))
      if (record !== undefined) records.push(record)
    }
    return records
  }

  /** Put a member's record into the file. */
  write(slot: number, record: RendezvousRecord): void {
    this.#writeLine(0, TITLE)
    this.#writeLine(slot + 1, formatRecord(record))
  }

  /** Remove a member's record. */
  erase(slot: number): void {
    this.#writeLine(slot + 1, '')
  }

  /** Forget all records: none of their processes holds an arena. Under the lock. */
  clear(): void {
    ftruncateSync(this.descriptor, 0)
  }

  /** Remove the file itself, if the path still leads here. */
  remove(): void {
    if (this.isCurrent()) unlinkSync(this.path)
  }

  #writeLine(line: number, text: string): void {
    const bytes = Buffer.from(`${text.padEnd(RECORD_BYTES - 1)}\n`, 'latin1')
    writeSync(this.descriptor, bytes, 0, RECORD_BYTES, line * RECORD_BYTES)
  }
}

/** The records of processes that live. Never creates a file. */
export function liveRecords(path: string): readonly RendezvousRecord[] {
  const file = RendezvousFile.openExisting(path)
  if (file === undefined) return []
  try {
    return file.records().filter((record) => startTimeOf(record.processId) === record.startTime)
  } finally {
    file.close()
  }
}

function formatRecord(record: RendezvousRecord): string {
  const { processId, startTime, descriptor, inode, nonce } = record
  const text = `member ${processId} ${startTime} ${descriptor} ${inode} ${nonce}`
  return `${text} ${checkSum(text)}`
}

function parseRecord(line: string): RendezvousRecord | undefined {
  const match = PATTERN.exec(line)
  if (match === null) return undefined
  const [, processId, startTime, descriptor, inode, nonce = '', sum] = match
  if (checkSum(line.slice(0, line.indexOf(nonce) + nonce.length)) !== sum) return undefined
  return {
    processId: Number(processId),
    startTime: Number(startTime),
    descriptor: Number(descriptor),
    inode: Number(inode),
    nonce,
  }
}

function checkSum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0')
}
