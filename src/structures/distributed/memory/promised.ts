/**
 * The part of a structure of one machine that a structure of a group has too: all methods but those that block the
 * thread.
 */
export type Promised<Structure> = {
  [Name in keyof Structure as Name extends `${string}Sync` ? never : Name]: Structure[Name]
}
