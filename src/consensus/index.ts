/**
 * Replicated state machines: entries are decided in one order, and each replica applies them to a machine of its own.
 *
 * `machine/` is the program's side: what entries hold, how they are applied once, snapshots, and the log on a disk.
 */
export { ConsensusError, type ConsensusErrorKind, type ProposalOutcome } from './errors.ts'
export { Applier, type ApplierOptions, type Entry, type HashMark } from './machine/applier.ts'
export type { Change } from './machine/changes.ts'
export type { ApplyContext, ReplicatedMachine } from './machine/machine.ts'
export { answerOf, type Outcome } from './machine/outcome.ts'
export {
  COMMAND_HEAD_BYTES,
  type CommandName,
  FRAGMENT_HEAD_BYTES,
  RecordKind,
  RecordReader,
  RecordWriter,
} from './machine/records.ts'
export { restoreSnapshot, takeSnapshot } from './machine/snapshot.ts'
