/** Logs in directories of their own, and disks that fail. */
import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, mock } from 'node:test'
import { LogDirectory } from '../../../src/consensus/durability/log-directory.ts'
import { type LogContents, LogFile } from '../../../src/consensus/durability/log-file.ts'
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

export async function openLog(path: string, options: { segmentBytes?: number } = {}): Promise<OpenLog> {
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

type Call = 'write' | 'sync' | 'datasync' | 'truncate'

/** While `act` runs, calls of all files fail: the `from`th of them and those after it. */
export async function whileFailing<T>(call: Call, code: string, act: () => Promise<T>, from = 1): Promise<T> {
  const probe = await open(scratch, 'r')
  const prototype = Object.getPrototypeOf(probe) as FileHandle
  await probe.close()
  const original = prototype[call] as (...args: unknown[]) => Promise<unknown>
  let calls = 0
  const failing = mock.method(prototype, call, function (this: FileHandle, ...args: unknown[]) {
    calls += 1
    if (calls < from) return original.apply(this, args)
    return Promise.reject(Object.assign(new Error(`${code}: the disk, ${call}`), { code }))
  } as never)
  try {
    return await act()
  } finally {
    failing.mock.restore()
    assert.ok(calls >= from, `${call} was called`)
  }
}
