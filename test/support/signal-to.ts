import { readFileSync } from 'node:fs'
import process from 'node:process'
import type { RankProcess } from './rank-process.ts'

/** To the program itself, which may run under others. */
export function signalTo(started: RankProcess, signal: 'SIGSTOP' | 'SIGCONT'): void {
  let processId = started.processId
  for (;;) {
    const [child] = readFileSync(`/proc/${processId}/task/${processId}/children`, 'utf8').trim().split(' ')
    if (child === undefined || child === '') break
    processId = Number(child)
  }
  process.kill(processId, signal)
}
