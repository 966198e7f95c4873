/** Services that pm2 runs, with two workers: they are reloaded under load, killed, and ended with pm2 itself. */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import process from 'node:process'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { io, type Socket } from 'socket.io-client'
import { open } from '../../src/public/index.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'
import { root } from '../repository/checkout.ts'
import { codeBlocks, readDocument } from '../repository/markdown.ts'

const run = promisify(execFile)
const PM2_MAJOR = 7
const WORKERS = 2
const VISITORS = 6
/** For whatever has to happen at all, on a busy machine. */
const PATIENCE_MS = 120_000

useRuntimeDirectory()
const scratch = mkdtempSync(join(tmpdir(), 'aether-pm2-'))
const memory = mkdtempSync('/dev/shm/aether-pm2-')
after(() => {
  for (const folder of [scratch, memory]) rmSync(folder, { recursive: true, force: true })
})

/** The program on PATH, or one that npm installs for this run; otherwise the reason why there is none. */
function findProgram(): { readonly path: string } | { readonly reason: string } {
  const found = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'pm2'))
  const there = found.find((path) => existsSync(path))
  if (there !== undefined) return { path: realpathSync(there) }
  const words = ['install', '--prefix', scratch, '--no-audit', '--no-fund', '--ignore-scripts', `pm2@${PM2_MAJOR}`]
  const { status, stderr, error } = spawnSync('npm', words, { encoding: 'utf8', timeout: PATIENCE_MS })
  const path = join(scratch, 'node_modules/pm2/bin/pm2')
  if (status === 0 && existsSync(path)) return { path }
  return { reason: `pm2 is not on PATH, and npm does not install it: ${stderr?.trim() || error?.message}` }
}

const program = process.platform === 'linux' ? findProgram() : { reason: 'shared memory needs Linux' }
const skip = 'reason' in program ? program.reason : false

async function eventually<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    const seen = await look()
    if (seen !== undefined) return seen
    if (Date.now() > deadline) throw new Error(`waited ${PATIENCE_MS} ms in vain: ${what}`)
    await sleep(20)
  }
}

interface Answer {
  readonly visits?: number
  readonly points: number
  readonly first: number
}

let services = 0

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** The configuration and the server of docs/adapters.md, in a folder where the package is installed. */
class Documented {
  readonly #port: number

  constructor(port: number) {
    this.#port = port
  }

  write(folder: string, ecosystem: string, addressFile: string): void {
    const blocks = codeBlocks(readDocument('docs/adapters.md')).map(({ text }) => text)
    const textOf = (first: string): string => {
      const text = blocks.find((each) => each.startsWith(`// ${first}`))
      assert.ok(text, first)
      return text
    }
    const settings = textOf('shop.config.cjs')
    const server = textOf('server.mjs')
    assert.ok(settings.includes("'/dev/shm/shop'") && server.includes('listen(3000,'))
    writeFileSync(ecosystem, settings.replace('/dev/shm/shop', join(memory, 'documented')))
    writeFileSync(join(folder, 'server.mjs'), server.replace('listen(3000,', `listen(${this.#port},`))
    writeFileSync(addressFile, `http://127.0.0.1:${this.#port}`)
    mkdirSync(join(folder, 'node_modules'))
    symlinkSync(root, join(folder, 'node_modules/aether-dsm'))
    for (const name of ['express', 'express-session'])
      symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  }
}

/** A service of two workers behind one port, and the daemon of pm2 that runs it. */
class Service implements AsyncDisposable {
  readonly #home: string = mkdtempSync(join(scratch, 'home-'))
  readonly #addressFile: string = join(this.#home, 'address')
  readonly #ecosystem: string = join(this.#home, 'shop.config.cjs')

  /** The worker of this test, with settings in its environment; or programs of a document. */
  constructor(settings: Readonly<Record<string, string>> | Documented) {
    services += 1
    if (settings instanceof Documented) {
      settings.write(this.#home, this.#ecosystem, this.#addressFile)
      return
    }
    const app = {
      name: 'shop',
      script: fileURLToPath(new URL('./fixtures/pm2-worker.js', import.meta.url)),
      exec_mode: 'cluster',
      instances: WORKERS,
      wait_ready: true,
      listen_timeout: PATIENCE_MS,
      kill_timeout: PATIENCE_MS,
      env: { SHOP_SPACE: `pm2-${process.pid}-${services}`, SHOP_ADDRESS: this.#addressFile, ...settings },
    }
    writeFileSync(this.#ecosystem, `module.exports = ${JSON.stringify({ apps: [app] })}`)
  }

  async pm2(...words: readonly string[]): Promise<string> {
    const path = 'path' in program ? program.path : ''
    const env = { ...process.env, PM2_HOME: this.#home, PM2_DISCRETE_MODE: 'true' }
    const { stdout } = await run(process.execPath, [path, ...words], {
      cwd: this.#home,
      env,
      timeout: PATIENCE_MS,
      maxBuffer: 2 ** 26,
    })
    return stdout
  }

  async start(): Promise<void> {
    await this.pm2('start', this.#ecosystem)
    await this.workers()
  }

  /** The workers' process numbers, as soon as all are ready. */
  workers(except: readonly number[] = []): Promise<readonly number[]> {
    return eventually('all workers are ready', async () => {
      const text = await this.pm2('jlist')
      type Row = { readonly pid: number; readonly pm2_env: { readonly status: string } }
      const rows = JSON.parse(text.slice(text.indexOf('[{'))) as readonly Row[]
      const ready = rows.filter(({ pid, pm2_env }) => pm2_env.status === 'online' && !except.includes(pid))
      return rows.length === WORKERS && ready.length === WORKERS ? ready.map(({ pid }) => pid) : undefined
    })
  }

  /** All workers are others than before. */
  async reload(): Promise<void> {
    const before = await this.workers()
    await this.pm2('reload', 'shop')
    await this.workers(before)
  }

  get address(): string {
    return readFileSync(this.#addressFile, 'utf8')
  }

  /** Ends the daemon, and the service with it. */
  async end(): Promise<void> {
    const file = join(this.#home, 'pm2.pid')
    const daemon = existsSync(file) ? Number(readFileSync(file, 'utf8')) : undefined
    await this.pm2('kill').catch(() => undefined)
    if (daemon !== undefined && existsSync(`/proc/${daemon}`)) process.kill(daemon, 'SIGKILL')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end()
  }
}

/** Has a session, and holds against each other what the answers say. */
class Visitor {
  readonly #service: Service
  #cookie: string | undefined
  visits = 0
  /** Requests without an answer. */
  cut = 0
  lastFailure = ''
  readonly complaints: string[] = []
  readonly firsts: Set<number> = new Set()

  constructor(service: Service) {
    this.#service = service
  }

  async ask(method: 'POST' | 'GET', path: string): Promise<Answer> {
    // A connection of its own for each: which worker gets it is decided again. One that pm2 gave to a worker that was
    // killed then is never answered.
    const headers = { connection: 'close', ...(this.#cookie === undefined ? {} : { cookie: this.#cookie }) }
    const signal = AbortSignal.timeout(10_000)
    const response = await fetch(`${this.#service.address}${path}`, { method, headers, signal })
    const text = await response.text()
    if (response.status !== 200) throw new Error(`${response.status}: ${text}`)
    this.#cookie ??= response.headers.get('set-cookie')?.split(';')[0]
    return JSON.parse(text) as Answer
  }

  /** What is cut off may have been done, or not. */
  async visit(): Promise<void> {
    const most = this.visits + this.cut + 1
    try {
      const { visits = 0, first } = await this.ask('POST', '/visit')
      if (visits <= this.visits || visits > most) this.complaints.push(`${visits} visits after ${this.visits}`)
      this.visits = visits
      this.firsts.add(first)
    } catch (error) {
      this.cut += 1
      this.lastFailure = `${error} ${(error as Error).cause ?? ''}`
      await sleep(20)
    }
  }
}

/** Visits of all visitors while `work` goes on, and one more of each afterwards. */
async function visitDuring(visitors: readonly Visitor[], work: () => Promise<void>): Promise<void> {
  const done = new AbortController()
  const visiting = visitors.map(async (visitor) => {
    while (!done.signal.aborted) await visitor.visit()
    await visitor.visit()
  })
  try {
    await work()
  } finally {
    done.abort()
    await Promise.all(visiting)
  }
}

const sum = (visitors: readonly Visitor[], of: (visitor: Visitor) => number): number =>
  visitors.reduce((total, visitor) => total + of(visitor), 0)

/** Every session has its visits, the limit has all of them, and the cached value is the first one. */
async function expectAll(visitors: readonly Visitor[]): Promise<void> {
  for (const visitor of visitors) assert.deepEqual(visitor.complaints, [])
  const cut = sum(visitors, (visitor) => visitor.cut)
  let counted = 0
  const firsts = new Set(visitors.flatMap((visitor) => [...visitor.firsts]))
  for (const visitor of visitors) {
    const { visits = 0, points, first } = await visitor.ask('GET', '/visits')
    assert.ok(visits >= visitor.visits && visits <= visitor.visits + visitor.cut, `${visits}, ${visitor.visits}`)
    counted = points
    firsts.add(first)
  }
  const visits = sum(visitors, (visitor) => visitor.visits)
  assert.ok(counted >= visits && counted <= visits + cut, `${counted} points, ${visits} visits and ${cut} cut off`)
  assert.equal(firsts.size, 1, `cached: ${[...firsts].join(', ')}`)
}

const visitorsOf = async (service: Service): Promise<readonly Visitor[]> => {
  const [first, ...others] = Array.from({ length: VISITORS }, () => new Visitor(service))
  // It is the one that fills the cache.
  await first!.visit()
  await Promise.all(others.map((visitor) => visitor.visit()))
  return [first!, ...others]
}

const withPm2 = (name: string, body: (t: TestContext) => Promise<void>): void => void test(name, { skip }, body)

withPm2('pm2 reload under load: no request fails, and no session, point or cached value is lost', async (t) => {
  await using service = new Service({ AETHER_DIRECTORY: memory })
  await service.start()
  const visitors = await visitorsOf(service)
  await visitDuring(visitors, async () => {
    await service.reload()
    await service.reload()
  })
  assert.equal(
    sum(visitors, ({ cut }) => cut),
    0,
    visitors.map(({ lastFailure }) => lastFailure).join('\n'),
  )
  await expectAll(visitors)
  t.diagnostic(`${sum(visitors, ({ visits }) => visits)} visits`)
})

withPm2('all workers are killed under load, and pm2 itself: the next have everything, in a directory', async (t) => {
  await using service = new Service({ AETHER_DIRECTORY: memory })
  await service.start()
  const visitors = await visitorsOf(service)
  await visitDuring(visitors, async () => {
    const workers = await service.workers()
    for (const worker of workers) process.kill(worker, 'SIGKILL')
    await service.workers(workers)
  })
  await expectAll(visitors)
  await service.end()
  await service.start()
  await expectAll(visitors)
  t.diagnostic(`${sum(visitors, ({ visits }) => visits)} visits, ${sum(visitors, ({ cut }) => cut)} cut off`)
})

/** Ends the processes that keep a space which no other process has. */
async function endKeepers(name: string): Promise<void> {
  await using space = await open(name)
  for (const { processId } of space.members()) if (processId !== process.pid) process.kill(processId, 'SIGTERM')
  await eventually('the keepers have left', async () => space.members().length === 1 || undefined)
}

withPm2('a space that is kept outlives a reload, and the end of pm2', async () => {
  const space = `pm2-kept-${process.pid}`
  await using service = new Service({ SHOP_SPACE: space, SHOP_KEEP: '1h' })
  try {
    await service.start()
    const visitors = await visitorsOf(service)
    await service.reload()
    await expectAll(visitors)
    await service.end()
    await service.start()
    await expectAll(visitors)
  } finally {
    await service.end()
    await endKeepers(space)
  }
})

async function connectedTo(socket: Socket): Promise<number> {
  return new Promise((resolve) => socket.once('worker', resolve))
}

withPm2('Socket.IO broadcasts to the clients of all workers, before and after a reload', async (t) => {
  await using service = new Service({ AETHER_DIRECTORY: memory })
  await service.start()
  const visitor = new Visitor(service)
  for (const round of ['before', 'after']) {
    if (round === 'after') await service.reload()
    const sockets: Socket[] = []
    try {
      const workers = new Set<number>()
      await eventually('both workers have clients', async () => {
        const socket = io(service.address, { transports: ['websocket'], forceNew: true })
        sockets.push(socket)
        workers.add(await connectedTo(socket))
        return workers.size === WORKERS || undefined
      })
      const heard = sockets.map((socket) => new Promise<number>((resolve) => socket.once('said', resolve)))
      await visitor.ask('POST', '/say')
      const speakers = await Promise.all(heard)
      assert.equal(new Set(speakers).size, 1)
      t.diagnostic(`${round}: ${sockets.length} clients of ${workers.size} workers`)
    } finally {
      for (const socket of sockets) socket.disconnect()
    }
  }
})

withPm2('the configuration and the server of the documentation keep a session over a reload and an end', async () => {
  const documented = new Documented(await freePort())
  await using service = new Service(documented)
  await service.start()
  const { cookie, id } = await enter(service)
  await service.reload()
  assert.equal((await enter(service, cookie)).id, id)
  for (const worker of await service.workers()) process.kill(worker, 'SIGKILL')
  await service.end()
  await service.start()
  assert.equal((await enter(service, cookie)).id, id)
})

async function enter(service: Service, cookie: string = ''): Promise<{ cookie: string; id: string }> {
  const response = await fetch(service.address, { headers: { connection: 'close', cookie } })
  return { cookie: response.headers.get('set-cookie')?.split(';')[0] ?? cookie, id: await response.text() }
}
