import { Access } from '../access.ts'
import { RequestSlot, SEGMENT_SLOTS } from '../encoded-request.ts'
import { CompletionFlag, CompletionOpcode, Opcode, RequestFlag } from '../opcode.ts'
import { Attribute, QueuePairState, QueuePairType } from '../queue-pair-state.ts'
import { CompletionStatus } from '../status.ts'

const tables: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  RequestSlot,
  Opcode,
  RequestFlag,
  CompletionOpcode,
  CompletionFlag,
  QueuePairState,
  QueuePairType,
  Attribute,
  Access,
  CompletionStatus,
}

/**
 * Compare what the addon was compiled with to what this package means. A difference is a build of another version:
 * nothing may go on.
 */
export function checkLayout(layout: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(layout)) {
    const [table = '', field = ''] = name.split('.')
    const ours = name === 'SEGMENT_SLOTS' ? SEGMENT_SLOTS : tables[table]?.[field]
    if (ours !== value) {
      throw new Error(
        `the addon was built for ${name} = ${value}, and this package means ${ours}: build it again with node native/build.mjs`,
      )
    }
  }
}
