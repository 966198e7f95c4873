/**
 * The arena: the one memory object of a space. Everything that members share is in it, at fixed places:
 *
 * ```
 *  0x0000000   header            4 KiB   magic, version, nonce, the last epoch given out, how it ended last
 *                                        (arena.ts), until when a watcher is there (watching.ts)
 *  0x0010000   epochs           64 KiB   4096 entries of 16 B, a ring: how each of the last 4096 members ended
 *  0x0020000   member slots     64 KiB   256 slots of 256 B
 *  0x0030000   region directory 256 KiB  1024 entries of 256 B (its inside belongs to dsm/)
 *  0x0100000   cards             2 MiB   256 cards of two halves of 4 KiB
 *  0x0300000   waits             1 MiB   256 tables of 4 KiB (profiling/)
 *  0x0400000   profiling        32 MiB   256 areas of 128 KiB (profiling/)
 *  0x2400000   end of what every member maps
 *  0x4000000   extents of regions, to the end of the file
 * ```
 *
 * The file is sparse: a page takes memory when it is first touched. Claiming slots and changing the directory happen
 * under the lock of the rendezvous file. Every structure has a state word that is written last. So the next holder of
 * the lock can finish or undo the work of a process that was killed.
 */

/** The most members that a space has at a time. Each `open()` of a space counts as one. */
export const MEMBERS_MAX = 256
/** The most regions that a space has at a time. */
export const REGIONS_MAX = 1024

/** Reads 'AETH' in a dump of memory. */
export const ARENA_MAGIC = 0x48544541
/** Raised whenever anything in this layout changes. */
export const ARENA_VERSION = 4

export const HEADER_OFFSET = 0
export const EPOCHS_OFFSET = 0x10000
export const EPOCH_ENTRIES = 4096
export const EPOCH_ENTRY_BYTES = 16
export const SLOTS_OFFSET = 0x20000
export const SLOT_BYTES = 256
export const DIRECTORY_OFFSET = 0x30000
export const DIRECTORY_ENTRY_BYTES = 256
export const CARDS_OFFSET = 0x100000
export const CARD_HALF_BYTES = 4096
export const WAITS_OFFSET = 0x300000
export const PROFILING_OFFSET = 0x400000
/** Length of the part that every member maps. */
export const CONTROL_BYTES = 0x2400000
/** Where the first region may begin. */
export const EXTENTS_OFFSET = 0x4000000
