import { checkFunction, checkOptions, type OptionNames } from '../native/index.ts'

/**
 * Check handlers; none if nothing is given. Done here, not when the first message arrives.
 * @throws ArgumentError if one of them is not a function.
 */
export function checkedHandlers<Handlers extends object>(
  handlers: Partial<Handlers> | undefined,
  names: OptionNames<Handlers>,
): Partial<Handlers> {
  if (handlers === undefined || handlers === null) return {}
  const known = Object.keys(names)
  if (!isOfClass(handlers, known)) checkOptions('an endpoint', handlers, names, 'handlers')
  const given = handlers as Readonly<Record<string, unknown>>
  for (const name of known)
    if (given[name] !== undefined) checkFunction(`handlers.${name}`, given[name], 'of the program')
  return handlers
}

/** An object of the program's own class has its handlers as methods, and fields of any name beside them. */
function isOfClass(handlers: object, names: readonly string[]): boolean {
  if (typeof handlers !== 'object') return false
  const prototype = Object.getPrototypeOf(handlers) as object | null
  return prototype !== null && names.some((name) => name in prototype)
}
