import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type Player, PlayerError, type PlayerMethod } from './player.ts'
import type { PlayerAnswer } from './player-process.ts'

/** A player that lives in a child process. */
export interface RemotePlayer {
  readonly player: Player
  readonly process: ChildProcess
  stop(): Promise<void>
}

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

const METHODS: readonly PlayerMethod[] = [
  'open',
  'domain',
  'allocate',
  'register',
  'channel',
  'queue',
  'depth',
  'overrun',
  'pair',
  'modify',
  'query',
  'state',
  'capabilities',
  'setRateLimit',
  'rateLimit',
  'post',
  'postList',
  'receive',
  'poll',
  'arm',
  'drain',
  'readable',
  'fill',
  'read',
  'close',
  'reset',
  'window',
  'windowKey',
  'bind',
  'reregister',
  'deviceMemory',
  'copyToDevice',
  'copyFromDevice',
  'registerDevice',
  'implicit',
  'physical',
  'advise',
  'indirectKey',
  'configure',
  'threadDomain',
  'parentDomain',
  'addressHandle',
  'sharedQueue',
  'querySharedQueue',
  'modifySharedQueue',
  'receiveShared',
  'xrcDomain',
  'openPair',
  'attachMulticast',
  'detachMulticast',
  'resize',
  'events',
  'eventsReadable',
  'progress',
  'port',
  'gidTable',
]

/**
 * Start a player process with this process's own options for Node, so that it inherits a load hook, for example.
 * `under`: words of a command that runs it.
 */
export function startPlayer(under: readonly string[] = []): RemotePlayer {
  const program = fileURLToPath(new URL('./player-process.js', import.meta.url))
  const [execPath = process.execPath, ...words] = under.length === 0 ? [] : [...under, process.execPath]
  const child = fork(program, {
    execPath,
    execArgv: [...words, ...process.execArgv],
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const waiting = new Map<number, Waiting>()
  let next = 1
  child.on('message', (answer: PlayerAnswer) => {
    const { resolve, reject } = waiting.get(answer.id)!
    waiting.delete(answer.id)
    if ('error' in answer) reject(new PlayerError(answer.error))
    else resolve(answer.value)
  })
  const ended = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      for (const { reject } of waiting.values())
        reject(new Error(`the player ended with ${signal ?? `status ${code}`}`))
      waiting.clear()
      resolve()
    })
  })
  const call = (method: PlayerMethod, values: readonly unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const id = next
      next += 1
      waiting.set(id, { resolve, reject })
      child.send({ id, method, values })
    })
  const entries = METHODS.map((method) => [method, (...values: readonly unknown[]) => call(method, values)])
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  return { player: Object.fromEntries(entries) as Player, process: child, stop }
}
