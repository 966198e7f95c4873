/** The default window of both ends. */
export const STREAM_WINDOW = 32
export const KEEP_ALIVE_MS = 10_000
/** The default for an ordinary server that is busy. */
export const FENCE_MS = 1000
export const BODY_BYTES_MAX: number = 16 << 20
export const ASSEMBLY_BYTES_MAX: number = 64 << 20
