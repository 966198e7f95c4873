import { Buffer } from 'node:buffer'
import { addon } from './addon.ts'

/**
 * Memory of large results, which the addon keeps for the next ones. New pages of the system, and zeros that are written
 * over at once, would take longer than many a function. Small results are as fast from the engine.
 */
const BYTES_MIN = 2 ** 16
/** From this length on, it takes longer to write zeros than to have memory without. */
const ZEROS_MIN = 2 ** 11
/** The addon takes no more. */
const BYTES_MAX = 2 ** 32 - 1
/** After this time without a result, nothing is kept. */
const IDLE_MS = 2000

let takenLast = 0
let taken = 0
let timer: NodeJS.Timeout | undefined

/** Memory with anything in it, or undefined where the engine's own is to be taken. */
export function takeResultMemory(bytes: number): ArrayBuffer | undefined {
  if (bytes < BYTES_MIN) return bytes < ZEROS_MIN ? undefined : (Buffer.allocUnsafeSlow(bytes).buffer as ArrayBuffer)
  if (bytes > BYTES_MAX) return undefined
  const buffer = addon()?.takeArrayMemory(bytes)
  if (buffer === undefined) return undefined
  taken += 1
  timer ??= setInterval(trimIfIdle, IDLE_MS).unref()
  return buffer
}

/** Before memory is given to code that may transfer it. */
export function keepResultMemory({ buffer }: ArrayBufferView): void {
  if (buffer.byteLength >= BYTES_MIN) addon()?.keepArrayMemory(buffer)
}

function trimIfIdle(): void {
  if (taken === takenLast) {
    clearInterval(timer)
    timer = undefined
    addon()?.trimArrayMemory()
  }
  takenLast = taken
}
