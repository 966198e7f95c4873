import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { AetherError } from 'aether-dsm/internal/native'

const START_MS_MAX = 10_000

/** Where the server of a run listens. */
export function redisSocket(directory: string): string {
  return join(directory, 'redis.sock')
}

/** How rows call it, with its version. */
export function redisProvider(): string {
  const { stdout } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' })
  return `Redis ${/ v=([\d.]+)/.exec(stdout ?? '')?.[1] ?? ''}`.trimEnd()
}

/** The file of a socket is there a moment before anyone can connect. */
async function isListening(socket: string): Promise<boolean> {
  if (!existsSync(socket)) return false
  const connection = connect(socket)
  try {
    await once(connection, 'connect')
    return true
  } catch {
    return false
  } finally {
    connection.destroy()
  }
}

/** A Redis server of this benchmark's own: no port, no file, and gone with it. */
export class RedisServer implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #end: () => void

  private constructor(child: ChildProcess) {
    this.#child = child
    this.#end = () => child.kill('SIGKILL')
    process.once('exit', this.#end)
  }

  get pid(): number {
    return this.#child.pid!
  }

  /**
   * `more`: arguments that come last.
   * @throws AetherError where the program is not installed, or does not start.
   */
  static async start(directory: string, more: readonly string[] = []): Promise<RedisServer> {
    const socket = redisSocket(directory)
    const files = ['--dir', directory, '--save', '', '--appendonly', 'no']
    // No bound on what waits for a subscriber: a large message would end its connection.
    const buffers = ['--client-output-buffer-limit', 'pubsub 0 0 0']
    const child = spawn(
      'redis-server',
      ['--port', '0', '--unixsocket', socket, '--unixsocketperm', '700', ...files, ...buffers, ...more],
      {
        stdio: 'ignore',
      },
    )
    try {
      await once(child, 'spawn')
    } catch (cause) {
      const what = 'redis-server is not installed (on Debian: apt-get install redis-server)'
      throw new AetherError('ERR_AETHER_BENCH', what, { cause })
    }
    const server = new RedisServer(child)
    for (let waitedMs = 0; !(await isListening(socket)); waitedMs += 10) {
      if (waitedMs >= START_MS_MAX || child.exitCode !== null) {
        await server[Symbol.asyncDispose]()
        throw new AetherError('ERR_AETHER_BENCH', `redis-server did not start (it ended with ${child.exitCode})`)
      }
      await sleep(10)
    }
    return server
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.off('exit', this.#end)
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }
}
