import { isHiddenName, type Omission, SaveError } from '../dsm/index.ts'
import { type EndBlock, isOfOtherVersion, type StartBlock } from './format.ts'
import { readSave } from './save-reader.ts'

/** What a save says of itself. */
export interface SaveDescription extends Omit<StartBlock, 'savedAtMs' | 'arena'>, EndBlock {
  readonly file: string
  readonly savedAt: Date
  readonly bytesOfRegions: number
  readonly records: number
  /** What only the version that wrote it can restore. It is in `omitted`, too, and not in `regions`. */
  readonly otherVersion: readonly Omission[]
  /** Names of the regions in it that hold no structures. */
  readonly plainRegions: readonly string[]
  /** Names of the structures in it, with their regions. */
  readonly names: readonly { readonly region: string; readonly name: string; readonly kind: string }[]
}

/**
 * Read a save from start to end and compare every checksum. `progress` is called again and again.
 * @throws SaveError if it is damaged, is not there, or is of another version.
 */
export async function verifySave(file: string, progress: () => void = () => {}): Promise<SaveDescription> {
  const names: { region: string; name: string; kind: string }[] = []
  const plainRegions: string[] = []
  const otherVersion: Omission[] = []
  let start: StartBlock | undefined
  let region = ''
  let [regions, bytesOfRegions, records] = [0, 0, 0]
  for await (const part of readSave(file)) {
    progress()
    if (part.type === 'start') start = part.start
    if (part.type === 'region' || part.type === 'structures') {
      region = part.region.name
      if (!isHiddenName(region)) regions += 1
    }
    if (part.type === 'region' && isOfOtherVersion(part.region))
      otherVersion.push({ region, reason: `its queues of BullMQ need version ${start?.version} of Aether` })
    else if (part.type === 'region') plainRegions.push(region)
    if (part.type === 'bytes') bytesOfRegions += part.bytes.length
    if (part.type === 'structure') names.push({ region, name: part.structure.name, kind: part.structure.kind })
    if (part.type === 'records') records += part.records.length
    if (
      part.type === 'end' &&
      start !== undefined &&
      part.end.regions === regions &&
      part.end.structures === names.length
    ) {
      const { space, savedAtMs, version } = start
      return {
        file,
        space,
        version,
        savedAt: new Date(savedAtMs),
        bytesOfRegions,
        records,
        otherVersion,
        plainRegions,
        names,
        structures: names.length,
        regions: regions - otherVersion.length,
        omitted: [...part.end.omitted, ...otherVersion],
      }
    }
  }
  const what = `the save ${file} is damaged: it does not have what its end says`
  throw new SaveError('ERR_AETHER_SAVE_DAMAGED', file, `${what}; put an older copy of it in its place`)
}
