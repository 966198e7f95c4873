import { messageOfThrown } from '../../native/index.ts'
import { knownCodec } from '../values/codec-parameter.ts'
import type { CheckedHeap } from './checked-heap.ts'
import { Damage, must } from './damage.ts'

const text = new TextDecoder('utf-8', { fatal: true })
const NUMBER_BYTES = 8

/** First bytes of structured values that are of one length (../../codecs/structured.ts), and of text. */
const STRUCTURED_LENGTHS: ReadonlyMap<number | undefined, number> = new Map([
  [0, 1],
  [1, 1],
  [2, 1],
  [3, 1],
  [4, 1 + NUMBER_BYTES],
])
const STRUCTURED_TEXT = 5
const STRUCTURED_TAG_MAX = 7

/**
 * A value within its block, from `at` on. One whose codec is of this package must be what that encodes. Of bytes that
 * stand for themselves nothing can be told. @throws Damage
 */
export function checkValue(
  heap: CheckedHeap,
  at: number,
  lengthBytes: number,
  codec: number | undefined,
  what: string,
): void {
  const known = codec === undefined ? undefined : knownCodec(codec)
  if (known === undefined || known.name === 'bytes') return
  const bytes = heap.memory.copy(at, lengthBytes)
  try {
    if (known.name === 'number') must(lengthBytes === NUMBER_BYTES, 'it has not the length of a number')
    else if (known.name === 'json') JSON.parse(text.decode(bytes))
    else checkStructured(bytes, () => known.decode(bytes))
  } catch (error) {
    throw new Damage(`${what} cannot be decoded as '${known.name}' (${messageOfThrown(error)})`)
  }
}

function checkStructured(bytes: Uint8Array, decode: () => void): void {
  const [tag] = bytes
  must(tag !== undefined && tag <= STRUCTURED_TAG_MAX, 'its kind is unknown')
  const length = STRUCTURED_LENGTHS.get(tag)
  if (length !== undefined) must(bytes.length === length, 'it has not the length of its kind')
  else if (tag === STRUCTURED_TEXT) text.decode(bytes.subarray(1))
  else decode()
}
