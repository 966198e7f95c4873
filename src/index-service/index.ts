/** The door of this room for other rooms: data by identifier over several machines. */

export { IndexError, type IndexErrorKind } from './errors.ts'
export { slotOf } from './keys/slot.ts'
export { decodeTuple, encodeTuple, type KeyRange, prefixRange } from './keys/tuple-key.ts'
export type { TuplePart } from './keys/tuple-part.ts'
export type { WalkOptions } from './values/ordered-cursor.ts'
export { OrderedMap } from './values/ordered-map.ts'
export type { Comparison } from './values/search.ts'
