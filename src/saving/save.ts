import type { SaveResult, Space } from '../dsm/index.ts'
import { packageVersion } from '../native/index.ts'
import { type Disk, realDisk } from './disk.ts'
import { type DumpOptions, dumpSpace } from './dump.ts'
import { NewFile } from './new-file.ts'
import { SaveWriter } from './save-writer.ts'

/** How a save is made. */
export interface SaveRun {
  readonly signal?: AbortSignal | undefined
  /** See {@link DumpOptions}. */
  readonly consistent?: boolean | undefined
  readonly disk?: Disk
}

/** Write all of a space to `file`. Waits while another process does so. @throws SaveError, TimeoutError */
export async function saveSpace(
  space: Space,
  file: string,
  { signal, consistent, disk = realDisk }: SaveRun = {},
): Promise<SaveResult> {
  return await writeSave(space, await NewFile.begin(file, signal, disk), { signal, consistent })
}

/** Write all of a space to a file that was begun, which then takes its name. @throws SaveError: the older one stays. */
export async function writeSave(space: Space, file: NewFile, options: DumpOptions = {}): Promise<SaveResult> {
  try {
    const savedAt = new Date()
    const writer = new SaveWriter(file)
    const arena = space.membership.arena.identity.nonce
    await writer.start({ space: space.name, savedAtMs: savedAt.getTime(), version: packageVersion(), arena })
    const end = await dumpSpace(space, writer, options)
    await writer.end(end)
    const bytes = file.lengthBytes
    options.signal?.throwIfAborted()
    await file.commit()
    return { file: file.path, savedAt, bytes, ...end }
  } catch (error) {
    await file.abandon()
    throw file.failed(error)
  }
}
