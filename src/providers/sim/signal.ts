import { native } from '../../native/index.ts'

/**
 * Something to wait for: inside the simulation by a call, outside by a descriptor. The descriptor is created only if it
 * is read. Without one, nothing here needs the addon, so simulations run wherever Node does.
 */
export class Signal {
  readonly #waiters = new Set<() => void>()
  #pipe: readonly [number, number] | undefined
  #raised = false

  get raised(): boolean {
    return this.#raised
  }

  /** Readable while it is raised. */
  get descriptor(): number {
    if (this.#pipe === undefined) {
      this.#pipe = native.createPipe()
      if (this.#raised) native.ringPipe(this.#pipe[1])
    }
    return this.#pipe[0]
  }

  /** True if that is its descriptor. */
  isOn(descriptor: number): boolean {
    return this.#pipe?.[0] === descriptor
  }

  raise(): void {
    if (!this.#raised && this.#pipe !== undefined) native.ringPipe(this.#pipe[1])
    this.#raised = true
    if (this.#waiters.size > 0) for (const waiter of [...this.#waiters]) waiter()
  }

  /** Lower it. Returns true if it was raised. */
  take(): boolean {
    const { raised } = this
    this.#raised = false
    if (raised && this.#pipe !== undefined) native.drainPipe(this.#pipe[0])
    return raised
  }

  /** Call `ready` once when it is raised, or at once if it is. Returns a function that cancels it. */
  wait(ready: () => void): () => void {
    const once = (): void => {
      this.#waiters.delete(once)
      ready()
    }
    this.#waiters.add(once)
    if (this.#raised) once()
    return () => this.#waiters.delete(once)
  }

  close(): void {
    if (this.#pipe === undefined) return
    for (const end of this.#pipe) native.closeDescriptor(end)
    this.#pipe = undefined
  }
}
