import { spawn } from 'node:child_process'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Member, type Membership, SpaceError } from '../cluster/index.ts'
import { TimeoutError } from '../native/index.ts'

/** What a keeper publishes. */
const CARD = Buffer.from('aether keeper')
const LOOK_MS = 5
const START_MS_MAX = 30_000

/**
 * Be a member of the space so that it stays. Ends once no other member was there for `forMs` milliseconds, or when the
 * signal is aborted. Other keepers do not count.
 */
export async function keepSpace(space: Membership, forMs: number | undefined, signal: AbortSignal): Promise<void> {
  space.publish(CARD)
  do await untilAlone(space, signal)
  while (!signal.aborted && !(await staysAlone(space, forMs, signal)))
}

async function untilAlone(space: Membership, signal: AbortSignal): Promise<void> {
  while (!isAlone(space)) if (!(await hasEvent(space, signal, () => !isAlone(space)))) return
}

/** Whether no one comes for so long. One that comes and goes at once begins the time again. */
async function staysAlone(space: Membership, forMs: number | undefined, signal: AbortSignal): Promise<boolean> {
  const limit = forMs === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(forMs)])
  return !(await hasEvent(space, limit, () => isAlone(space))) && isAlone(space)
}

/** Wait for an event while `isSo`. False if there was none when the signal was aborted. */
async function hasEvent(space: Membership, signal: AbortSignal, isSo: () => boolean): Promise<boolean> {
  if (signal.aborted) return false
  // Before the look: what comes in between is an event.
  const events = space.events({ signal })
  try {
    if (isSo()) await events.next()
    return true
  } catch (error) {
    if (!signal.aborted) throw error
    return false
  } finally {
    await events.return?.()
  }
}

/** Start a process that keeps the space, unless there is one. Resolves when it is a member. @throws TimeoutError */
export async function ensureKept(space: Membership, forMs: number): Promise<void> {
  if (hasKeeper(space)) return
  const script = fileURLToPath(new URL('./keeper-process.js', import.meta.url))
  // It holds no directory, no terminal and none of our descriptors.
  const { NODE_OPTIONS: _options, ...environment } = process.env
  const settings = { cwd: '/', detached: true, env: environment, stdio: 'ignore' } as const
  const child = spawn(process.execPath, [script, space.name, String(forMs)], settings)
  let failure: string | undefined
  // The child ends as soon as the keeper, a child of its own, is a member.
  let hasStarted = false
  child.on('error', ({ message }) => (failure = message))
  child.on('exit', (code, ended) => {
    if (code === 0) hasStarted = true
    else failure ??= `it ended with ${ended ?? `status ${code}`}`
  })
  child.unref()
  for (let waitedMs = 0; !hasStarted; waitedMs += LOOK_MS) {
    if (failure !== undefined) throw notKept(space.name, failure)
    if (waitedMs > START_MS_MAX)
      throw new TimeoutError(
        `process ${child.pid}, which is to keep space '${space.name}', has not joined it for ${START_MS_MAX} ms`,
      )
    await sleep(LOOK_MS)
  }
}

function isKeeper(space: Membership, member: Member): boolean {
  const card = space.card(member)
  return card !== undefined && CARD.equals(card)
}

function hasKeeper(space: Membership): boolean {
  return space.members().some((member) => isKeeper(space, member))
}

/** Whether all members are keepers. */
function isAlone(space: Membership): boolean {
  return space.members().every((member) => isKeeper(space, member))
}

function notKept(space: string, why: string): SpaceError {
  const what = `the process that is to keep space '${space}' has not started: ${why}; leave out options.keep, or run: npx aether-dsm keep ${space}`
  return new SpaceError('ERR_AETHER_SPACE_UNREACHABLE', space, what)
}
