import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { setupPrimary } from '@socket.io/cluster-adapter'
import { type AnyNode, type NodeOptions, type Place, SocketNode } from './socket-node.ts'

interface Reply {
  readonly order: number
  readonly value?: unknown
  readonly error?: string
}

let isSetUp = false
let spaces = 0
let orders = 0

export function newSpace(): string {
  spaces += 1
  return `socket.io-${process.pid}-${spaces}`
}

/** Nodes that reach each other through one space, all in this process or each in a worker of its own. */
export class SocketCluster implements AsyncDisposable {
  readonly nodes: readonly AnyNode[]
  readonly #workers: readonly Worker[]

  private constructor(nodes: readonly AnyNode[], workers: readonly Worker[]) {
    this.nodes = nodes
    this.#workers = workers
  }

  static async here(count: number, options?: NodeOptions, space: string = newSpace()): Promise<SocketCluster> {
    const nodes = Array.from({ length: count }, () => new SocketNode())
    await Promise.all(nodes.map((node) => node.open(space, options)))
    return new SocketCluster(nodes as unknown as AnyNode[], [])
  }

  static async inWorkers(count: number, options?: NodeOptions, space: string = newSpace()): Promise<SocketCluster> {
    const workers = await startWorkers(count)
    const nodes = workers.map((worker) => nodeIn(worker, 'ours'))
    await Promise.all(nodes.map((node) => node.open(space, options)))
    return new SocketCluster(nodes, workers)
  }

  /** The same workers once with this package's adapter, and once with one of Socket.IO's own. */
  static async both(
    count: number,
    place?: Exclude<Place, string>,
  ): Promise<{ ours: SocketCluster; theirs: SocketCluster } & AsyncDisposable> {
    const ours = await SocketCluster.inWorkers(count)
    const nodes = ours.#workers.map((worker) => nodeIn(worker, 'theirs'))
    await Promise.all(nodes.map((node) => node.open(place)))
    await Promise.all(nodes.map((node) => node.knows(count)))
    return { ours, theirs: new SocketCluster(nodes, []), [Symbol.asyncDispose]: () => ours[Symbol.asyncDispose]() }
  }

  signal(node: number, signal: NodeJS.Signals): void {
    this.#workers[node]!.process.kill(signal)
  }

  /** A worker that nothing keeps any more ends. Resolves with its exit code. */
  async ends(node: number): Promise<number> {
    const worker = this.#workers[node]!
    const ended = once(worker, 'exit')
    worker.disconnect()
    const [code] = (await ended) as [number]
    return code
  }

  async kill(node: number): Promise<void> {
    const worker = this.#workers[node]!
    const ended = once(worker, 'exit')
    worker.process.kill('SIGKILL')
    await ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#workers.length === 0) await Promise.all(this.nodes.map((node) => node.close()))
    await Promise.all(this.#workers.map((worker, at) => (worker.isDead() ? undefined : this.kill(at))))
  }
}

async function startWorkers(count: number): Promise<Worker[]> {
  if (!isSetUp) {
    cluster.setupPrimary({
      exec: fileURLToPath(new URL('./fixtures/socket-worker.js', import.meta.url)),
      serialization: 'advanced',
    })
    // Each worker has a port of its own.
    cluster.schedulingPolicy = cluster.SCHED_NONE
    setupPrimary()
    isSetUp = true
  }
  const workers = Array.from({ length: count }, () => cluster.fork())
  await Promise.all(workers.map((worker) => once(worker, 'message')))
  return workers
}

function nodeIn(worker: Worker, node: string): AnyNode {
  return new Proxy({} as AnyNode, {
    get: (_, method) => (typeof method === 'string' && method !== 'then' ? callOf(worker, node, method) : undefined),
  })
}

function callOf(worker: Worker, node: string, method: string): (...args: unknown[]) => Promise<unknown> {
  return (...args) =>
    new Promise((resolve, reject) => {
      orders += 1
      const order = orders
      const gone = () => reject(new Error(`the worker ended before it answered ${method}`))
      const listen = (reply: Reply) => {
        if (reply.order !== order) return
        worker.off('message', listen).off('exit', gone)
        if (reply.error === undefined) resolve(reply.value)
        else reject(new Error(reply.error))
      }
      worker.on('message', listen).on('exit', gone)
      worker.setMaxListeners(0)
      worker.send({ order, node, method, args })
    })
}
