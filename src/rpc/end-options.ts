/** Checks of options that channels and servers have in common. */
import type { MessageLink } from '../messaging/index.ts'
import { checkFunction, checkWhole, mustBe, TIMER_MS_MAX } from '../native/index.ts'

/** It travels in a word of 32 bits. */
const STREAM_WINDOW_MAX = 2 ** 31

/** Check limits by name. `Infinity` is one, where nothing else is said. @throws ArgumentError. */
export function checkLimits(limits: object): void {
  for (const [name, value] of Object.entries(limits) as [string, unknown][]) {
    const argument = `options.${name}`
    if (name === 'streamWindow') checkWhole(argument, value, 1, STREAM_WINDOW_MAX)
    else if (typeof value !== 'number' || !(value >= 1)) throw mustBe(argument, 'a number of at least 1', value)
    else if (name === 'fenceMs' && value > TIMER_MS_MAX) throw mustBe(argument, `at most ${TIMER_MS_MAX} ms`, value)
  }
}

/** @throws ArgumentError. */
export function checkInterceptors(interceptors: unknown): void {
  if (interceptors === undefined) return
  if (!Array.isArray(interceptors)) throw mustBe('options.interceptors', 'an array of functions', interceptors)
  for (const [index, each] of interceptors.entries())
    checkFunction(`options.interceptors[${index}]`, each, 'that calls next')
}

/** `argument` is what the link is in the program's call. @throws ArgumentError. */
export function checkLink(argument: string, link: MessageLink): void {
  if (typeof link !== 'object' || typeof link?.reserve !== 'function')
    throw mustBe(argument, 'a link, as connectLink() returns and onLink gets', link)
}
