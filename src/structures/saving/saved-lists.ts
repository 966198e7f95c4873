import { QueueCore, type QueuePosition } from '../list/queue-core.ts'
import { StackCore } from '../list/stack-core.ts'
import { LIST_BODY_BYTES, LIST_WORDS_OFFSET, type ListCore } from '../list/value-list.ts'
import { type SavedBody, type SavedKind, STEP_ENTRIES } from './saved-kind.ts'

/** What is there was within its bound, so none is kept to while it is put back. */
const NO_BOUND = { capacity: 0 }
/** A step looks through the stack from its top, so fewer steps are better. */
const STACK_STEP_ENTRIES = 16_384

const queueOf = ({ heap, offset }: SavedBody) => new QueueCore(heap, offset + LIST_WORDS_OFFSET, NO_BOUND)
const stackOf = ({ heap, offset }: SavedBody) => new StackCore(heap, offset + LIST_WORDS_OFFSET, NO_BOUND)

/** A record is a value, the first that will be popped first. */
export const savedQueue: SavedKind = {
  bodyBytes: () => LIST_BODY_BYTES,

  *dump(body) {
    const core = queueOf(body)
    let position: QueuePosition | undefined
    do {
      const values: Uint8Array[] = []
      position = core.peek(STEP_ENTRIES, position, (value) => values.push(value))
      yield* values
    } while (position !== undefined)
  },

  restore: (body) => pushTo(queueOf(body)),
}

/** A record is a value, from the bottom up. */
export const savedStack: SavedKind = {
  bodyBytes: () => LIST_BODY_BYTES,

  *dump(body) {
    const core = stackOf(body)
    for (let depth = 1; depth <= core.length(); depth += STACK_STEP_ENTRIES)
      yield* core.peek(depth, depth + STACK_STEP_ENTRIES)
  },

  restore: (body) => pushTo(stackOf(body)),
}

function pushTo(core: ListCore): (record: Uint8Array) => void {
  return (record) => void core.push(record)
}
