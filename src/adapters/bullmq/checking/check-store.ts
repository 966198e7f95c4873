import { Damage, isWhole, must, STORE_MAGIC, StoreHead } from '../../../structures/index.ts'
import { QUEUE_BYTES } from '../queue/layout.ts'
import { HeaderOffset, STORE_BYTES_MIN } from '../store/layout.ts'
import { UndoMemory } from '../store/undo-memory.ts'
import { checkQueue } from './check-queue.ts'
import { checkTable } from './check-table.ts'
import { CheckedBlocks } from './checked-blocks.ts'

/** What was found in a store of queues. */
export interface StoreReport {
  readonly structures: number
  /** Jobs of all queues. */
  readonly entries: number
  readonly damaged: readonly { readonly structure?: string; readonly kind: string; readonly reason: string }[]
}

/**
 * Check a store, of which `bytes` is a private copy. What a killed process had begun is undone in it first. The first
 * damage of a queue ends the look at it. `lastEpoch`: of the member that joined the space last.
 */
export function checkStore(bytes: Uint8Array, lastEpoch: number): StoreReport {
  const damaged: StoreReport['damaged'][number][] = []
  const check = (of: { readonly structure?: string; readonly kind: string }, run: () => void): void => {
    try {
      run()
    } catch (error) {
      if (!(error instanceof Damage)) throw error
      damaged.push({ ...of, reason: error.message })
    }
  }
  let [structures, entries] = [0, 0]
  check({ kind: 'memory' }, () => {
    must(bytes.length >= STORE_BYTES_MIN, 'it is too short')
    const memory = new UndoMemory(bytes.subarray(0, bytes.length & ~15))
    undo(memory)
    // It was not begun: its first user was killed.
    if (memory.word(StoreHead.Magic) === 0) return
    checkHead(memory)
    const blocks = new CheckedBlocks(memory)
    blocks.walk()
    checkTable(blocks, HeaderOffset.Queues, QUEUE_BYTES, (at, structure) => {
      structures += 1
      check({ structure, kind: 'queue of BullMQ' }, () => (entries += checkQueue(blocks, at, lastEpoch)))
    })
    if (damaged.length === 0) blocks.checkAllClaimed()
  })
  return { structures, entries, damaged }
}

function checkHead(memory: UndoMemory): void {
  const isRestored = memory.word(StoreHead.Restored) >>> 1 === 0
  const isSound = memory.word(StoreHead.Magic) === STORE_MAGIC && isRestored
  must(isSound && Number.isFinite(memory.float(StoreHead.ClockShift)), 'it does not begin as the memory of queues')
}

function undo(memory: UndoMemory): void {
  const { logBegin, blocksBegin, blocksEnd } = memory.header
  const length = memory.word(StoreHead.UndoLength)
  must(isWhole(length, 0, (blocksBegin - logBegin) / 8), 'its undo log is longer than there is room for')
  for (let entry = 0; entry < length; entry += 1) {
    const at = memory.word(logBegin + entry * 8)
    const isSound = isWhole(at, 0, blocksEnd - 4) && at % 4 === 0 && !(at >= logBegin && at < blocksBegin)
    must(isSound, 'its undo log names a place that there is not')
  }
  memory.undo()
}
