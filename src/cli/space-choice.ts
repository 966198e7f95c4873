import { runningSpaces, SpaceError } from '../cluster/index.ts'
import { UsageError } from './usage-error.ts'

/** The space with this name, or without one the only running space. @throws UsageError that lists the choices. */
export function chooseSpace(command: string, named: string | undefined): string {
  if (named !== undefined) return named
  const running = runningSpaces()
  const [only] = running
  if (only === undefined)
    throw new UsageError('no space of yours is running on this machine; start a program first', command)
  if (running.length > 1) throw new UsageError(`which space? These are running: ${running.join(', ')}`, command)
  return only
}

/** What `attach` makes of a space. @throws SpaceError that names the running spaces if that one is not running. */
export function attachTo<T>(name: string, attach: (name: string) => T): T {
  try {
    return attach(name)
  } catch (cause) {
    if (!(cause instanceof SpaceError) || cause.code !== 'ERR_AETHER_SPACE_UNREACHABLE') throw cause
    const running = runningSpaces()
    const there = running.length === 0 ? 'no space of yours is running' : `these are running: ${running.join(', ')}`
    throw new SpaceError('ERR_AETHER_SPACE_UNREACHABLE', name, `${cause.message}; ${there}`, { cause })
  }
}
