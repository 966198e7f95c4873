import type { Retention } from '../../log/log-core.ts'
import type { Parameter } from '../../parameter.ts'
import type { HomeHeap } from '../heap/home-heap.ts'
import { takeTables } from '../heap/tables.ts'
import { readLogBody, tablesForLog, writeLogBody } from './body.ts'
import { GroupLogCore } from './log-core.ts'
import { LogSlots } from './slots.ts'
import { LogView } from './view.ts'

/** A home with the logs and channels that are open there, by the place of their bodies. */
export interface LogHeap extends HomeHeap {
  readonly logs: Map<number, GroupLogCore>
}

/** How a log or channel is opened. */
export interface LogRequest {
  readonly kind: 'log' | 'channel'
  readonly name: string
  /** The capacity first. */
  readonly parameters: readonly Parameter[]
  readonly retention: Retention
}

/**
 * Find it at `home`, or make it: its tables first. All who open it at this rank have one core, for the order of its
 * appends.
 */
export async function openLogCore(
  heap: LogHeap,
  { kind, name, parameters, retention }: LogRequest,
): Promise<GroupLogCore> {
  const capacity = retention.records
  const found = await heap.names.open({
    kind,
    name,
    parameters,
    makeBody: async () => {
      const { places, undo } = await takeTables(heap, tablesForLog(capacity))
      return { bytes: writeLogBody(places, heap.group.ranks), undo }
    },
  })
  const open = heap.logs.get(found.offset)
  if (open !== undefined) return open
  const memory = heap.on(`${kind} '${name}'`)
  const view = new LogView(memory, found.offset, new LogSlots(memory, readLogBody(found, heap.group.ranks), capacity))
  const core = new GroupLogCore(memory, heap.pool, view, retention)
  heap.logs.set(found.offset, core)
  return core
}
