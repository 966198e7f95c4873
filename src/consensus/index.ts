/** The door of this room for other rooms: replicated state machines. Users import `src/public/consensus.ts`. */
export { type ElectOptions, elect } from './election/elect.ts'
export { ElectedTerm } from './election/elected-term.ts'
export { type ElectedLeader, Election } from './election/election.ts'
export { ConsensusError, type ConsensusErrorKind, type ProposalOutcome } from './errors.ts'
export type { Change } from './machine/changes.ts'
export type { ApplyContext, ReplicatedMachine } from './machine/machine.ts'
export { machineCounters } from './machine-meter.ts'
export type { AcceptedEntry, Entry } from './replica/cell.ts'
export { type Configuration, foundingConfiguration } from './replica/configuration.ts'
export type { ReplicaCard } from './replica/connections.ts'
export type { FailOver } from './replica/fail-over.ts'
export type { Journal, Recovered, SnapshotHead } from './replica/journal.ts'
export { HeadWord } from './replica/layout.ts'
export { Replica } from './replica/replica.ts'
export type { ReplicaMemory } from './replica/replica-memory.ts'
export { defaultSettings, type ReplicaSettings } from './replica/settings.ts'
export { unpackWord } from './replica/slot-word.ts'
export { type ReplicateOptions, replicate } from './replicate.ts'
export {
  type Leadership,
  type ProposeOptions,
  type QueryOptions,
  Replicated,
  type ReplicatedStatus,
} from './replicated.ts'
