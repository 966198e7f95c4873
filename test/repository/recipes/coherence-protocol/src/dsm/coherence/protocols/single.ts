/**
 * One copy of a page at a time: it goes to whoever wants it next, also to read. Home blocks until the requester says
 * `Unblock`.
 */
import type { Protocol } from '../protocol.ts'
import { busy, cacheTable, directoryTable, idle, on, resting, stay, waiting } from './table.ts'

const states = {
  I: resting('none', 'none', 'No copy here.'),
  IM: waiting('none', 'none', 'Wants the page; waits for the bytes.'),
  M: resting('write', 'dirty', 'The only copy.'),
  MI_A: waiting('none', 'dirty', 'Evicts the only copy, and answers for the page until home asks for the bytes.'),
  II_A: waiting('none', 'none', 'Evicts a copy that another node has by now; waits for home to acknowledge.'),
}

const homeStates = {
  U: idle('valid', "No node holds a copy; home's memory is valid."),
  X: idle('stale', 'One node has the page.'),
  X_B: busy('stale', 'A node is being served; waits for it to say so.'),
  X_P: busy('stale', "The holder evicts the page; waits for it to say that home's memory is valid."),
}

export const single: Protocol = {
  name: 'single',
  describe: 'One copy of a page at a time.',
  source: 'The states M and I of `mesi`.',
  cache: {
    initial: 'I',
    states: cacheTable(states, [
      on('I', ['Load', 'Store'], 'IM', 'requestModified'),
      on('IM', ['Load', 'Store'], stay),
      on('M', ['Load', 'Store'], stay, 'mapWritable'),
      on(['MI_A', 'II_A'], ['Load', 'Store'], stay, 'demandLater'),
      on('IM', 'GrantLast', 'M', 'mapWritable', 'unblock'),
      on('IM', ['Refused', 'NoMemory'], 'I', 'fail'),
      on('M', 'ForwardModified', 'I', 'unmap', 'sendModified'),
      on('MI_A', 'ForwardModified', 'II_A', 'sendModified'),
      on('I', 'Evict', stay, 'evicted'),
      on('M', 'Evict', 'MI_A', 'unmap', 'putDirty'),
      on('MI_A', 'WriteBack', 'II_A', 'writeBack', 'sendWrittenBack'),
      on('II_A', 'PutAcknowledged', 'I', 'evicted'),
    ]),
  },
  directory: {
    initial: 'U',
    states: directoryTable(homeStates, [
      on('U', 'GetModified', 'X_B', 'setOwner', 'sendModified'),
      on('X', 'GetModified', 'X_B', 'forwardModified', 'setOwner'),
      on('X_B', 'Unblock', 'X'),
      on(['X_B', 'X_P'], ['GetModified', 'PutStale'], stay, 'queue'),
      on('X', 'PutDirty', 'X_P', 'askForWriteBack'),
      on('X_P', 'WrittenBack', 'U', 'clearOwner', 'acknowledgePut'),
      on(['U', 'X'], 'PutStale', stay, 'acknowledgePut'),
    ]),
  },
  // There are no sharers to recover.
  recovery: { cache: { none: 'I', shared: 'M', owner: 'M' }, directory: { none: 'U', shared: 'X', owner: 'X' } },
} satisfies Protocol<keyof typeof states, keyof typeof homeStates>
