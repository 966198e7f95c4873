/** The types of queue pairs, each with a short game. */
import type { Game } from './pingpong.ts'

export const rc: Game = { name: 'rc', type: 'rc', words: ['-n', '200'], checks: true }
export const uc: Game = { name: 'uc', type: 'uc', words: ['-n', '200'], checks: true }
export const ud: Game = { name: 'ud', type: 'ud', words: ['-n', '200', '-s', '1024'], checks: true }
export const srq: Game = { name: 'srq, one queue pair', type: 'srq', words: ['-n', '200', '-q', '1'], checks: true }
