import assert from 'node:assert/strict'
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import process from 'node:process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { open } from '../../src/public/index.ts'
import { useRuntimeDirectory } from '../cluster/support.ts'

useRuntimeDirectory()

const options = { skip: process.platform === 'linux' ? false : 'spaces need Linux' }
const WORKERS = 4
const SESSIONS = 20

/** Workers of one service behind one port. */
class Service implements AsyncDisposable {
  readonly #workers = new Set<Worker>()
  #url = ''

  constructor(space: string) {
    // A connection that is handed to a worker that was killed would hang.
    cluster.schedulingPolicy = cluster.SCHED_NONE
    cluster.setupPrimary({
      exec: fileURLToPath(new URL('./fixtures/session-worker.js', import.meta.url)),
      args: [space],
    })
  }

  get workers(): readonly Worker[] {
    return [...this.#workers]
  }

  async start(): Promise<void> {
    const worker = cluster.fork()
    this.#workers.add(worker)
    worker.once('exit', () => this.#workers.delete(worker))
    const [{ address, port }] = (await once(worker, 'listening')) as [{ address: string; port: number }]
    this.#url = `http://${address}:${port}`
  }

  /** As an orderly restart ends it: it takes no new connection, and ends when nothing keeps it. */
  async retire(worker: Worker): Promise<void> {
    const ended = once(worker, 'exit')
    worker.disconnect()
    const [code] = (await ended) as [number | null]
    assert.equal(code, 0, 'an open store does not keep its process alive')
  }

  async killAll(): Promise<void> {
    const endings = this.workers.map((worker) => once(worker, 'exit'))
    for (const worker of this.workers) worker.process.kill('SIGKILL')
    await Promise.all(endings)
  }

  /** A request on a connection of its own. */
  async ask(method: 'GET' | 'POST', cookie?: string): Promise<{ visits: number; cookie: string | undefined }> {
    const headers = { connection: 'close', ...(cookie === undefined ? {} : { cookie }) }
    const response = await fetch(this.#url, { method, headers })
    const { visits } = (await response.json()) as { visits: number }
    return { visits, cookie: response.headers.get('set-cookie')?.split(';')[0] ?? cookie }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.killAll()
  }
}

async function beginSessions(service: Service): Promise<string[]> {
  const begun = await Promise.all(Array.from({ length: SESSIONS }, () => service.ask('POST')))
  return begun.map(({ cookie }) => cookie!)
}

test('a service whose workers are replaced one by one, without traffic, keeps every session', options, async () => {
  await using service = new Service(`rolling-${process.pid}`)
  for (let count = 0; count < WORKERS; count += 1) await service.start()
  const cookies = await beginSessions(service)
  for (const worker of service.workers) {
    await service.start()
    await service.retire(worker)
  }
  const after = await Promise.all(cookies.map((cookie) => service.ask('GET', cookie)))
  assert.deepEqual(
    after.map(({ visits }) => visits),
    cookies.map(() => 1),
  )
})

test(
  'while the primary holds the space, no session is lost when all workers are killed under traffic',
  options,
  async () => {
    await using space = await open(`held-${process.pid}`)
    await using service = new Service(space.name)
    for (let count = 0; count < WORKERS; count += 1) await service.start()
    const cookies = await beginSessions(service)
    const acknowledged = new Map(cookies.map((cookie) => [cookie, 1]))
    let killed = false
    const traffic = cookies.map(async (cookie) => {
      while (!killed)
        await service.ask('POST', cookie).then(
          ({ visits }) => acknowledged.set(cookie, visits),
          () => undefined,
        )
    })
    await new Promise((resolve) => setTimeout(resolve, 200))
    await service.killAll()
    killed = true
    for (let count = 0; count < WORKERS; count += 1) await service.start()
    await Promise.all(traffic)
    for (const cookie of cookies) {
      const { visits } = await service.ask('GET', cookie)
      const known = acknowledged.get(cookie)!
      // One that was cut off may have been done.
      assert.ok(visits === known || visits === known + 1, `${visits} visits, ${known} acknowledged`)
    }
  },
)
