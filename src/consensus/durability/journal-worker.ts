/**
 * The thread in which a log is on a disk, so that neither the program nor its replica waits for one. It waits for each
 * sync itself; what comes meanwhile is gathered for the next.
 */
import { Buffer } from 'node:buffer'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { native } from '../../native/index.ts'
import { ConsensusError } from '../errors.ts'
import { DiskLog } from './disk-log.ts'
import {
  type JournalOrder,
  type JournalPart,
  type JournalReport,
  type JournalStart,
  packError,
  type SnapshotPart,
} from './journal-contract.ts'

/** A full disk is tried again after this time. */
const AGAIN_MS = 200
/** More than this does not wait for a full disk. */
const WAITING_BYTES_MAX = 64 * 2 ** 20

const { directory, name, append, port, bell } = workerData as JournalStart
const program = parentPort!

class JournalWriter {
  readonly #disk: DiskLog
  /** What is not begun, in order. */
  #waiting: JournalPart[] = []
  /** Records that were begun. */
  #count = 0
  /** What waits for room. */
  readonly #full = new Set<'log' | 'snapshot'>()
  #isClosing = false
  #writing: Promise<void> | undefined
  /** Writes a snapshot of what the log has anyway, while entries go on. The next one waits. */
  #aside: Promise<void> | undefined
  #nextAside: SnapshotPart | undefined

  constructor(disk: DiskLog) {
    this.#disk = disk
  }

  take(parts: readonly JournalPart[]): void {
    this.#waiting.push(...parts)
    this.#gather()
    if (this.#waiting.length > 0) this.#writing ??= this.#orEnd(this.#write())
  }

  /** End after what came so far. A full disk is tried once more. */
  async close(): Promise<void> {
    this.#isClosing = true
    await this.#writing
    await this.#aside
    await this.#disk.close()
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      if (!this.#begin()) await this.#writeFirst()
      await this.#insist('log', () => this.#disk.sync())
      port.postMessage(this.#count)
      native.ringPipe(bell)
      this.#gather()
      // A snapshot is written aside, and the program may want this to end.
      if (this.#waiting.length > 0) await nextTurn()
    }
    this.#writing = undefined
  }

  /** Take all that has come. */
  #gather(): void {
    for (let got = receiveMessageOnPort(port); got !== undefined; got = receiveMessageOnPort(port))
      this.#waiting.push(...(got.message as readonly JournalPart[]))
  }

  /** Append what waits, up to a snapshot of something that the log does not have. False if that is the first. */
  #begin(): boolean {
    let parts = 0
    for (const part of this.#waiting) {
      if (part instanceof Uint8Array)
        this.#count += this.#disk.append(Buffer.from(part.buffer, part.byteOffset, part.length))
      else if (this.#disk.holds(part.head.index)) {
        this.#count += 1
        this.#nextAside = part
        this.#aside ??= this.#orEnd(this.#writeAside())
      } else break
      parts += 1
    }
    this.#waiting.splice(0, parts)
    return parts > 0
  }

  /** Entries behind such a snapshot follow on what only it holds. A crash must not leave them without it. */
  async #writeFirst(): Promise<void> {
    const { head, parts } = this.#waiting.shift() as SnapshotPart
    await this.#aside
    await this.#insist('snapshot', () => this.#disk.writeSnapshot(head, ...parts))
    this.#count += 1
  }

  async #writeAside(): Promise<void> {
    for (let next = this.#nextAside; next !== undefined; next = this.#nextAside) {
      const { head, parts } = next
      this.#nextAside = undefined
      await this.#insist('snapshot', () => this.#disk.writeSnapshot(head, ...parts))
    }
    this.#aside = undefined
  }

  /** Do it, again and again while the disk is full. */
  async #insist(what: 'log' | 'snapshot', act: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        await act()
        if (this.#full.delete(what) && this.#full.size === 0) report({ type: 'state', state: 'well' })
        return
      } catch (error) {
        const isFull = error instanceof ConsensusError && error.code === 'ERR_AETHER_CONSENSUS_LOG_FULL'
        if (!isFull || this.#isClosing) throw error
        if (this.#full.size === 0) report({ type: 'state', state: 'full' })
        this.#full.add(what)
        if (this.#waitingBytes() > WAITING_BYTES_MAX) throw tooMuch(error)
      }
      await sleep(AGAIN_MS)
    }
  }

  async #orEnd(work: Promise<void>): Promise<void> {
    try {
      await work
    } catch (error) {
      end(error)
      // The lock is free when the thread has ended.
      await this.#disk.close().catch(() => {})
    }
  }

  #waitingBytes(): number {
    const all = this.#waiting.flatMap((part) => (part instanceof Uint8Array ? part : part.parts))
    return all.reduce((sum, { length }) => sum + length, 0)
  }
}

function tooMuch({ file, message }: ConsensusError): ConsensusError {
  const what = `${WAITING_BYTES_MAX / 2 ** 20} MiB wait for a full disk (${message})`
  return new ConsensusError('LOG_FULL', `${what}; free some space, then open the log again`, {
    ...(file === undefined ? {} : { file }),
  })
}

function report(what: JournalReport, transfers: readonly ArrayBuffer[] = []): void {
  program.postMessage(what, transfers)
}

/** Nothing is listened to any more, so that the thread ends. */
function end(error?: unknown): void {
  if (error !== undefined) report({ type: 'failed', error: packError(error) })
  port.close()
  program.close()
}

try {
  const { disk, recovered } = await DiskLog.open(directory, name, { append })
  const writer = new JournalWriter(disk)
  port.on('message', (parts: readonly JournalPart[]) => writer.take(parts))
  program.on('message', (_order: JournalOrder) => {
    writer.take([])
    writer.close().then(() => end(), end)
  })
  const memory = new Set(recovered.entries.map(({ payload }) => payload.buffer as ArrayBuffer))
  if (recovered.snapshot !== undefined) memory.add(recovered.snapshot.bytes.buffer as ArrayBuffer)
  report({ type: 'opened', id: disk.id, recovered }, [...memory])
} catch (error) {
  end(error)
}
