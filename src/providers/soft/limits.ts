/** What every device in software grants. In shm some are a part of the layout that processes share. */
export const MAX_KEYS = 16384
export const MAX_SEGMENTS = 32
export const MAX_REQUESTS: number = 1 << 16
export const MAX_COMPLETIONS: number = 1 << 22
export const MAX_INLINE_BYTES = 1024
/** A datagram is at most one packet of that many bytes. */
export const MAX_MTU = 4096
/** A message of 2^31 bytes is the longest that InfiniBand carries. */
export const MAX_MESSAGE_BYTES: number = 2 ** 31
/** READs and atomics at a time. */
export const MAX_READ_ATOMIC = 16
/** Groups that a queue pair may be attached to. */
export const MAX_MULTICAST_GROUPS = 1024
/** Memory that a device provides as its own. */
export const DEVICE_MEMORY_BYTES: number = 1 << 20
/** Plain objects of one process. The limit only tells a leak from a plan. */
export const MANY: number = 1 << 16
