const PAGE_BYTES = 4096
const ZEROS = Buffer.alloc(PAGE_BYTES)

/** Where runs of pages begin and end that are not all zeros: the others are left out of saves. */
export function* usedRuns(bytes: Buffer): Generator<readonly [begin: number, end: number], undefined> {
  let begin = -1
  for (let at = 0; at < bytes.length; at += PAGE_BYTES) {
    const page = bytes.subarray(at, at + PAGE_BYTES)
    const isZero = page.equals(ZEROS.subarray(0, page.length))
    if (!isZero && begin < 0) begin = at
    if (isZero && begin >= 0) {
      yield [begin, at]
      begin = -1
    }
  }
  if (begin >= 0) yield [begin, bytes.length]
  return undefined
}
