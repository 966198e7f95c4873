import { native } from '../native/index.ts'

/** Milliseconds of a clock that all processes of the machine share. */
export function nowMs(): number {
  return native.monotonicNs() / 1e6
}
