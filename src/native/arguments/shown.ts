const TEXT_LENGTH_MAX = 40

/** What an error message shows of a value that may be anything: short, and without running the program's code. */
export function shown(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return quoted(value.length > TEXT_LENGTH_MAX ? `${value.slice(0, TEXT_LENGTH_MAX)}…` : value)
    case 'bigint':
      return `the bigint ${value}`
    case 'symbol':
    case 'function':
      return `a ${typeof value}`
    case 'object':
      return value === null ? 'null' : kindOf(value)
    default:
      return Object.is(value, -0) ? '-0' : String(value)
  }
}

/** In single quotes; what would break the line is escaped. */
function quoted(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"')}'`
}

function kindOf(value: object): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array'
  const name: unknown = Object.getPrototypeOf(value)?.constructor?.name
  if (typeof name !== 'string' || name === '' || name === 'Object') return 'an object'
  return `${/^[AEIOU]/.test(name) ? 'an' : 'a'} ${name}`
}
