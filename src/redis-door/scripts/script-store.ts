import { sha1Of } from './redis-library.ts'

/** Scripts that were only run, not loaded: the oldest ones are forgotten. */
const RUN_MAX = 500

/** Texts of scripts by their hash: those of this door. Clients send a script again to a door that does not know it. */
export class ScriptStore {
  readonly #loaded = new Map<string, Uint8Array>()
  readonly #run = new Map<string, Uint8Array>()

  get size(): number {
    return this.#loaded.size + this.#run.size
  }

  get(sha: string): Uint8Array | undefined {
    const lower = sha.toLowerCase()
    return this.#loaded.get(lower) ?? this.#run.get(lower)
  }

  /** The hash. */
  load(source: Uint8Array): string {
    const sha = sha1Of(source)
    this.#loaded.set(sha, Uint8Array.from(source))
    this.#run.delete(sha)
    return sha
  }

  /** The same for one that is run once, perhaps. */
  remember(source: Uint8Array): string {
    const sha = sha1Of(source)
    if (this.get(sha) !== undefined) return sha
    this.#run.set(sha, Uint8Array.from(source))
    if (this.#run.size > RUN_MAX) this.#run.delete(this.#run.keys().next().value!)
    return sha
  }

  flush(): void {
    this.#loaded.clear()
    this.#run.clear()
  }
}
