import { type Configuration, type Voter, withoutVoter, withVoters } from './configuration.ts'
import type { Connections } from './connections.ts'
import type { Proposer } from './proposer.ts'
import { NUMBERS } from './term.ts'

/** A voter of whose process nothing was heard for this number of ticks, since this replica leads, does not come. */
const ABSENT_TICKS = 400

interface VoterChangesParts {
  /** The replica that leads. */
  readonly id: number
  readonly connections: Connections
  /** As many voters as there should be. */
  readonly votersWanted: number
  /** Replicas have journals, and may come back. */
  readonly isDurable: boolean
  /** By how many entries one that is to vote may be behind. */
  readonly ahead: number
}

/** How a leader changes who votes: voters that have ended are replaced by those who follow, one at a time. */
export class VoterChanges {
  readonly #parts: VoterChangesParts
  /** Voters that this leader has not met: for how many ticks. */
  readonly #absentTicks = new Map<number, number>()

  constructor(parts: VoterChangesParts) {
    this.#parts = parts
  }

  /** A tick of a leader. */
  countAbsent({ voters }: Configuration): void {
    const { id: own, connections } = this.#parts
    for (const { id } of voters) {
      if (id === own || connections.get(id) !== undefined) this.#absentTicks.delete(id)
      else this.#absentTicks.set(id, (this.#absentTicks.get(id) ?? 0) + 1)
    }
  }

  /** It leads no more. */
  forgetAbsent(): void {
    this.#absentTicks.clear()
  }

  /** Change what there is to change. `last`: the last entry that is decided. */
  keep(leader: Proposer, configuration: Configuration, last: number): void {
    const { voters } = configuration
    const { connections, votersWanted, isDurable, ahead } = this.#parts
    if (!leader.isReady) return
    const isGone = ({ id }: Voter): boolean => connections.isDead(id) || connections.isLeaving(id) || this.#isAbsent(id)
    const isPatient = ({ id }: Voter): boolean => connections.waitsToLeave(id)
    const gone =
      voters.find((voter) => isGone(voter) && !isPatient(voter)) ??
      this.#surplus(voters) ??
      voters.find((voter) => voters.length > votersWanted && isPatient(voter))
    const living = voters.filter((voter) => !isGone(voter))
    // One that has ended may look as if it lived until its connection breaks. As a voter it would be missing.
    const learners = [...leader.acceptors.values()].filter(
      ({ id, isHeld, counted }) =>
        isHeld &&
        connections.isFresh(id) &&
        !connections.isLeaving(id) &&
        counted >= last - ahead &&
        !voters.some((voter) => voter.id === id),
    )
    // One that has ended counts as long as it votes. A replica that takes its place beside it may have ended, too, and
    // then two of four are left. What is on a disk may come back.
    const isLost = ({ id }: Voter): boolean => connections.isDead(id) || this.#isAbsent(id)
    const lost = !isDurable && voters.length > 2 ? voters.find(isLost) : undefined
    if (lost !== undefined) {
      leader.reconfigure(withoutVoter(configuration, lost.id))
      return
    }
    const missing = votersWanted - living.length
    // Two voters are worse than one: either may end it. So a founder waits until all are there.
    const isEnough = voters.length === 1 ? learners.length >= missing : learners.length > 0
    if (missing > 0 && isEnough) {
      const chosen = learners.slice(0, voters.length === 1 ? missing : 1)
      leader.reconfigure(
        withVoters(
          configuration,
          chosen.map(({ id }) => id),
          NUMBERS,
        ),
      )
    } else if (gone !== undefined && (!isDurable || voters.length > votersWanted))
      leader.reconfigure(withoutVoter(configuration, gone.id))
  }

  /** Its process ended before this one came, perhaps with all others, and its journal is lost. */
  #isAbsent(id: number): boolean {
    return (this.#absentTicks.get(id) ?? 0) > ABSENT_TICKS
  }

  /** Of those with journals, one that was replaced may have come back before it was removed. */
  #surplus(voters: readonly Voter[]): Voter | undefined {
    const { id: own, connections, votersWanted, isDurable } = this.#parts
    if (!isDurable || voters.length <= votersWanted) return undefined
    const others = voters.filter(({ id }) => id !== own)
    return others.findLast(({ id }) => !connections.isAlive(id)) ?? others.at(-1)
  }
}
