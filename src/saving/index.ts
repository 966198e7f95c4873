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
 * @module
 */
import { provideSaver, type Saver } from '../dsm/index.ts'
import { RepeatedSave } from './repeated-save.ts'
import { checkSpaceOf, restoreSave, startOf } from './restore.ts'
import { saveSpace } from './save.ts'

export { checkDirectory, type DirectoryReport, saveOf } from './check-directory.ts'
export { type Disk, realDisk } from './disk.ts'
export { importSave } from './import.ts'
export { restoreSave } from './restore.ts'
export { saveSpace } from './save.ts'
export { type SaveDescription, verifySave } from './verify.ts'

/** What `open` and `space.save()` use. */
export const saver: Saver = {
  save: saveSpace,

  async restore(space, file) {
    checkSpaceOf(await startOf(file), space.name, file)
    const { arena } = space.membership
    return (await restoreSave(space, file, () => arena.countRestored())).savedAt
  },

  saveEvery(space, file, repetition) {
    const repeated = new RepeatedSave(space, file, repetition)
    return () => repeated.stop()
  },
}

provideSaver(async () => saver)
