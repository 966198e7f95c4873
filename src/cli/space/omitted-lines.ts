import type { SaveResult } from '../../dsm/index.ts'

/** A line for each thing that a save does not have. */
export function omittedLines(omitted: SaveResult['omitted']): readonly string[] {
  return omitted.map(({ region, structure, reason }) =>
    structure === undefined
      ? `  left out: region '${region}': ${reason}`
      : `  left out: '${structure}' in region '${region}': ${reason}`,
  )
}
