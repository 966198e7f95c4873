import process from 'node:process'
import { threadId } from 'node:worker_threads'
import { traceLevelName } from './trace-level.ts'
import type { TraceMessage } from './trace-message.ts'
import { traceValue } from './trace-value.ts'

/**
 * Format one event as one line:
 *
 *     5123.004512345 r2 4242.1 aether:dsm DEBUG fault region=hits page=7 access=write
 *
 * CLOCK_MONOTONIC in seconds, rank (`-` outside a group), process and thread, channel, level, type, fields. A value is
 * quoted as in JSON if it has characters other than those of names, numbers and addresses.
 */
export function traceLine(message: TraceMessage): string {
  const { channel, level, timeNs, rank, type } = message
  const who = rank === undefined ? '-' : `r${rank}`
  const head = `${seconds(timeNs)} ${who} ${process.pid}.${threadId} aether:${channel} ${traceLevelName(level)} ${type}`
  const fields = Object.entries(message.fields).filter(([, value]) => value !== undefined)
  return `${head}${fields.map(([name, value]) => ` ${name}=${quoted(traceValue(name, value))}`).join('')}\n`
}

function seconds(ns: number): string {
  const whole = Math.floor(ns / 1e9)
  return `${whole}.${String(ns - whole * 1e9).padStart(9, '0')}`
}

function quoted(value: number | string | boolean | null): string {
  const text = String(value)
  return /^[\w.:,/@[\]+-]+$/.test(text) ? text : JSON.stringify(text)
}
