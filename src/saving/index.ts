/**
 * Saves of spaces: files from which a space is restored after a crash of the machine.
 *
 * ```ts
 * import { open } from '../dsm/index.ts'
 * import { saver } from './index.ts'
 *
 * await using space = await open('shop')
 * await saver.save(space, '/var/backups/shop.save')
 * ```
 *
 * A save is logical: it holds the records of structures, not their memory (format.ts).
 *
 * - Each kind of structure has a dump and a restore (`src/structures/saving/`, table in `saved-kinds.ts`). A dump reads
 *   under short epochs, as a member of its own, and gives way to the event loop.
 * - The new file is locked while it is written, and takes the old one's name when it is on the disk (new-file.ts). So
 *   the lock of a save is the file itself, and ends with its process.
 * - The first member restores. A word in the header of the arena says so, counts its progress, and is 0 when all is
 *   there. A process that opens the space meanwhile waits. If no member lives and the word is set, a restore was cut
 *   off: it is begun again.
 *
 * `dsm/space.ts` has the interface; `src/public/index.ts` loads this room when a save is first needed.
 *
 * @module
 */
import { provideSaver, type Saver } from '../dsm/index.ts'
import { RepeatedSave } from './repeated-save.ts'
import { checkSpaceOf, restoreSave, startOf } from './restore.ts'
import { saveSpace } from './save.ts'

export {
  type CheckStore,
  checkDirectory,
  type DirectoryDamage,
  type DirectoryReport,
  giveBackLost,
  saveOf,
} from './check-directory.ts'
export { type Disk, realDisk } from './disk.ts'
export { importSave } from './import.ts'
export { NewFile } from './new-file.ts'
export { restoreSave } from './restore.ts'
export { saveSpace } from './save.ts'
export { type SaveDescription, verifySave } from './verify.ts'

/** What `open` and `space.save()` use. */
export const saver: Saver = {
  save: saveSpace,

  async restore(space, file) {
    checkSpaceOf(await startOf(file), space.name, file)
    const { arena } = space.membership
    const { savedAt, omitted } = await restoreSave(space, file, { progress: () => arena.countRestored() })
    return { savedAt, omitted }
  },

  saveEvery(space, file, repetition) {
    const repeated = new RepeatedSave(space, file, repetition)
    return () => repeated.stop()
  },
}

provideSaver(async () => saver)
