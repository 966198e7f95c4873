import type { MemoryAnswer, MemoryOperation } from '../model/memory.ts'
import type { Data } from '../model/process.ts'
import type { WorldEvent } from '../play/world.ts'

/** What times are counted in: delays in plays of the model, milliseconds where real processes played. */
export type TimeUnit = 'delays' | 'ms'

export const dataText = (data: Data): string => JSON.stringify(data).replaceAll('"', '').replaceAll(',', ', ')

export const shortened = (text: string, max: number): string =>
  text.length > max ? `${text.slice(0, max - 1)}…` : text

/** An operation, as of a process: `writes slots[0] = v0`. */
export function operationText(operation: MemoryOperation): string {
  switch (operation.do) {
    case 'write':
      return `writes ${operation.register.region}[${operation.register.index}] = ${dataText(operation.value)}`
    case 'claim':
      return `claims ${operation.register.region}[${operation.register.index}] for ${dataText(operation.value)}`
    case 'read': {
      const regions = new Set(operation.registers.map(({ region }) => region.replace(/\/.*/, '')))
      return `reads ${operation.registers.length} of ${[...regions].join(', ')}`
    }
    case 'permit':
      return `lets ${operation.writers.map((writer) => `P${writer}`).join(', ') || 'no one'} write ${operation.region}`
  }
}

function answerText({ ok, values }: MemoryAnswer): string {
  if (!ok) return 'refused'
  return values.length === 0 ? 'done' : values.map((value) => (value === null ? 'empty' : dataText(value))).join('; ')
}

/** A time in the words of its unit: `3 delays`, `0.25 ms`. */
export function timeText(at: number, unit: TimeUnit): string {
  if (unit === 'ms') return `${Number(at.toFixed(3))} ms`
  return at === 1 ? '1 delay' : `${Number(at.toFixed(2))} delays`
}

/** Longer than anything that one reads while pointing at it. */
const TITLE_MAX = 400

/** What happened, as what is shown where one points. */
export const eventTitle = (event: WorldEvent, unit: TimeUnit): string => shortened(eventText(event, unit), TITLE_MAX)

const numberText = (at: number): string => `${Number(at.toFixed(3))}`

/** What happened, in full, with when: a line of text. */
export function eventText(event: WorldEvent, unit: TimeUnit): string {
  const when =
    'sentAt' in event && event.sentAt !== event.at
      ? `from ${numberText(event.sentAt)} to ${timeText(event.at, unit)}`
      : `at ${timeText(event.at, unit)}`
  switch (event.type) {
    case 'message':
      return `P${event.from} to P${event.to}: ${dataText(event.message)} (${when})`
    case 'loss':
      return `P${event.from} to P${event.to}: ${dataText(event.message)}: lost (${when})`
    case 'operation':
      return `P${event.process} ${operationText(event.operation)} at M${event.memory}${event.ok ? '' : ': refused'} (${when})`
    case 'answer':
      return `M${event.memory} answers P${event.process}${event.answer === undefined ? '' : `: ${answerText(event.answer)}`} (${when})`
    case 'decide':
      return `P${event.process} decides ${event.value} (${when})`
    case 'lead':
      return `P${event.process} takes P${event.leader} for the leader (${when})`
    case 'crash':
      return `${event.process === undefined ? `M${event.memory}` : `P${event.process}`} crashes (${when})`
  }
}

/** The same in a few words, to stand in a diagram where the lanes and the axis say the rest. */
export function eventLabel(event: WorldEvent): string {
  switch (event.type) {
    case 'message':
      return briefOf(event.message)
    case 'loss':
      return 'lost'
    case 'operation':
      return `${briefOperation(event.operation)}${event.ok ? '' : ': refused'}`
    case 'answer':
      return event.answer === undefined || event.answer.ok ? '' : 'refused'
    case 'decide':
      return `decides ${event.value}`
    case 'lead':
      return `leader: P${event.leader}`
    case 'crash':
      return 'crashes'
  }
}

function briefOperation(operation: MemoryOperation): string {
  switch (operation.do) {
    case 'write':
      return `${operation.register.region}[${operation.register.index}] = ${briefOf(operation.value)}`
    case 'claim':
      return `claim ${operation.register.region}[${operation.register.index}] ${briefOf(operation.value)}`
    case 'read':
      return operationText(operation).replace(/^reads/, 'read')
    case 'permit':
      return operation.writers.length === 0
        ? `${operation.region}: no writer`
        : `${operation.region}: ${operation.writers.map((writer) => `P${writer}`).join(', ')} writes`
  }
}

/** Names whose values say all. */
const SPEAKING = new Set(['say', 'notice', 'message'])

function briefOf(data: Data): string {
  if (typeof data !== 'object' || data === null) return dataText(data)
  // Pairs within a list, as a process and its value, stay together.
  if (Array.isArray(data))
    return data.map((each: Data) => (Array.isArray(each) ? each.map(briefOf).join(':') : briefOf(each))).join(' ')
  return Object.entries(data as Readonly<Record<string, Data>>)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => (SPEAKING.has(name) ? briefOf(value) : `${name} ${briefOf(value)}`))
    .join(' ')
}
