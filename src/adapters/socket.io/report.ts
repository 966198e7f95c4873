import process from 'node:process'

/** What a warning is about: messages that this process was too slow for, or that others did not get; a session. */
export type WarningCode = 'AETHER_SOCKET_IO_MISSED' | 'AETHER_SOCKET_IO_NOT_SENT' | 'AETHER_SOCKET_IO_SESSION_LOST'

/** A worker that falls behind does so again and again. */
const PAUSE_MS = 10_000

const lastMs = new Map<WarningCode, number>()

/** Warn, at most every ten seconds with each code. */
export function warn(code: WarningCode, text: string): void {
  const nowMs = performance.now()
  if (nowMs - (lastMs.get(code) ?? Number.NEGATIVE_INFINITY) < PAUSE_MS) return
  lastMs.set(code, nowMs)
  process.emitWarning(text, { type: 'AetherWarning', code })
}
