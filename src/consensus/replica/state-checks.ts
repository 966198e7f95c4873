import { type Configuration, majorityOf } from './configuration.ts'

/** Replicas compare what their machines came to at multiples of this index. */
export const CHECK_EVERY = 256
/** How many of these are kept, to be compared with a replica that is not as far. */
const CHECKS_KEPT = 64

/** One index. */
interface Check {
  /** The voters and the leader there; undefined until this replica is there. */
  held: { readonly configuration: Configuration; readonly leader: number | undefined } | undefined
  /** By replica: a hash of its outcomes. */
  readonly hashes: Map<number, number>
  /** For how many ticks no majority was alike. */
  doubtTicks: number
}

/** A check in one word, so that a READ sees all of it: its number, and the hash. */
export function packCheck(number: number, hash: number): bigint {
  return BigInt(number) * 2n ** 32n + BigInt(hash)
}

/**
 * Finds replicas whose machine is not deterministic. Each publishes the hash of its newest check, and all compare it
 * with their own at the same index. Hashes that differ once differ ever after, so it does not matter which are seen.
 *
 * What a majority of those who voted at that index has in common is right. If all of them are known and no majority is
 * alike, no one can tell who is right. Then, after a while, the state of the leader at that index counts. So one state
 * goes on, and not several. Voters and leader at an index follow from the log, so all replicas judge alike.
 */
export class StateChecks {
  /** Replicas that were found to deviate. */
  readonly deviating: Set<number> = new Set()
  readonly #patienceTicks: number
  readonly #checks = new Map<number, Check>()
  readonly #seen = new Map<number, bigint>()
  #isNew = false

  /** `patienceTicks`: how long the leader's state does not yet count. */
  constructor(patienceTicks: number) {
    this.#patienceTicks = patienceTicks
  }

  /** The entry of a check is decided. */
  decided(number: number, configuration: Configuration, leader: number | undefined): void {
    this.#get(number).held = { configuration, leader }
  }

  /** The newest check of a replica; 0 if it has none. */
  see(id: number, packed: bigint): void {
    if (packed === 0n || this.#seen.get(id) === packed) return
    this.#seen.set(id, packed)
    this.#get(Number(packed >> 32n)).hashes.set(id, Number(packed & 0xffff_ffffn))
    this.#isNew = true
  }

  /** Once a tick: the replicas that have newly been found to deviate. */
  judge(isAlive: (id: number) => boolean): readonly number[] {
    if (!this.#isNew) return []
    this.#isNew = false
    const found: number[] = []
    for (const check of this.#checks.values()) {
      const right = this.#rightHash(check, isAlive)
      for (const [id, hash] of right === undefined ? [] : check.hashes)
        if (hash !== right && !this.deviating.has(id)) {
          this.deviating.add(id)
          found.push(id)
        }
    }
    return found
  }

  #rightHash(check: Check, isAlive: (id: number) => boolean): number | undefined {
    const { held, hashes } = check
    if (held === undefined) return undefined
    const { configuration, leader } = held
    const counts = new Map<number, number>()
    let known = 0
    for (const { id } of configuration.voters) {
      const hash = hashes.get(id)
      if (hash === undefined) continue
      known += 1
      const count = (counts.get(hash) ?? 0) + 1
      if (count >= majorityOf(configuration)) return hash
      counts.set(hash, count)
    }
    if (known < configuration.voters.length || leader === undefined || !isAlive(leader)) return undefined
    check.doubtTicks += 1
    this.#isNew = true
    return check.doubtTicks > this.#patienceTicks ? hashes.get(leader) : undefined
  }

  #get(number: number): Check {
    let check = this.#checks.get(number)
    if (check === undefined) {
      check = { held: undefined, hashes: new Map(), doubtTicks: 0 }
      this.#checks.set(number, check)
      if (this.#checks.size > CHECKS_KEPT) this.#checks.delete(Math.min(...this.#checks.keys()))
    }
    return check
  }
}
