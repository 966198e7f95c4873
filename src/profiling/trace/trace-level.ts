/**
 * The level of an event: what went wrong, what may go wrong, what a person wants to know, each step, each operation.
 */
export const TraceLevel = { Error: 1, Warn: 2, Info: 3, Debug: 4, Trace: 5 } as const
export type TraceLevel = (typeof TraceLevel)[keyof typeof TraceLevel]

const byName = new Map(Object.entries(TraceLevel).map(([name, level]) => [name.toUpperCase(), level]))
const names = new Map([...byName].map(([name, level]) => [level, name]))

/** `ERROR`, `WARN`, `INFO`, `DEBUG` or `TRACE`. */
export const traceLevelName = (level: TraceLevel): string => names.get(level)!

/** Parse a level by name, in any case, or by number, 1 to 5; undefined for anything else. */
export function parseTraceLevel(text: string): TraceLevel | undefined {
  const word = text.trim().toUpperCase()
  if (/^[1-5]$/.test(word)) return Number(word) as TraceLevel
  return byName.get(word)
}
