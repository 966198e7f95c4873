import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** Workers behind one port. A worker that ends is replaced. */
export class Crew {
  readonly #listening = new Map<number, Worker>()
  #wanted = true
  started = 0
  killed = 0

  /** Start `workers` workers with these arguments. Resolves with the address when all of them listen. */
  async start(workers: number, words: readonly string[]): Promise<string> {
    // Each worker accepts connections by itself. With round-robin, a connection that this process has handed to a
    // worker that died would hang.
    cluster.schedulingPolicy = cluster.SCHED_NONE
    cluster.setupPrimary({ exec: fileURLToPath(new URL('./server.js', import.meta.url)), args: [...words] })
    const addresses = Array.from({ length: workers }, () => this.#fork())
    const [address] = await Promise.all(addresses)
    return address!
  }

  get listening(): number {
    return this.#listening.size
  }

  /** Kill the worker with this process id. Returns false if it does not listen, or is the only one that does. */
  kill(processId: number): boolean {
    const worker = this.#listening.get(processId)
    if (worker === undefined || this.#listening.size < 2) return false
    this.#listening.delete(processId)
    this.killed += 1
    return worker.process.kill('SIGKILL')
  }

  /** End all workers and replace none of them. */
  async stop(): Promise<void> {
    this.#wanted = false
    const processes = Object.values(cluster.workers ?? {}).flatMap((worker) => worker?.process ?? [])
    await Promise.all(
      processes.map(async (each) => {
        if (each.exitCode !== null || each.signalCode !== null) return
        const ended = once(each, 'exit')
        each.kill('SIGKILL')
        await ended
      }),
    )
  }

  async #fork(): Promise<string> {
    this.started += 1
    const worker = cluster.fork()
    const processId = worker.process.pid!
    worker.once('exit', () => {
      this.#listening.delete(processId)
      if (this.#wanted) void this.#fork()
    })
    const [{ address, port }] = (await once(worker, 'listening')) as [{ address: string; port: number }]
    this.#listening.set(processId, worker)
    return `http://${address}:${port}`
  }
}
