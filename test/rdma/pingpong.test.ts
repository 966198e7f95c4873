/** Each type of queue pair against rdma-core's programs; more of them in pingpong.long.test.ts. */
import { type Game, testGame } from './support/pingpong.ts'

const games: readonly Game[] = [
  { name: 'rc', type: 'rc', words: ['-n', '200'], checks: true },
  { name: 'uc', type: 'uc', words: ['-n', '200'], checks: true },
  { name: 'ud', type: 'ud', words: ['-n', '200', '-s', '1024'], checks: true },
  { name: 'srq, one queue pair', type: 'srq', words: ['-n', '200', '-q', '1'], checks: true },
]

for (const game of games) testGame(game)
