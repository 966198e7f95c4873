import { runningSpaces } from '../cluster/index.ts'
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
