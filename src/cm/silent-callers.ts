/** A caller that does not say what it wants within this time is not listened to any longer. */
export const SILENCE_MS_MAX = 5000
/** Callers that have not said yet what they want, at a time. */
export const SILENT_CALLERS_MAX = 1024
