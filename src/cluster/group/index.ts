/**
 * Groups: N ranks whose agents are connected with each other, with a barrier and a registry of what they share. Regions
 * are added in `dsm/`.
 */

export { assembleGroup } from './assemble-group.ts'
export { type BarrierOptions, checkBarrier, checkBarrierSync } from './barrier.ts'
export { BarrierMachine, type BarrierMachineOptions } from './barrier-machine.ts'
export { BarrierWord, newBarrierWords } from './barrier-words.ts'
export { JoinError, MemberEndedError, MissingMembersError, ranksInWords } from './errors.ts'
export { Group, type GroupEvent, type GroupParts } from './group.ts'
export type { GroupAgentData } from './group-agent-data.ts'
export {
  type GroupListener,
  GroupMachine,
  type GroupNote,
  type GroupPeer,
  type GroupStart,
  type LinksSaid,
} from './group-machine.ts'
export type { JoinOptions } from './group-options.ts'
export { AgentDoor } from './growth/agent-door.ts'
export {
  HeldLock,
  LOCK_NAME_BYTES_MAX,
  type LockMode,
  type LockOutcome,
  type LockRequest,
  Locks,
  LockTimeoutError,
} from './locks/index.ts'
export {
  type MembershipEffect,
  type MembershipEvent,
  MembershipMachine,
  type MembershipStatement,
  type MembershipView,
} from './membership-machine.ts'
export { decodeStatement, encodeStatement } from './membership-message.ts'
export { Mesh, type MeshMessage } from './mesh.ts'
export { MeshChannel } from './mesh-channel.ts'
export { MESSAGE_BYTES_MAX } from './mesh-limits.ts'
export { NoteBox } from './note-box.ts'
export { type PeerEnds, ProcessEnds } from './peer-ends.ts'
export { type ProgramsHost, provideRankPrograms, type RankMessage, type RankPrograms } from './rank-programs.ts'
export type { RegistryAnswer } from './region-registry.ts'
export type { ProfilingPlace } from './shown-places.ts'
export type {
  GroupWaits,
  OpenWait,
  RankWait,
  SubjectAnswers,
  WaitFinding,
  WaitingPart,
  WaitSubject,
} from './waits/index.ts'
