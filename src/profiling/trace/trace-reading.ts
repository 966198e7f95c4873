import { closeSync, openSync, readSync } from 'node:fs'

const CHUNK_BYTES = 65_536

/**
 * Yield the lines of a file, without their ends, read piece by piece. Text after the last line end, a truncated line,
 * is left out.
 */
export function* wholeLines(path: string): Generator<string, void> {
  const descriptor = openSync(path, 'r')
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  let rest: Buffer = Buffer.alloc(0)
  try {
    for (let length = readSync(descriptor, chunk); length > 0; length = readSync(descriptor, chunk)) {
      let bytes = Buffer.concat([rest, chunk.subarray(0, length)])
      for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10)) {
        yield bytes.toString('utf8', 0, end)
        bytes = bytes.subarray(end + 1)
      }
      rest = Buffer.from(bytes)
    }
  } finally {
    closeSync(descriptor)
  }
}
