/**
 * Looking at a running space from outside: what {@link ObservedSpace} sees is what `aether top` and the page of `aether dashboard` show.
 *
 * @module
 */
export { FollowedSpace } from './followed-space.ts'
export { ObservedSpace } from './observed-space.ts'
export { type DashboardOptions, DashboardServer, type DashboardSource } from './server/dashboard-server.ts'
export type * from './wire.ts'
export { PageClass } from './wire.ts'
