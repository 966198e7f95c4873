/** One of the processes that `aether bench structures` measures: opens a store and does what it is told. */
import { whyOf } from '../ask-process.ts'
import { endWithParent } from '../ended-by-parent.ts'
import type { BenchStore, Meeting, RegionName, StoreName } from './bench-store.ts'
import { type FromWorker, keysOf, type ToWorker } from './job.ts'
import { keyName, Measurement } from './measurement.ts'
import { openStore } from './open-store.ts'

const [store, meeting, rank] = JSON.parse(process.argv[2]!) as [StoreName | RegionName, Meeting, number]
/** If it cannot be sent, the process that measures is gone. */
const answer = (message: FromWorker): void =>
  void process.send?.(message, undefined, undefined, (error) => {
    if (error !== null) process.exit()
  })

class Worker {
  readonly #store: BenchStore
  #measurement: Measurement | undefined

  constructor(opened: BenchStore) {
    this.#store = opened
  }

  async do(message: ToWorker): Promise<void> {
    if (message.kind === 'fill') await this.#fill(message.bytes)
    else if (message.kind === 'prepare') {
      this.#measurement = new Measurement(this.#store, message.job, rank + 1)
      await this.#measurement.prepare()
      answer({ kind: 'prepared' })
    } else if (message.kind === 'go') answer({ kind: 'measured', samples: (await this.#measurement?.run()) ?? [] })
    else {
      await this.#store.close()
      process.disconnect()
    }
  }

  async #fill(bytes: number): Promise<void> {
    await this.#store.clear()
    const { set } = this.#store.operations(new Uint8Array(bytes).fill(1))
    await Promise.all(Array.from({ length: keysOf(bytes) }, (_, key) => set(keyName(key))))
    answer({ kind: 'filled' })
  }
}

const failed = (error: unknown): void => answer({ kind: 'failed', why: whyOf(error) })

// Without the process that measures, there is no reason to go on.
endWithParent()
try {
  const worker = new Worker(await openStore(store, meeting, rank))
  process.on('message', (message: ToWorker) => void worker.do(message).catch(failed))
  answer({ kind: 'opened' })
} catch (error) {
  failed(error)
}
