type PauseMode = 'all' | 'write'

/** CLIENT PAUSE: all commands, or those that write, wait until it is over. */
export class Pause {
  #waiting = 0
  #mode: PauseMode | undefined
  #endMs = 0
  #over: Promise<void> = Promise.resolve()
  #resolve: () => void = () => undefined
  #timer: NodeJS.Timeout | undefined

  get isOn(): boolean {
    return this.#mode !== undefined
  }

  /** How many clients wait for its end. */
  get waiting(): number {
    return this.#waiting
  }

  /** It only becomes longer, and stricter, than it was. */
  begin(timeoutMs: number, mode: PauseMode): void {
    const endMs = Date.now() + timeoutMs
    if (this.#mode === undefined) {
      this.#over = new Promise((resolve) => {
        this.#resolve = resolve
      })
      this.#endMs = 0
    }
    if (this.#mode !== 'all') this.#mode = mode
    this.#endMs = Math.max(this.#endMs, endMs)
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.end(), Math.min(this.#endMs - Date.now(), 2 ** 31 - 1)).unref()
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#mode = undefined
    this.#resolve()
  }

  /** Resolves when a command may go on; undefined if it may now. */
  of(isWrite: boolean): Promise<void> | undefined {
    if (this.#mode !== 'all' && !(this.#mode === 'write' && isWrite)) return undefined
    this.#waiting += 1
    return this.#over.finally(() => {
      this.#waiting -= 1
    })
  }
}
