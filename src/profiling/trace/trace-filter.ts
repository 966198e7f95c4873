import type { TraceMessage } from './trace-message.ts'

/** Says whether an event is wanted. */
export type TraceFilter = (message: TraceMessage) => boolean

type Test = (value: string) => boolean

/**
 * Parse a filter: terms separated by commas, all of which must hold.
 *
 *     type=fault|granted,page=0..63,rank!=0
 *
 * A term is a field, `=` or `!=`, and alternatives separated by `|`. An alternative is a number or word, a word with
 * `*` for any characters, or a range `a..b` of numbers. Fields are those of the event, and `type`, `rank`, `channel`
 * (`dsm` or `aether:dsm`). An event without the field satisfies `!=` and not `=`. Returns undefined for other text.
 */
export function parseTraceFilter(text: string): TraceFilter | undefined {
  const terms: TraceFilter[] = []
  for (const term of text.split(',').map((each) => each.trim())) {
    if (term === '') continue
    const parts = /^(\w+)(!?=)(.+)$/.exec(term)
    if (parts === null) return undefined
    const [, field, operator, alternatives] = parts as unknown as [string, string, string, string]
    const tests = alternatives.split('|').map(testOf)
    const wanted = operator === '='
    terms.push((message) => {
      const value = fieldOf(message, field)
      if (value === undefined || value === null) return !wanted
      const names = field === 'channel' ? [message.channel, `aether:${message.channel}`] : [String(value)]
      return tests.some((test) => names.some(test)) === wanted
    })
  }
  return (message) => terms.every((term) => term(message))
}

function fieldOf(message: TraceMessage, field: string): unknown {
  if (field === 'type' || field === 'channel' || field === 'rank') return message[field]
  return message.fields[field]
}

function testOf(alternative: string): Test {
  const range = /^(\d+)\.\.(\d+)$/.exec(alternative)
  if (range !== null) {
    const [from, to] = [Number(range[1]), Number(range[2])]
    return (value) => value !== '' && Number(value) >= from && Number(value) <= to
  }
  if (!alternative.includes('*')) return (value) => value === alternative
  const pattern = alternative.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  const whole = new RegExp(`^${pattern.join('.*')}$`, 's')
  return (value) => whole.test(value)
}
