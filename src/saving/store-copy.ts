import process from 'node:process'
import type { Space } from '../dsm/index.ts'
import { native } from '../native/index.ts'
import { FREE_BLOCK_BYTES, STORE_MAGIC, StoreHead, type Structures, usedEnd } from '../structures/index.ts'
import type { StoreBlock } from './format.ts'
import type { RawRegion } from './raw-region.ts'
import { lockStore } from './store-lock.ts'
import { usedRuns } from './used-runs.ts'

/** Read at a time: it stays in the processor's cache. */
const CHUNK_BYTES = 2 ** 20

/** A store of transactions as it was at one instant. */
export interface StoreCopy {
  readonly store: StoreBlock
  /** Runs of pages that are not all zeros. */
  readonly pages: readonly { readonly offset: number; readonly bytes: Uint8Array }[]
}

/**
 * Copy a store while its mutex is held, so between two transactions. It is one step, during which all users of the
 * store wait. If a process was killed in a transaction, the copy has the undo log as well: the first one after a
 * restore undoes it.
 * @throws TimeoutError naming the process that holds the store.
 */
export async function copyStore(
  space: Space,
  region: RawRegion,
  guards: Structures | undefined,
  signal: AbortSignal | undefined,
): Promise<StoreCopy> {
  // Without the structures that have its mutex, no process can be using it.
  const holderOf = () => region.readSync(StoreHead.Holder, Buffer.alloc(4)).readInt32LE()
  using _hold = guards && (await lockStore(guards, holderOf, signal))
  const holder = Buffer.alloc(4)
  holder.writeInt32LE(process.pid)
  region.writeSync(StoreHead.Holder, holder)
  const shiftMs = region.readSync(StoreHead.ClockShift, Buffer.alloc(8)).readDoubleLE()
  const nowMs = native.monotonicNs() / 1e6 + space.membership.arena.clockShiftMs + shiftMs
  return { store: { magic: STORE_MAGIC, behindMs: Date.now() - nowMs }, pages: usedPages(region) }
}

function usedPages(region: RawRegion): StoreCopy['pages'] {
  const chunk = Buffer.alloc(CHUNK_BYTES)
  const { size } = region.entry
  const end = usedEndOf(region)
  const pages: { offset: number; bytes: Uint8Array }[] = []
  for (let at = 0; at < size; at = nextChunk(at, end, size)) {
    const part = region.readSync(at, chunk.subarray(0, Math.min(CHUNK_BYTES, size - at)))
    for (const [begin, end] of usedRuns(part))
      pages.push({ offset: at + begin, bytes: Buffer.from(part.subarray(begin, end)) })
  }
  return pages
}

/** Past the end of what is used, the rest is looked at only where the store ends. */
function nextChunk(at: number, usedEnd: number, size: number): number {
  const next = at + CHUNK_BYTES
  if (next < usedEnd) return next
  return Math.max(next, (size - FREE_BLOCK_BYTES * 2) & -CHUNK_BYTES)
}

/** A transaction that is to be undone may have changed where that is. */
function usedEndOf(region: RawRegion): number {
  const word = (offset: number): number => region.readSync(offset, Buffer.alloc(4)).readInt32LE()
  return word(StoreHead.UndoLength) === 0 ? usedEnd(region.entry.size, word) : region.entry.size
}
