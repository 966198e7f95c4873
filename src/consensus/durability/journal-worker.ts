/**
 * The thread in which a log is on a disk, so that neither the program nor its replica waits for one. While a sync is
 * under way, what comes is gathered for the next.
 */
import { Buffer } from 'node:buffer'
import { setTimeout as sleep } from 'node:timers/promises'
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
} from './journal-contract.ts'

/** A full disk is tried again after this time. */
const AGAIN_MS = 200
/** More than this does not wait for a full disk. */
const WAITING_BYTES_MAX = 64 * 2 ** 20

const { directory, name, port, bell } = workerData as JournalStart
const program = parentPort!

class JournalWriter {
  readonly #disk: DiskLog
  /** What is not begun, in order. */
  #waiting: JournalPart[] = []
  /** Records that were begun. */
  #count = 0
  #isFull = false
  #isClosing = false
  #writing: Promise<void> | undefined

  constructor(disk: DiskLog) {
    this.#disk = disk
  }

  take(parts: readonly JournalPart[]): void {
    this.#waiting.push(...parts)
    this.#writing ??= this.#write()
  }

  /** End after what came so far. A full disk is tried once more. */
  async close(): Promise<void> {
    this.#isClosing = true
    await this.#writing
    await this.#disk.close()
  }

  async #write(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        await this.#insist(this.#next())
        port.postMessage(this.#count)
        native.ringPipe(bell)
      }
      this.#writing = undefined
    } catch (error) {
      end(error)
      // The lock is free when the thread has ended.
      await this.#disk.close().catch(() => {})
    }
  }

  /**
   * Begin what is next: all records before a snapshot, or that. Records behind a snapshot wait for it. They may follow
   * on entries that only the snapshot holds, and a crash must not leave them without it.
   */
  #next(): () => Promise<void> {
    const [first] = this.#waiting as [JournalPart]
    if (!(first instanceof Uint8Array)) {
      this.#waiting.shift()
      this.#count += 1
      return () => this.#disk.writeSnapshot(first.head, first.bytes)
    }
    let parts = 0
    for (const part of this.#waiting) {
      if (!(part instanceof Uint8Array)) break
      this.#count += this.#disk.append(Buffer.from(part.buffer, part.byteOffset, part.length))
      parts += 1
    }
    this.#waiting.splice(0, parts)
    return () => this.#disk.sync()
  }

  /** Do it, again and again while the disk is full. */
  async #insist(act: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        await act()
        this.#tell(false)
        return
      } catch (error) {
        const isFull = error instanceof ConsensusError && error.code === 'ERR_AETHER_CONSENSUS_LOG_FULL'
        if (!isFull || this.#isClosing) throw error
        this.#tell(true)
        if (this.#waitingBytes() > WAITING_BYTES_MAX) throw tooMuch(error)
      }
      await sleep(AGAIN_MS)
    }
  }

  #waitingBytes(): number {
    return this.#waiting.reduce((sum, part) => sum + (part instanceof Uint8Array ? part : part.bytes).length, 0)
  }

  #tell(isFull: boolean): void {
    if (this.#isFull === isFull) return
    this.#isFull = isFull
    report({ type: 'state', state: isFull ? 'full' : 'well' })
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
  const { disk, recovered } = await DiskLog.open(directory, name)
  const writer = new JournalWriter(disk)
  port.on('message', (parts: readonly JournalPart[]) => writer.take(parts))
  program.on('message', (_order: JournalOrder) => {
    for (let got = receiveMessageOnPort(port); got !== undefined; got = receiveMessageOnPort(port))
      writer.take(got.message as readonly JournalPart[])
    writer.close().then(() => end(), end)
  })
  const memory = [recovered.snapshot?.bytes, recovered.entries[0]?.payload].map((bytes) => bytes?.buffer as ArrayBuffer)
  report(
    { type: 'opened', id: disk.id, recovered },
    memory.filter((buffer) => buffer !== undefined),
  )
} catch (error) {
  end(error)
}
