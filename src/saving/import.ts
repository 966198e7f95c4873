import { Membership } from '../cluster/index.ts'
import { SaveError, Space } from '../dsm/index.ts'
import { openStructures, STORE_NAME } from '../structures/index.ts'
import { type RestoreResult, restoreSave } from './restore.ts'
import { hasStore, storeIsThere } from './restored-store.ts'
import { type SaveDescription, verifySave } from './verify.ts'

/** Where a save is put. */
export interface ImportTarget {
  /** Default: the name of the saved space. */
  readonly name?: string | undefined
  /** Where the space is a file. */
  readonly directory?: string | undefined
  /** Add to what is there under the same names. Default: that is an error, and nothing is changed. */
  readonly adds: boolean
}

/**
 * Put a save into a space, which may be in use, or is made. One that is made is whole or is not there. What only
 * another version can restore is left out, and is in `omitted`.
 * @throws SaveError; and as {@link restoreSave}.
 */
export async function importSave(
  file: string,
  target: ImportTarget,
): Promise<RestoreResult & { readonly space: string }> {
  const save = await verifySave(file)
  const name = target.name ?? save.space
  await using space = new Space(await Membership.enter(name, { hasSave: () => true }, target.directory))
  const { arena } = space.membership
  if (arena.toRestore === undefined && !target.adds) await checkFree(space, save)
  if (save.plainRegions.includes(STORE_NAME) && (await hasStore(space))) throw storeIsThere(space, file)
  const progress = arena.toRestore === undefined ? undefined : () => arena.countRestored()
  const restored = await restoreSave(space, file, { progress, partly: true })
  if (arena.toRestore !== undefined) arena.endRestore()
  return { ...restored, space: name }
}

/** @throws SaveError if the space has something of the save's names. */
async function checkFree(space: Space, { file, plainRegions, names }: SaveDescription): Promise<void> {
  const taken: string[] = []
  for (const { name } of space.regions()) {
    if (plainRegions.includes(name)) taken.push(`region '${name}'`)
    const wanted = new Set(names.filter(({ region }) => region === name).map((each) => each.name))
    if (wanted.size === 0) continue
    await using structures = await openStructures(space, { region: name })
    for (const found of structures.list()) if (wanted.has(found.name)) taken.push(`${found.kind} '${found.name}'`)
  }
  if (taken.length === 0) return
  const some = taken.slice(0, 5).join(', ') + (taken.length > 5 ? ` and ${taken.length - 5} more` : '')
  const what = `space '${space.name}' already has ${some}`
  throw new SaveError(
    'ERR_AETHER_SAVE_MISMATCH',
    file,
    `${what}; import into another space, or add to what is there (--add)`,
  )
}
