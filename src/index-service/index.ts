/** The door of this room for other rooms: data by identifier over several machines. */

export { IndexError } from './errors.ts'
export { slotOf } from './keys/slot.ts'
export { decodeTuple, encodeTuple, prefixRange } from './keys/tuple-key.ts'
export type { TuplePart } from './keys/tuple-part.ts'
export { OrderedMap } from './values/ordered-map.ts'
