import { Group } from '../cluster/index.ts'
import { Space } from '../dsm/index.ts'
import { mustBe, UnsupportedError } from '../native/index.ts'
import { type GroupStructures, type GroupStructuresOptions, openGroupStructures } from './distributed/index.ts'
import { openStructures as openSpaceStructures, type Structures, type StructuresOptions } from './structures.ts'

/**
 * Open the structures of a space; the first process to open them makes them. They live as long as the space does.
 *
 * ```ts
 * await using space = await open('shop')
 * await using shared = await openStructures(space)
 * const hits = await shared.counter('hits')
 * hits.addSync()
 * ```
 *
 * @throws RegionError if the region exists with another size; StructureError for another version; MemoryExhaustedError;
 *   ArgumentError.
 */
export function openStructures(space: Space, options?: StructuresOptions): Promise<Structures>
/**
 * Open structures of a group, whose ranks may be on several machines. Every rank has to call it, with the same options;
 * it resolves when all have. They have the same names and meaning as those of a space, without the `Sync` forms.
 *
 * ```ts
 * await using group = await join()
 * await using shared = await openStructures(group)
 * const hits = await shared.counter('hits')
 * await hits.add()
 * ```
 *
 * @throws StructureError if the ranks passed different options; VerbsError if the device has no memory for them;
 *   ArgumentError.
 */
export function openStructures(group: Group, options?: GroupStructuresOptions): Promise<GroupStructures>
export async function openStructures(
  where: Space | Group,
  options: StructuresOptions & GroupStructuresOptions = {},
): Promise<Structures | GroupStructures> {
  if (where instanceof Group && where.grows) throw notInAGroupThatGrows()
  if (where instanceof Group) return await openGroupStructures(where, options)
  if (where instanceof Space) return await openSpaceStructures(where, options)
  throw mustBe('space', 'a space, as open() resolves with, or a group, as join() does', where)
}

function notInAGroupThatGrows(): UnsupportedError {
  const why = 'structures of a group that grows are not available yet, since their homes would leave'
  return new UnsupportedError(`${why}; its processes are on one machine: open a space, and openStructures(space)`)
}
