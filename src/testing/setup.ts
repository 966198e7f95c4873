import { checkText, checkWhole, mustBe } from '../native/index.ts'
import { deviceNames } from '../verbs/index.ts'

/** @throws ArgumentError unless a device of this machine or of a simulated cluster has that name. */
export function checkDeviceName(device: unknown): void {
  const names = deviceNames()
  if (typeof device !== 'string' || !names.includes(device))
    throw mustBe('device', `the name of a device: ${names.join(', ')}`, device)
}

/** @throws ArgumentError unless it is an object from names of cases to what `isRight` accepts. */
export function checkByCase(argument: string, value: unknown, rule: string, isRight: (each: unknown) => boolean): void {
  if (value === undefined) return
  const isPlain = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isPlain || !Object.values(value).every(isRight))
    throw mustBe(argument, `an object from names of cases to ${rule}`, value)
}

export const isText = (value: unknown): boolean => typeof value === 'string'

/** @throws ArgumentError unless it is a part of names of cases. */
export function checkPart(only: unknown): void {
  if (only !== undefined && typeof only !== 'string') throw mustBe('only', 'a part of the names of cases', only)
}

/** @throws ArgumentError unless it is a report that can be shown, with these texts and counts. */
export function checkReport(
  report: unknown,
  origin: string,
  { texts, counts }: { readonly texts: readonly string[]; readonly counts: readonly string[] },
): void {
  const given = (report ?? {}) as Readonly<Record<string, unknown>>
  const { results } = given
  if (!Array.isArray(results)) throw mustBe('report', `what ${origin} resolves with`, report)
  for (const name of texts) checkText(`report.${name}`, given[name])
  for (const name of counts) checkWhole(`report.${name}`, given[name], 0, Number.MAX_SAFE_INTEGER)
  for (const each of results as readonly unknown[]) {
    const { name, outcome, reason } = (each ?? {}) as Readonly<Record<string, unknown>>
    if (![name, outcome, reason].every(isText))
      throw mustBe('report.results', 'objects such as { name, outcome, reason }, all of them text', each)
  }
}
