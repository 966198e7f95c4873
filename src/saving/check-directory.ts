import { join } from 'node:path'
import { SAVE_FILE, UnusedDirectory } from '../cluster/index.ts'
import type { Omission } from '../dsm/index.ts'
import { type DumpTarget, dumpSpace } from './dump.ts'

/** What was found in the directory of a space. */
export interface DirectoryReport {
  readonly space: string
  /** As in `describeArena`; `missing`: there is no arena. */
  readonly state: 'good' | 'restarted' | 'interrupted' | 'incomplete' | 'unknown' | 'missing'
  readonly endedInOrder: boolean
  readonly regions: number
  readonly structures: number
  readonly records: number
  /** Structures that cannot be read. */
  readonly damaged: readonly Omission[]
  /** What was not looked at. */
  readonly omitted: readonly Omission[]
}

/**
 * Look at the directory of a space that no process is in. If its memory can be gone on with, everything in it is read,
 * by a member that enters for that.
 * @throws SpaceError if processes are in it.
 */
export async function checkDirectory(path: string): Promise<DirectoryReport> {
  const { arena, directory } = look(path)
  const none = { regions: 0, structures: 0, records: 0, damaged: [], omitted: [] }
  if (arena === undefined) return { space: '', state: 'missing', endedInOrder: false, ...none }
  if (arena.state !== 'good') return { ...arena, ...none }
  const damaged: Omission[] = []
  let records = 0
  const target: DumpTarget = {
    async region() {},
    async bytes() {},
    async structures() {},
    async structure() {},
    record() {
      records += 1
      return undefined
    },
  }
  const space = { name: arena.space, directory }
  const { regions, structures, omitted } = await dumpSpace(space, target, { damaged: (each) => damaged.push(each) })
  return { ...arena, regions, structures, records, damaged, omitted }
}

/** The save that belongs to a directory. */
export function saveOf(path: string): string {
  return join(path, SAVE_FILE)
}

function look(path: string): Pick<UnusedDirectory, 'arena'> & { readonly directory: string } {
  using unused = UnusedDirectory.hold(path)
  return { arena: unused.arena, directory: unused.directory.path }
}
