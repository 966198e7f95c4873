/**
 * Observes a running space from outside. {@link ObservedSpace} reads what `aether top` and the page of
 * `aether dashboard` show. {@link SessionRecorder} records it, and {@link RecordedSession} opens a recording.
 *
 * @module
 */
export { FollowedSpace } from './followed-space.ts'
export { ObservedSpace } from './observed-space.ts'
export { DashboardServer } from './server/dashboard-server.ts'
export type { DashboardOptions, DashboardSource } from './server/routes.ts'
export { RecordedSession } from './session/recorded-session.ts'
export { SessionFileError } from './session/session-error.ts'
export { RECORD_BYTES_MIN, SessionRecorder } from './session/session-recorder.ts'
export { SpaceStructures } from './structures/space-structures.ts'
export type * from './wire.ts'
export { PageClass } from './wire.ts'
