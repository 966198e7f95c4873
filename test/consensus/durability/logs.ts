/** Logs in directories of their own, and disks that fail. */
import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import fs, { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, mock } from 'node:test'
import { LogDirectory } from '../../../src/consensus/durability/log-directory.ts'
import { type LogContents, LogFile, type LogFileOptions } from '../../../src/consensus/durability/log-file.ts'
import type { AcceptedEntry } from '../../../src/consensus/replica/cell.ts'

export const scratch: string = mkdtempSync(join(tmpdir(), 'aether-log-'))
after(() => rmSync(scratch, { recursive: true }))

let made = 0
export function newDirectory(): string {
  const directory = join(scratch, `${++made}`)
  mkdirSync(directory)
  return directory
}

export function entry(index: number, text = `entry ${index}`, term = 1): AcceptedEntry {
  const payload = Buffer.from(text)
  return { index, term, timeMs: index * 1.5, flags: index % 4, acceptedIn: term + 1, decided: index - 1, payload }
}

/** A log, and the directory that is closed with it. */
export interface OpenLog extends LogContents {
  readonly log: LogFile
  readonly directory: LogDirectory
  close(): Promise<void>
}

export async function openLog(path: string, options: LogFileOptions = {}): Promise<OpenLog> {
  const directory = await LogDirectory.open(path)
  const opened = await LogFile.open(directory, options).catch(async (error) => {
    await directory.close()
    throw error
  })
  const close = async () => {
    await opened.log.close()
    await directory.close()
  }
  return { ...opened, directory, close }
}

/** Entries in short, with all that they have. */
export function shown(...entries: readonly AcceptedEntry[]): string[] {
  return entries.map(({ payload, ...head }) => {
    const { index, term, timeMs, flags, acceptedIn, decided } = head
    return `${index} ${term} ${timeMs} ${flags} ${acceptedIn} ${decided} ${Buffer.from(payload)}`
  })
}

/** How often a log has synced a file, while `act` runs: `count` says it at any time. */
export async function countingSyncs<T>(act: (count: () => number) => Promise<T>): Promise<T> {
  const probe = await open(scratch, 'r')
  const aside = mock.method(Object.getPrototypeOf(probe) as { datasync: Function }, 'datasync')
  await probe.close()
  const now = mock.method(fs, 'fdatasyncSync')
  try {
    return await act(() => aside.mock.callCount() + now.mock.callCount())
  } finally {
    for (const { mock: counted } of [aside, now]) counted.restore()
  }
}

type Call = 'write' | 'sync' | 'datasync' | 'truncate'
type Function = (...args: unknown[]) => unknown

/** While `act` runs, calls of all files fail: the `from`th of them and those after it. */
export async function whileFailing<T>(call: Call, code: string, act: () => Promise<T>, from = 1): Promise<T> {
  const probe = await open(scratch, 'r')
  const handles = Object.getPrototypeOf(probe) as Record<Call, Function>
  await probe.close()
  let calls = 0
  const fail = (refuse: (error: Error) => unknown, original: Function) =>
    function (this: unknown, ...args: unknown[]) {
      calls += 1
      if (calls < from) return original.apply(this, args)
      return refuse(Object.assign(new Error(`${code}: the disk, ${call}`), { code }))
    }
  const failing = [
    mock.method(
      handles,
      call,
      fail((error) => Promise.reject(error), handles[call]),
    ),
  ]
  // What the log itself calls returns when it is done.
  const now = { write: 'writeSync', datasync: 'fdatasyncSync', sync: undefined, truncate: undefined }[call]
  if (now !== undefined) {
    const calls = fs as unknown as Record<string, Function>
    const refuse = (error: Error) => {
      throw error
    }
    failing.push(mock.method(calls, now, fail(refuse, calls[now]!)))
  }
  try {
    return await act()
  } finally {
    for (const { mock: failed } of failing) failed.restore()
    assert.ok(calls >= from, `${call} was called`)
  }
}
