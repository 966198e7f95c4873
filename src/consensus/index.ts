/** The door of this room for other rooms: replicated state machines. Users import `src/public/consensus.ts`. */
export { type ElectOptions, elect } from './election/elect.ts'
export { ElectedTerm } from './election/elected-term.ts'
export { type ElectedLeader, Election } from './election/election.ts'
export { ConsensusError, type ConsensusErrorKind, type ProposalOutcome } from './errors.ts'
export { Applier, type ApplierOptions } from './machine/applier.ts'
export type { Change } from './machine/changes.ts'
export type { AnswerOf, AnyMachine, ApplyContext, CommandOf, ReplicatedMachine } from './machine/machine.ts'
export { RecordWriter } from './machine/records.ts'
export { restoreSnapshot, takeSnapshot } from './machine/snapshot.ts'
export { type Entry, EntryFlag } from './replica/cell.ts'
export { type Configuration, foundingConfiguration } from './replica/configuration.ts'
export { Replica, type ReplicaCard, type ReplicaEvents, type ReplicaOptions } from './replica/replica.ts'
export { defaultSettings, type ReplicaSettings } from './replica/settings.ts'
export { type ReplicateOptions, replicate } from './replicate.ts'
export {
  type Leadership,
  type ProposeOptions,
  type QueryOptions,
  Replicated,
  type ReplicatedStatus,
} from './replicated.ts'
