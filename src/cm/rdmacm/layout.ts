import { AetherError, EVENT_WORDS, EventWord, PARAMETER_WORDS, ParameterWord } from '../../native/index.ts'
import { eventTypes } from './event.ts'

/** What both sides of the addon must agree on, by the names that its `layout()` uses. */
function expected(): Map<string, number> {
  const numbers = new Map<string, number>([
    ['parameterWords', PARAMETER_WORDS],
    ['eventWords', EVENT_WORDS],
    ['type.connectRequest', eventTypes.indexOf('connect-request')],
    ['type.established', eventTypes.indexOf('established')],
    ['type.timewaitExit', eventTypes.indexOf('timewait-exit')],
  ])
  for (const [name, at] of Object.entries(ParameterWord)) numbers.set(`parameter.${name}`, at)
  for (const [name, at] of Object.entries(EventWord)) numbers.set(`event.${name}`, at)
  return numbers
}

/** Refuse an addon of another version at once: words read at the wrong place would be misread in silence. */
export function checkLayout(layout: Readonly<Record<string, number>>): void {
  for (const [name, value] of expected()) {
    if (layout[name] === value) continue
    throw new AetherError(
      'ERR_AETHER_NATIVE_MISMATCH',
      `the addon and this package are of different versions (${name} is ${layout[name]}, not ${value}); build it again: node native/build.mjs`,
    )
  }
}
