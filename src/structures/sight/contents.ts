/** One key or value, for people. */
export interface ContentItem {
  /** The key, the position or the index. */
  readonly label: string
  readonly text: string
}

/** A part of what is in a structure. */
export interface StructureContents {
  /** What the items are: `keys`, `next values`. Empty for kinds that show none. */
  readonly title: string
  readonly items: readonly ContentItem[]
  /** False if there are more than these, or some changed too fast to be read. */
  readonly isWhole: boolean
}

/** Names and texts of what a structure was made with. */
export type StructureOptions = readonly (readonly [name: string, text: string])[]

/** A bound in words; 0 is none. */
export function boundText(bound: number | undefined, unit: string = ''): string {
  return bound === undefined || bound === 0 ? 'no bound' : `${bound}${unit}`
}
