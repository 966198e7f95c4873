/** What a structure of one machine has that those between machines have, too: everything but what blocks the thread. */
export type Promised<Structure> = {
  [Name in keyof Structure as Name extends `${string}Sync` ? never : Name]: Structure[Name]
}
