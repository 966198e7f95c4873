import { CELL_BODY_BYTES, CellCore } from '../rcu/cell-core.ts'
import type { SavedKind } from './saved-kind.ts'

/** The only record is the value; none: nothing was assigned. Versions start again at 1. */
export const savedCell: SavedKind = {
  bodyBytes: () => CELL_BODY_BYTES,

  *dump({ heap, offset }) {
    const core = new CellCore(heap, offset)
    heap.epochs.enter()
    let value: Uint8Array | undefined
    try {
      const block = core.load()
      if (block !== 0) value = core.copyOf(block)
    } finally {
      heap.epochs.exit()
    }
    yield value
  },

  restore({ heap, offset }) {
    const core = new CellCore(heap, offset)
    return (record) => void core.assign(record)
  },
}
