/**
 * State machines that several processes keep alike, and that outlive any minority of them.
 *
 * ```ts
 * import { join } from 'aether-dsm'
 * import { replicate } from 'aether-dsm/consensus'
 *
 * class Counter {
 *   value = 0
 *   apply({ add }: { add: number }) {
 *     this.value += add
 *     return this.value
 *   }
 *   snapshot() {
 *     return [Buffer.from(String(this.value))]
 *   }
 *   restore([chunk]: readonly Uint8Array[]) {
 *     this.value = Number(Buffer.from(chunk!))
 *   }
 * }
 * await using group = await join({ rank: 0, size: 1, rendezvous: 'local:counter' })
 * await using counter = await replicate(group, { name: 'counter', machine: () => new Counter() })
 * console.log(await counter.propose({ add: 5 })) // prints 5
 * console.log(await counter.query(({ value }) => value)) // prints 5
 * ```
 *
 * @module aether-dsm/consensus
 */
export {
  type AppendPolicy,
  type ApplyContext,
  type Change,
  ConsensusError,
  type ConsensusErrorKind,
  type ElectedLeader,
  ElectedTerm,
  Election,
  type ElectOptions,
  elect,
  type FailOver,
  type Leadership,
  type ProposalOutcome,
  type ProposeOptions,
  type QueryOptions,
  Replicated,
  type ReplicatedMachine,
  type ReplicatedStatus,
  type ReplicateOptions,
  replicate,
} from '../consensus/index.ts'
