/**
 * The door of this room for other rooms: replicated state machines. Users import `src/public/consensus.ts`.
 *
 * What each part knows:
 *
 * - {@link ReplicaMemory}, `ReplicaLayout`: one acceptor, as registered memory, which its own program only reads.
 * - `AcceptorView`: what a proposer has stored at one acceptor, and the words that it predicts.
 * - `Proposer`: one term, with what is chosen, stored and decided. It never waits for a slow acceptor.
 * - {@link Replica}: links, counters, who is to lead, voters, snapshots. It has no clock and no randomness of its own.
 * - `Applier`: records, sessions, answers, the hash of what was applied. It has no I/O.
 * - `DurableState`, {@link Journal}: what of an acceptor's memory is on its disk. A leader counts that, and no more.
 * - `DiskLog`, `JournalThread`, `JournalPort`: the disk, with segments, snapshot and identity, in a thread of its own.
 * - `Meeting`, `VoterRecord`: how replicas find each other in a group, and who founds a log.
 *
 * Why it is so:
 *
 * - The program's thread applies entries, the replica's thread decides them. A program that takes nothing for a second
 *   makes its replica lead no more.
 * - No read relies on a lease. A candidate gets its promises by compare-and-swap in memory, and no program there can
 *   refuse. So a lease would hold only if every candidate waited it out. A leader's death, which is told at once, would
 *   then cost the length of the lease. A candidate that was stopped between its wait and its swap would still end a
 *   lease that was renewed meanwhile. `staleMs` spares most questions without that.
 * - Replicas compare their machines at every 256th entry (`StateChecks`). Voters and leader at that entry follow from
 *   the log, so all judge alike.
 * - With a journal, a process that comes back is the same replica. Its id is on its disk. Its slots are filled again
 *   with what it had accepted, so elections go on as if it had slept. There is no other way to recover: no merging of
 *   files, and no new log. Such a voter is removed only when another takes its place, since its disk still counts.
 * - Files are not written by the replica's thread. A sync takes milliseconds, and counters have to go on meanwhile. The
 *   program's thread is no place either: it may compute.
 */

export { Demand } from './agent/agent-contract.ts'
export { ByteRing } from './agent/byte-ring.ts'
export { createMachine as createReplicaMachine } from './agent/replica-agent.ts'
export {
  type ReplicaPort,
  ReplicaProcess,
  type ReplicaProcessOptions,
  type StartReplica,
} from './agent/replica-process.ts'
export { APPEND_POLICIES, type AppendPolicy } from './durability/append-policy.ts'
export { IDENTITY_FILE } from './durability/identity.ts'
export type { JournalPart, JournalReport, JournalStart } from './durability/journal-contract.ts'
export { checksumPayloads, contentsOf, sealRecords, segmentHead } from './durability/log-segment.ts'
export { type ElectOptions, elect } from './election/elect.ts'
export { ElectedTerm } from './election/elected-term.ts'
export { type ElectedLeader, Election } from './election/election.ts'
export { ConsensusError, type ConsensusErrorKind, type ProposalOutcome } from './errors.ts'
export type { Change } from './machine/changes.ts'
export { FIRST_FORMAT } from './machine/formats.ts'
export type { ApplyContext, ReplicatedMachine, StateParts } from './machine/machine.ts'
export { machineCounters } from './machine-meter.ts'
export { ReadIndex } from './read-index.ts'
export { type AcceptedEntry, type Entry, EntryFlag } from './replica/cell.ts'
export { type Configuration, decodeConfiguration, foundingConfiguration } from './replica/configuration.ts'
export type { ReplicaCard } from './replica/connections.ts'
export type { FailOver } from './replica/fail-over.ts'
export type { Journal, Recovered, SnapshotHead } from './replica/journal.ts'
export { HeadWord } from './replica/layout.ts'
export { Replica } from './replica/replica.ts'
export type { ReplicaMemory } from './replica/replica-memory.ts'
export { currentNsOf, defaultSettings, type ReplicaSettings } from './replica/settings.ts'
export { unpackWord } from './replica/slot-word.ts'
export { type VoterHead, VoterView } from './replica/voter-view.ts'
export type { ReplicaGroup } from './replica-group.ts'
export { checkAppend, type ReplicateOptions, replicate, replicateIn } from './replicate.ts'
export {
  type Leadership,
  type ProposeOptions,
  type QueryOptions,
  type ReadersOf,
  Replicated,
} from './replicated.ts'
export type { ReplicatedStatus } from './replicated-status.ts'
