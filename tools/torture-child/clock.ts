import process from 'node:process'

/** Microseconds of a clock that all processes of a machine share (CLOCK_MONOTONIC). */
export function nowUs(): number {
  return Number(process.hrtime.bigint()) / 1000
}

/** Milliseconds of it. */
export function nowMs(): number {
  return nowUs() / 1000
}
