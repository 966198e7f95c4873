/**
 * Looking at a running space from outside: what {@link ObservedSpace} sees is what `aether top` and the page of `aether dashboard` show.
 *
 * @module
 */
export { ObservedSpace } from './observed-space.ts'
export type * from './wire.ts'
export { PageClass } from './wire.ts'
