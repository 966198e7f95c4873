/**
 * Sleeping on events, long messages, small packets and many queue pairs against rdma-core's programs, and what
 * pingpong.test.ts leaves out of the short games.
 */
import { type Game, testGame } from './support/pingpong.ts'
import { rc, srq, uc, ud } from './support/pingpong-games.ts'

const games: readonly Game[] = [
  { name: 'rc, sleeping on events', type: 'rc', words: ['-n', '100', '-e'], checks: true },
  { name: 'rc, 1 MiB', type: 'rc', words: ['-n', '8', '-s', '1048576', '-r', '8'], checks: true },
  { name: 'rc, packets of 256 bytes', type: 'rc', words: ['-n', '50', '-m', '256', '-s', '3000'], checks: true },
  { name: 'ud, sleeping on events', type: 'ud', words: ['-n', '100', '-s', '1024', '-e'], checks: true },
  { name: 'srq, 16 queue pairs', type: 'srq', words: ['-n', '400', '-q', '16'], checks: false },
]

for (const game of games) for (const caller of ['ours', 'theirs'] as const) testGame(game, caller)
testGame(rc, 'theirs')
for (const caller of ['ours', 'theirs'] as const) for (const game of [uc, ud]) testGame(game, caller)
testGame(srq, 'ours')
