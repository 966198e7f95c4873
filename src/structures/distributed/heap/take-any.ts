import { HeapFullError } from '../../errors.ts'
import type { BlockPool, OwnBlock } from './block-pool.ts'
import { CLASS_BYTES } from './block-word.ts'

/** Of what is only to free something: a longer block will do where there is no short one left. */
const ANY_BYTES_MAX = 4096

/** A block of at least `lengthBytes` bytes, also a longer one. @throws HeapFullError */
export async function takeAny(pool: BlockPool, lengthBytes: number): Promise<OwnBlock> {
  for (const bytes of [lengthBytes, ...CLASS_BYTES.filter((each) => each > lengthBytes && each <= ANY_BYTES_MAX)]) {
    const block = await pool.take(bytes).catch((error: unknown) => {
      if (!(error instanceof HeapFullError)) throw error
    })
    if (block !== undefined) return block
  }
  return await pool.take(lengthBytes)
}
