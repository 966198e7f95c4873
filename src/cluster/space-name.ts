import { mustBe } from '../native/index.ts'

/** Longest name of a space: it is part of a file name. */
const SPACE_NAME_LENGTH_MAX = 100

const PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]*$/

/** @throws ArgumentError unless `name` can stand in a file name as it is. */
export function checkSpaceName(name: string): string {
  if (typeof name === 'string' && name.length <= SPACE_NAME_LENGTH_MAX && PATTERN.test(name)) return name
  const rule = `1 to ${SPACE_NAME_LENGTH_MAX} letters, digits, dots, dashes or underscores, the first a letter or digit`
  throw mustBe('name', rule, name)
}
