import { closeSync, constants, fstatSync, openSync, readdirSync, rmSync, statSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { native, withSystemFailures } from '../../native/index.ts'
import { pidNamespace, runtimeDirectory } from '../../runtime/index.ts'
import { type ConnectionAddress, connectionAddress, formatAddress, isWildcard } from '../address.ts'
import type { PortSpace } from '../carrier.ts'
import { ConnectionError } from '../errors.ts'

/** The ports to choose from when port 0 is asked for: those that IANA leaves for dynamic use. */
const FREE_PORTS = { first: 49_152, count: 16_384 } as const
const FREE_PORT_ATTEMPTS_MAX = 1024
/** Callers that wait until the listener looks at them; the system may have a lower limit (net.core.somaxconn). */
const CALLERS_MAX = 4096
/** A process that removes what dead listeners left has the lock of a place for a moment: no reason to refuse it. */
const LOCKED_MS = 10
const LOCKED_ATTEMPTS_MAX = 5
/** Where as many as there may be wait already, another comes again after a while, so often. */
const BUSY_MS = 20
const BUSY_ATTEMPTS_MAX = 250

/**
 * The place where a listener is reached: a socket in the runtime directory. The directory is private to the user, so a
 * peer is this user or root. The listener holds the lock of a file beside the socket. The kernel releases it however
 * the process ends, so a socket whose file is unlocked is stale.
 */
export class MeetingPoint {
  readonly address: ConnectionAddress
  readonly #directory: number
  readonly #name: string
  readonly #lock: number
  #server: Server | undefined

  private constructor(address: ConnectionAddress, directory: number, name: string, lock: number) {
    this.address = address
    this.#directory = directory
    this.#name = name
    this.#lock = lock
  }

  /** @throws ConnectionError if another process listens there; SystemError where a limit of the process is met. */
  static open(
    portSpace: PortSpace,
    wanted: ConnectionAddress,
    arrived: (socket: Socket) => void,
  ): Promise<MeetingPoint> {
    return withSystemFailures(() => MeetingPoint.#open(portSpace, wanted, arrived))
  }

  static async #open(
    portSpace: PortSpace,
    wanted: ConnectionAddress,
    arrived: (socket: Socket) => void,
  ): Promise<MeetingPoint> {
    sweepOnce()
    const point = wanted.port === 0 ? takeFreePort(portSpace, wanted) : await takePort(portSpace, wanted)
    if (point === undefined) {
      throw new ConnectionError(
        'listen',
        0,
        `another process listens at ${formatAddress(wanted)}; choose another port, or pass 0 for a free one`,
      )
    }
    try {
      await point.#listen(arrived)
      return point
    } catch (error) {
      point.close()
      throw error
    }
  }

  /** Undefined if it is taken. */
  static take(portSpace: PortSpace, address: ConnectionAddress): MeetingPoint | undefined {
    const path = runtimeDirectory(DIRECTORY)
    const name = nameOf(portSpace, address)
    const lock = takeLock(join(path, name) + LOCK_SUFFIX)
    if (lock === undefined) return undefined
    try {
      return new MeetingPoint(address, openSync(path, constants.O_RDONLY | constants.O_DIRECTORY), name, lock)
    } catch (error) {
      rmSync(join(path, name) + LOCK_SUFFIX, { force: true })
      closeSync(lock)
      throw error
    }
  }

  close(): void {
    this.#server?.close()
    const path = `/proc/self/fd/${this.#directory}/${this.#name}`
    rmSync(path, { force: true })
    // The file first: a process that takes the lock of a removed file notices that.
    rmSync(path + LOCK_SUFFIX, { force: true })
    closeSync(this.#lock)
    closeSync(this.#directory)
  }

  /** By the directory's descriptor, since the path of a socket must be shorter than 108 bytes. */
  #listen(arrived: (socket: Socket) => void): Promise<void> {
    const path = `/proc/self/fd/${this.#directory}/${this.#name}`
    rmSync(path, { force: true })
    const server = createServer(arrived).unref()
    this.#server = server
    return new Promise((done, reject) => {
      server.once('error', reject)
      // Exclusive: in a worker of node:cluster the socket would otherwise be its primary's.
      server.listen({ path, exclusive: true, backlog: CALLERS_MAX }, () => {
        server.off('error', reject)
        // An arrival that fails is that arrival's loss.
        server.on('error', () => undefined)
        done()
      })
    })
  }
}

const DIRECTORY = 'cm'
const LOCK_SUFFIX = '.lock'

/** Devices of another pid namespace cannot be reached, so their listeners are none for this process. */
function nameOf(portSpace: PortSpace, { address, port }: ConnectionAddress): string {
  return `${portSpace}-${address}-${port}-${pidNamespace()}`
}

async function takePort(portSpace: PortSpace, address: ConnectionAddress): Promise<MeetingPoint | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const point = MeetingPoint.take(portSpace, address)
    if (point !== undefined || attempt === LOCKED_ATTEMPTS_MAX) return point
    await sleep(LOCKED_MS)
  }
}

let swept = false

/** Remove what listeners left that were killed: what no process has locked. Once a process is enough. */
function sweepOnce(): void {
  if (swept) return
  swept = true
  const directory = runtimeDirectory(DIRECTORY)
  for (const name of readdirSync(directory)) {
    if (!name.endsWith(LOCK_SUFFIX)) continue
    const path = join(directory, name)
    const lock = takeLock(path)
    if (lock === undefined) continue
    rmSync(path.slice(0, -LOCK_SUFFIX.length), { force: true })
    rmSync(path, { force: true })
    closeSync(lock)
  }
}

function takeFreePort(portSpace: PortSpace, { address }: ConnectionAddress): MeetingPoint | undefined {
  const start = Math.floor(Math.random() * FREE_PORTS.count)
  for (let attempt = 0; attempt < FREE_PORT_ATTEMPTS_MAX; attempt += 1) {
    const port = FREE_PORTS.first + ((start + attempt) % FREE_PORTS.count)
    const point = MeetingPoint.take(portSpace, connectionAddress(address, port))
    if (point !== undefined) return point
  }
  return undefined
}

/** The descriptor of the locked file; undefined where another holds it. */
function takeLock(path: string): number | undefined {
  for (;;) {
    const descriptor = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600)
    if (!native.lockFile(descriptor, false)) {
      closeSync(descriptor)
      return undefined
    }
    const there = statSync(path, { throwIfNoEntry: false })
    if (there?.ino === fstatSync(descriptor).ino) return descriptor
    // Its former holder removed it between our opening and our locking.
    closeSync(descriptor)
  }
}

/**
 * Connect to the listener at `address`, or to one that listens at every address. Undefined if there is neither. Rejects
 * with the system's error if there is one that cannot be reached.
 * @throws AccessError if the runtime directory is not safely the user's own.
 */
export function meet(portSpace: PortSpace, address: ConnectionAddress): Promise<Socket | undefined> {
  return withSystemFailures(() => {
    const directory = openSync(runtimeDirectory(DIRECTORY), constants.O_RDONLY | constants.O_DIRECTORY)
    const paths = candidates(address).map((each) => `/proc/self/fd/${directory}/${nameOf(portSpace, each)}`)
    return firstThere(paths).finally(() => closeSync(directory))
  })
}

async function firstThere(paths: readonly string[]): Promise<Socket | undefined> {
  for (const path of paths) {
    for (let attempt = 1; ; attempt += 1) {
      const socket = await tryConnect(path, attempt === BUSY_ATTEMPTS_MAX)
      if (socket === undefined) break
      if (socket !== 'busy') return socket
      await new Promise((resolve) => setTimeout(resolve, BUSY_MS))
    }
  }
  return undefined
}

/** A listener at `::` is reached by IPv4, too, as a socket is. */
function candidates({ address, port, family }: ConnectionAddress): ConnectionAddress[] {
  const wildcards = family === 4 ? ['0.0.0.0', '::'] : ['::']
  const all = isWildcard(address) ? wildcards : [address, ...wildcards]
  return all.map((each) => connectionAddress(each, port))
}

function tryConnect(path: string, isLast: boolean): Promise<Socket | 'busy' | undefined> {
  return new Promise((done, reject) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.removeAllListeners('error')
      done(socket)
    })
    socket.once('error', (error: NodeJS.ErrnoException) => {
      // A socket that refuses is one whose listener died.
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') done(undefined)
      else if (error.code === 'EAGAIN' && !isLast) done('busy')
      else reject(error)
    })
  })
}
