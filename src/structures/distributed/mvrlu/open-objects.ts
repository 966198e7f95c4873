import type { Parameter } from '../../parameter.ts'
import type { HomeHeap } from '../heap/home-heap.ts'
import type { NewBody } from '../heap/names.ts'
import { takeTables } from '../heap/tables.ts'
import type { Readers } from '../rcu/group-rcu.ts'
import { MvRluCore } from './core.ts'
import { BodyOffset, MV_RLU_BYTES } from './layout.ts'
import { tablesIn } from './object-slots.ts'

/** A home with the objects that are open there, by the place of their bodies. */
export interface ObjectHeap extends HomeHeap {
  readonly objects: Map<number, MvRluCore>
}

/**
 * Find objects at `home`, or make them, with a table. `codec` is undefined if the opener does not read values. All
 * openers at this rank share one core.
 */
export async function openMvRlu(
  heap: ObjectHeap,
  name: string,
  codec: Parameter | undefined,
  readers: Readers,
): Promise<MvRluCore> {
  const { offset, body } = await heap.names.open({
    kind: 'mv-rlu',
    name,
    parameters: codec === undefined ? [] : [codec],
    makeBody: () => makeBody(heap),
  })
  return mvRluCoreAt(heap, name, offset, tablesIn(body.subarray(BodyOffset.Tables)), readers)
}

/**
 * The same where they are there, and their body is known. `tables`: those that are known; it looks for others when it
 * needs them.
 */
export function mvRluCoreAt(
  heap: ObjectHeap,
  name: string,
  offset: number,
  tables: readonly number[],
  readers: Readers,
): MvRluCore {
  const open = heap.objects.get(offset)
  if (open !== undefined) return open
  const core = new MvRluCore(heap, heap.on(`mv-rlu '${name}'`), offset, tables, readers)
  heap.objects.set(offset, core)
  return core
}

async function makeBody(heap: ObjectHeap): Promise<NewBody> {
  const { places, undo } = await takeTables(heap, 1)
  const bytes = new Uint8Array(MV_RLU_BYTES)
  new DataView(bytes.buffer).setBigUint64(BodyOffset.Tables, BigInt(places[0]!), true)
  return { bytes, undo }
}
