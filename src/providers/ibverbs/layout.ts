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
 * Compare the layout that the addon was compiled with to the one that this package uses. If they differ, the build is
 * of another version, and nothing may go on.
 */
export function checkLayout(layout: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(layout)) {
    const [table = '', field = ''] = name.split('.')
    const ours = name === 'SEGMENT_SLOTS' ? SEGMENT_SLOTS : tables[table]?.[field]
    if (ours !== value) {
      throw new Error(
        `the addon was built with ${name} = ${value}, but this package expects ${ours}: build it again with node native/build.mjs`,
      )
    }
  }
}
