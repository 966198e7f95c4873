/**
 * Spaces: how processes of one user on one machine find each other, share an arena of memory, and learn who joined,
 * left and died. `dsm/` places regions in the arena; programs call its `open()`.
 *
 * ```ts
 * import { Membership } from './cluster/index.ts'
 *
 * await using membership = await Membership.enter('shop')
 * for await (const event of membership.events()) console.log(event.type, event.member.processId)
 * ```
 *
 * @module
 */
export { Arena, type ArenaIdentity, type RestoreReason } from './arena.ts'
export { CARD_BYTES_MAX } from './card.ts'
export { CollectedLines } from './collected-lines.ts'
export type { Entry } from './entry.ts'
export { SpaceError } from './errors.ts'
export * from './group/index.ts'
export { type HostSlots, isIndex, isRecord, parseHosts, RendezvousError, slotsOf, thisMachine } from './hosts/index.ts'
export {
  type FailurePolicy,
  type LaunchOptions,
  type LaunchResult,
  launch,
  type RankFailure,
} from './launcher.ts'
export { DIRECTORY_ENTRY_BYTES, DIRECTORY_OFFSET, EXTENTS_OFFSET, MEMBERS_MAX, REGIONS_MAX } from './layout.ts'
export { type Member, processInWords } from './member-table.ts'
export { type EventOptions, Membership, type MembershipPart } from './membership.ts'
export { OrphanGuard } from './orphan-guard.ts'
export { describeProcess } from './process-identity.ts'
export { reclaimSpace, reclaimSpaces } from './reclaim.ts'
export {
  ARENA_FILE,
  defaultDirectory,
  isMemoryDirectory,
  SAVE_FILE,
  syncDirectory,
  TORN_FILE,
} from './space-directory.ts'
export type { DiedEvent, JoinedEvent, LeftEvent, SpaceEvent } from './space-events.ts'
export type { LockOptions } from './space-lock.ts'
export { type EndedMember, type ObservedMember, runningSpaces, SpaceObserver } from './space-observer.ts'
export { spaceIn, UnusedDirectory } from './unused-directory.ts'
export { WatchRequest } from './watching.ts'
