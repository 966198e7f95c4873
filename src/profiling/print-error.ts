import { writeSync } from 'node:fs'

/**
 * How often a full pipe is looked at again, a millisecond apart; then the text is lost rather than the program stopped.
 */
const PATIENCE = 100
const waiting = new Int32Array(new SharedArrayBuffer(4))

/**
 * Write `text` to standard error. Never throws: a missing reader must not make the program fail. It writes to the
 * descriptor, because `console` in a Worker goes through the main thread, which may be waiting for this Worker.
 */
export function printError(text: string): void {
  const bytes = Buffer.from(text)
  let tries = 0
  for (let at = 0; at < bytes.length && tries < PATIENCE; ) {
    try {
      at += writeSync(2, bytes, at)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return
      tries += 1
      Atomics.wait(waiting, 0, 0, 1)
    }
  }
}
