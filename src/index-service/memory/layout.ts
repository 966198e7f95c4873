/**
 * The memory of a shard's strings and hash fields. Its owner writes it; other processes map it and read.
 *
 * ```
 * chunks     16 MiB each, a memory object of its own
 *   segments   64 in a chunk, 256 KiB each: the header, buckets, records, or marks
 *     records    one behind the other, never changed once a slot names them
 *     buckets    4,096 in a segment
 * ```
 *
 * A place is a number of 8-byte units from the start of the first chunk on, so 32 bits address 32 GiB.
 *
 * ```
 * header, in words of 32 bits           bucket, 64 bytes             record, a multiple of 8 bytes
 *  0 magic                               0 version, odd while          0 hash of the key
 *  1 version of this layout                it is being changed         4 length of the key
 *  2 number of buckets                   4 place of the next bucket    8 length of the value
 *  3 how often a segment was used again    of the same chain, or 0    12 nothing
 *  4 number of chunks                    8 seven slots:               16 key, value
 *  5 seed of the hash                      hash, place (0: free)
 *  6 index of the last entry of the log
 *    that is applied, low and high half
 *  8 the owner's process
 *  9 how often spaces were swapped,
 *      twice; odd while it happens
 * 10 number of segments of marks
 * 11 what marks say
 * 12 place of the segment that counts uses,
 *      0 while none are counted
 * 13 two words by chance
 * 15 how often changes were made together, or
 *      all was emptied, twice; odd while it happens
 * 16 the space of each database
 * 32 places of the segments of marks
 * 1024 descriptors of the chunks, in the owner's process
 * 4096 places of the segments that hold buckets
 * ```
 *
 * What a reader in another process relies on:
 *
 * 1. A slot is published by its place, one aligned store of 32 bits, after the record is whole. A slot whose hash
 *    belongs to another record is harmless: the key is compared.
 * 2. A record is never changed. Its bytes are written over only when its segment is used again, and word 3 counts
 *    that before. So what was copied between two equal readings of word 3 is whole.
 * 3. A key that is not found may have moved meanwhile. It was absent if the bucket's version was even and the same
 *    before and after, and so was the number of buckets.
 * 4. A database's records lie in the space that its word says, as long as word 9 is even and stays the same. A space is
 *    a part of the key of a record: see `record-format.ts`.
 * 5. Segments of marks and counts hold nothing else and are never used again: readers write there, too. See
 *    `use-marks.ts` and `use-counts.ts`.
 * 6. Words 13 and 14 tell the table from others. Word 15 is even and the same before and after. So calls that are
 *    one change were not seen in between. Nor was an emptied table, before the next entry was applied to it.
 * 7. Segments move only while word 3 stays or grows: a place that a reader holds is within a chunk for ever.
 *
 * The bounded waste and the cleaning are those of log-structured memory (Rumble, Kejriwal and Ousterhout,
 * "Log-structured Memory for DRAM-based Storage", FAST 2014). The buckets grow one at a time by linear hashing
 * (Litwin, "Linear Hashing", VLDB 1980).
 */
export const LAYOUT_MAGIC = 0x41455849
export const LAYOUT_VERSION = 4

export const UNIT_BYTES = 8
export const CHUNK_BYTES: number = 16 * 2 ** 20
export const SEGMENT_BYTES: number = 256 * 2 ** 10
export const SEGMENTS_PER_CHUNK: number = CHUNK_BYTES / SEGMENT_BYTES
export const UNITS_PER_SEGMENT: number = SEGMENT_BYTES / UNIT_BYTES

/** `place >>> CHUNK_SHIFT` is the chunk, `place & UNIT_MASK` the unit in it. */
export const CHUNK_SHIFT = 21
export const UNIT_MASK: number = 2 ** CHUNK_SHIFT - 1

/** Words of 32 bits of the first chunk. */
export const HeaderWord = {
  Magic: 0,
  Version: 1,
  Buckets: 2,
  Reused: 3,
  Chunks: 4,
  Seed: 5,
  Applied: 6,
  Process: 8,
  Swaps: 9,
  MarkSegments: 10,
  MarkMode: 11,
  UseCounts: 12,
  Identity: 13,
  Together: 15,
  Spaces: 16,
  Marks: 32,
  Descriptors: 1024,
  BucketSegments: 4096,
} as const

/** What a reader has to know at least: everything before the places of segments of marks. */
export const HEADER_BYTES: number = HeaderWord.Marks * 4
/** Words of the {@link HeaderWord.Identity}. */
export const IDENTITY_WORDS = 2

/** Databases, each of which has a space. */
export const SPACES = 16
/** A power of two. Their places fit into the header. */
export const MARK_SEGMENTS_MAX = 512
export const CHUNKS_MAX: number = HeaderWord.BucketSegments - HeaderWord.Descriptors
export const BUCKET_SEGMENTS_MAX: number = SEGMENT_BYTES / 4 - HeaderWord.BucketSegments

export const BUCKET_BYTES = 64
export const SLOTS_PER_BUCKET = 7
export const BUCKETS_PER_SEGMENT: number = SEGMENT_BYTES / BUCKET_BYTES
/** Words of a bucket. A slot is two. */
export const BucketWord = { Version: 0, Next: 1, Slots: 2 } as const

export const RECORD_HEAD_BYTES = 16
/** Words of a record. */
export const RecordWord = { Hash: 0, KeyBytes: 1, ValueBytes: 2 } as const

/** The longest key and value of a record together, so that it fits into a chunk. */
export const RECORD_BYTES_MAX: number = CHUNK_BYTES / 2

/** What a record takes. */
export function recordBytes(keyBytes: number, valueBytes: number): number {
  return (RECORD_HEAD_BYTES + keyBytes + valueBytes + UNIT_BYTES - 1) & -UNIT_BYTES
}

/** A bucket is split when there are more keys than this for each. */
export const KEYS_PER_BUCKET = 5

/** What a record takes, with its part of a bucket. */
export function recordTakes(keyBytes: number, valueBytes: number): number {
  return recordBytes(keyBytes, valueBytes) + BUCKET_BYTES / KEYS_PER_BUCKET
}

/** The bucket of a hash among `buckets` buckets: linear hashing. */
export function bucketOf(hash: number, buckets: number): number {
  const half = 1 << (31 - Math.clz32(buckets))
  const bucket = (hash & (half * 2 - 1)) >>> 0
  return bucket < buckets ? bucket : hash & (half - 1)
}
