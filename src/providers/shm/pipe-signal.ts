import { native } from '../../native/index.ts'
import type { DescriptorWatch } from '../descriptor-watch.ts'
import { ReadableWaiters } from '../readable-waiters.ts'

/** A pipe that is readable while there is something to take. */
export class PipeSignal {
  readonly descriptor: number
  /** Peers open it by number. */
  readonly writeEnd: number
  readonly #waiters: ReadableWaiters

  constructor(watch: DescriptorWatch) {
    const [readEnd, writeEnd] = native.createPipe()
    this.descriptor = readEnd
    this.writeEnd = writeEnd
    this.#waiters = new ReadableWaiters(watch, readEnd)
  }

  raise(): void {
    native.ringPipe(this.writeEnd)
  }

  /** Lower it. Returns true if it was raised. */
  take(): boolean {
    return native.drainPipe(this.descriptor) !== 0
  }

  /** Call `ready` once when it is raised. Returns a function that cancels it. */
  wait(ready: () => void, keepAlive: boolean): () => void {
    return this.#waiters.add(ready, keepAlive)
  }

  close(): void {
    this.#waiters.close()
    native.closeDescriptor(this.descriptor)
    native.closeDescriptor(this.writeEnd)
  }
}
