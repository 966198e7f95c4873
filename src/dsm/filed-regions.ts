import { DIRECTORY_ENTRY_BYTES, DIRECTORY_OFFSET, EXTENTS_OFFSET, REGIONS_MAX } from '../cluster/index.ts'
import { coherenceOf } from './coherence.ts'
import { type RegionEntry, RegionState, RegionTable } from './region-table.ts'

/** Bytes from the start of an arena that {@link filedRegions} looks at. */
export const REGION_TABLE_END: number = DIRECTORY_OFFSET + REGIONS_MAX * DIRECTORY_ENTRY_BYTES

/** The regions of an arena in a file that no process uses. */
interface FiledRegions {
  /** Those whose bytes are within the file, and are no other's. */
  readonly regions: readonly RegionEntry[]
  /** What cannot be, by the name of the region. */
  readonly damaged: readonly { readonly region: string; readonly reason: string }[]
}

/** `control`: a copy of the first {@link REGION_TABLE_END} bytes, of which nothing is believed. */
export function filedRegions(control: ArrayBuffer, fileBytes: number): FiledRegions {
  const table = new RegionTable(control)
  const damaged: { region: string; reason: string }[] = []
  const sound: RegionEntry[] = []
  for (let index = 0; index < REGIONS_MAX; index += 1) {
    const state = table.stateOf(index)
    if (state < RegionState.Free || state > RegionState.Freeing)
      damaged.push({ region: table.nameOf(index), reason: `entry ${index} of the directory of regions is in no state` })
    if (state !== RegionState.Ready) continue
    const entry = table.read(index)
    const reason = isSound(entry, fileBytes) ? undefined : 'its place, size or kind is none that a region can have'
    if (reason === undefined) sound.push(entry)
    else damaged.push({ region: entry.name, reason })
  }
  const regions: RegionEntry[] = []
  let [end, before] = [0, '']
  for (const entry of sound.toSorted((a, b) => a.offset - b.offset)) {
    const overlaps = entry.length > 0 && entry.offset < end
    if (overlaps) damaged.push({ region: entry.name, reason: `it has bytes that region '${before}' has, too` })
    else regions.push(entry)
    if (entry.length > 0) [end, before] = [entry.offset + entry.length, entry.name]
  }
  return { regions, damaged }
}

function isSound({ name, size, offset, length, coherence }: RegionEntry, fileBytes: number): boolean {
  if (name === '' || coherenceOf(coherence) === undefined || !(Number.isSafeInteger(size) && size > 0)) return false
  // The pages of a group's region are with its ranks.
  if (length === 0) return true
  const isInFile = Number.isSafeInteger(offset) && offset >= EXTENTS_OFFSET && offset + length <= fileBytes
  return isInFile && Number.isSafeInteger(length) && length >= size
}
