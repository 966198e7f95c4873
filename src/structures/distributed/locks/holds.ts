import type { WaitDescription } from '../../../profiling/index.ts'
import { type ClaimOutcome, claimOn, type HolderWords, type Holding } from '../../claim.ts'
import type { HomeMemory } from '../heap/home-memory.ts'
import { CompareExchangeCommand } from '../memory/command.ts'
import type { GroupBell } from '../waiting/group-bell.ts'
import { DONE, endedHold, nextHold, rankOf } from './hold-word.ts'

/** What this rank has. It ends once. Closing the structures releases it. */
export interface GroupHold {
  /** If the home is lost there is nothing to release. */
  release(): Promise<void>
  /** No one has it after this. False if it was released before. @throws HomeLostError */
  finish(): Promise<boolean>
}

/** Words of a home that name which rank has something (hold-word.ts). */
export class GroupHolds implements HolderWords<bigint> {
  readonly #memory: HomeMemory
  readonly #bell: GroupBell
  /** The word when this rank looked last. */
  #seen = 0n

  /** `bell`: rings when a hold has ended. */
  constructor(memory: HomeMemory, bell: GroupBell) {
    this.#memory = memory
    this.#bell = bell
  }

  says(word: bigint): Holding {
    if (word === DONE) return 'done'
    return rankOf(word) === undefined ? 'no one' : 'someone'
  }

  isThere(word: bigint): boolean {
    const rank = rankOf(word)
    return rank !== undefined && this.#memory.group.isMember(rank)
  }

  next(word: bigint): bigint {
    return nextHold(word, this.#memory.group.rank)
  }

  /** Whether a claim to what is in this word could succeed. */
  isFree(seen: bigint): boolean {
    return claimOn(this, seen, true).word !== undefined
  }

  /** Claim the word at `offset`: a READ and a compare-and-swap. */
  async claim(offset: number): Promise<ClaimOutcome<bigint>> {
    this.#seen = await this.#memory.load64(offset)
    return await this.#memory.claim(offset, this, this.#seen)
  }

  /** The hold `own` of the word at `offset` has begun. */
  hold(offset: number, own: bigint): GroupHold {
    const { holds } = this.#memory
    let woken: Promise<void> | undefined
    const end = async (by: bigint): Promise<boolean> => {
      if (!holds.delete(release)) return false
      const waiting = this.#bell.read()
      await this.#memory.run([new CompareExchangeCommand(offset, own, by), waiting])
      woken = this.#bell.ring(waiting)
      return true
    }
    const release = async (): Promise<void> => {
      await end(endedHold(own)).catch(() => {})
      await woken
    }
    holds.add(release)
    return { release, finish: () => end(DONE) }
  }

  /** For the watchdog: the holder, by the word as it was seen last. */
  describe(object: string): WaitDescription {
    const rank = rankOf(this.#seen)
    const state = rank === undefined ? '' : `rank ${rank} has it`
    return { kind: 'structure', object, state, ranks: rank === undefined ? [] : [rank], processes: [] }
  }
}
